"""Exploration of designs: what options mean, fronts, and bounds of networks."""

from dataclasses import replace

import numpy as np
import pytest

import cost_models
import layers
from cost_models import CHAINS, Accelerator, Wires, load_chip, with_fields, with_wires
from cost_models.technology.parts import wires
from maestro_env import ChainSpace, MapSpace
from mapper.explore.design_figures import Design, FrontPoint, front_rows, objectives_of
from mapper.explore.design_ranges import AREA_UM2, POWER_MW, quantity_of, swept, values_of
from mapper.explore.design_run import Workload
from mapper.explore.design_space import DesignSpace, label_of
from mapper.explore.hints import end_lines, wires_line
from mapper.explore.mapping_pool import MappingPool, NetworkPoint
from mapper.explore.mapping_rows import batch_of, row_of, rows_of
from mapper.explore.network_hull import (
    LayerFloor,
    corners,
    least_product,
    pareto_rows,
    share_above,
)
from mapper.explore.nsga2_draw import draw_by_nsga2
from mapper.explore.ranking import overlaps, rank_text, ranks, unsettled


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("64..1024", (64, 128, 256, 512, 1024)),
        ("100..600", (128, 256, 512)),
        ("64..256:64", (64, 128, 192, 256)),
        ("16k,1M", (16384, 1 << 20)),
        ("8..16,10", (8, 10, 16)),
        ("1..100000:1,5", tuple(range(1, 100_001))),
    ],
)
def test_ranges(text, values):
    assert values_of("--pes", text) == values


def test_sweeps_of_any_field_quantities_and_objectives():
    for path, text, values in (
        ("levels.PEBuffer.bytes", "8k..64k", (8192, 16384, 32768, 65536)),
        ("levels.Glb.fanout.axes", "8x8,4x4", ("8x8", "4x4")),
        ("mac.pj", "0.25,0,1M", (0, 0.25, 1 << 20)),
    ):
        assert swept(f"{path}={text}") == (path, values)
    assert quantity_of("--max-area", "5mm²", AREA_UM2) == 5e6
    assert quantity_of("--max-power", "0.5 W", POWER_MW) == 500
    assert objectives_of("edp, area") == ("edp", "area")


def test_designs_are_all_combinations_and_draws_are_some_of_them():
    base = Accelerator.load("edge")
    space = DesignSpace(base, {"num_pes": (8, 16), "l1_bytes": (64, 128, 256)})
    chips = list(space.all())
    assert len(set(chips)) == space.size == 6
    assert chips[1].chip == replace(base, num_pes=8, l1_bytes=128)
    assert dict(chips[1].fields) == {"num_pes": 8, "l1_bytes": 128}
    drawn = space.draw(4, seed=3)
    assert drawn == space.draw(4, seed=3)
    assert [chip for chip in chips if chip in drawn] == drawn


def test_front_keeps_what_no_other_row_beats():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, (60, 3)).astype(float)
    values[5] = np.inf
    kept = front_rows(values)
    for row in range(60):
        no_worse = (values[kept] <= values[row]).all(axis=1)
        beaten = no_worse & (values[kept] < values[row]).any(axis=1)
        assert no_worse.any()
        assert not (row in kept and beaten.any())


def without_wires(chip):
    """A chip whose wires and ports cost nothing."""
    levels = [replace(level, network=Wires(), port_um2_per_bit=0.0) for level in chip.levels]
    return replace(chip, levels=tuple(levels))


def point(edp, least, area, design=None):
    """A point of a front whose design has one layer."""
    floor = LayerFloor(1.0, least, least)
    design = design or Design(Accelerator(8), {"noc_bw": 64, "num_pes": 8}, area, [floor])
    figures = {"latency": 1.0, "energy": edp, "edp": edp, "area": area, "power": edp}
    return FrontPoint(design, NetworkPoint(1.0, edp, ()), figures, edp / least - 1)


def test_points_that_bounds_leave_open_share_a_place():
    names, counts = ("edp", "area"), (1,)
    front = [point(10, 9, 5), point(12, 9.5, 4), point(20, 15, 3), point(30, 30, 2)]
    crossing = overlaps(front, names, counts)
    assert np.argwhere(crossing).tolist() == [[0, 1], [1, 0]]
    assert unsettled(front, names, counts) == [True, True, False, False]
    assert ranks(front, names, counts) == [(1, True), (1, True), (2, False), (3, False)]
    assert [rank_text(*place) for place in ranks(front, names, counts)] == ["~1", "~1", "2", "3"]
    chain = [point(10, 8, 5), point(12, 9, 4), point(14, 11, 3)]  # the first and last do not meet
    assert ranks(chain, names, counts) == [(1, True)] * 3
    same = front[0].design
    assert not overlaps([front[0], point(11, 9, 5, same)], names, counts).any()
    proven = [point(10, 10, 5), point(10.5, 9, 4)]
    assert unsettled(proven, names, counts) == [False, True]


def test_a_range_that_ends_too_soon_is_named():
    def design(noc, pes, axes="4x4"):
        return Design(Accelerator(pes), {"noc_bw": noc, "num_pes": pes, "a.axes": axes}, 1.0, [])

    swept = [design(noc, pes, axes) for noc in (16, 128) for pes in (8, 32) for axes in ("2", "4")]
    front = [design(128, 8), design(128, 32)] * 2
    assert end_lines(front, swept) == ["--noc: 4 of 4 front designs at 128, the largest; widen it"]
    front = [design(16, 8), design(128, 8)]
    assert end_lines(front, swept) == ["--pes: 2 of 2 front designs at 8, the smallest; widen it"]
    assert end_lines(front, front) == []


@pytest.mark.parametrize("name", ["edge", "simba", "docs/examples/three_levels.yaml"])
def test_wires_are_those_of_the_node_and_lead_to_memories(name):
    chip = load_chip(name)
    found = with_wires(without_wires(chip))
    network, port = wires(chip.node_nm or 45.0)
    assert network in [level.network for level in found.levels]
    assert {level.port_um2_per_bit for level in found.levels[1:]} <= {0.0, port}
    assert not any(found.levels[-1].network)  # what leads to MACs costs nothing
    assert with_wires(found) is found
    priced = with_fields(chip, ["levels.DRAM.port_um2_per_bit=3"])
    assert with_wires(priced) is priced
    assert "pJ/mm" in wires_line(found)


def test_designs_of_a_list_of_levels_are_named_by_what_is_swept():
    bytes_, axes = "levels.InputBuffer.bytes", "levels.GlobalBuffer.fanout.axes"
    space = DesignSpace(load_chip("simba"), {bytes_: (8192, 16384), axes: ("4x4", "2x8x1")})
    chip, fields = space.design(1)
    assert dict(fields) == {bytes_: 8192, axes: "2x8x1"}
    assert label_of(chip) == "InputBuffer.bytes 8 kB, GlobalBuffer.fanout.axes 2x8x1"
    assert [axis.units for axis in chip.levels[1].fanout.axes] == [2, 8, 1]
    assert space.design(2).chip == with_fields(space.base, [f"{bytes_}=16k", f"{axes}=4x4"])
    both = {"num_pes": (8, 16), "levels.L2.read_pj": (0.00001, 2)}
    chip, _ = DesignSpace(Accelerator.load("edge"), both).design(2)
    assert (chip.num_pes, chip.levels[1].read_pj) == (16, 0.00001)
    assert label_of(chip) == "num_pes 16, L2.read_pj 1e-05"


@pytest.mark.parametrize("name", sorted(CHAINS))
def test_rows_of_mappings_of_lists_of_levels(name):
    chip, layer = CHAINS[name], layers.parse("conv:K=16,C=8,Y=18,X=18,R=3,S=3")
    space = ChainSpace(layer, chip)
    batch = space.decode(space.sample(50, 0))
    rows = rows_of(batch, chip)
    again = batch_of(rows, chip)
    assert list(again) == list(batch)
    assert list(batch_of(row_of(again[7], layer, chip), chip)) == [again[7]]


def test_designs_of_one_kin_share_their_mappings():
    layer = layers.parse("conv:K=16,C=8,Y=18,X=18,R=3,S=3")
    small = load_chip("nvdla-cacc")
    big = with_fields(small, ["levels.CBUF.bytes=1M"])
    other = with_fields(small, ["levels.CACC.fanout.axes=16"])
    pool = MappingPool(Workload((layer,), (1,), "exact"))
    space = ChainSpace(layer, small)
    batch = space.decode(space.sample(400, 0))
    pool.add(small, 0, rows_of(batch, small))
    costs = cost_models.load("exact").evaluate_batch(layer, small, batch)
    (mine,), (theirs,) = pool.offers(small), pool.offers(big)
    assert mine.latency.min() == costs.latency_cycles.min()
    assert theirs.latency.min() <= mine.latency.min()
    assert pool.offers(other) is None


def brute(latencies, energies, counts):
    """All sums over choices of one mapping a layer."""
    sums = [
        np.stack([parts.ravel() for parts in np.meshgrid(*map(np.multiply, counts, of))])
        for of in (latencies, energies)
    ]
    return np.stack([one.sum(axis=0) for one in sums], axis=1)


def test_a_networks_best_product_and_its_bound_against_all_choices():
    rng = np.random.default_rng(1)
    for _ in range(20):
        latencies = [rng.uniform(1, 9, 5) for _ in range(4)]
        energies = [rng.uniform(1, 9, 5) for _ in range(4)]
        counts = [int(n) for n in rng.integers(1, 4, 4)]
        sums = brute(latencies, energies, counts)
        best = (sums[:, 0] * sums[:, 1]).min()
        found = corners(latencies, energies, counts)
        assert min(a * b for a, b, _ in found) == pytest.approx(best)
        for a, b, choice in found:
            picked = [v[i] for v, i in zip(latencies, choice, strict=True)]
            assert a == pytest.approx(np.dot(counts, picked))
            assert not ((sums < [a * (1 - 1e-9), b * (1 - 1e-9)]).all(axis=1)).any()
        floors = [
            LayerFloor(x.min(), e.min(), (x * e).min())
            for x, e in zip(latencies, energies, strict=True)
        ]
        assert least_product(floors, counts) <= best * (1 + 1e-12)
        assert least_product(floors, counts) > 0.5 * best
        # no sum is below a point of the front by more than its share in both
        a, b, _ = found[len(found) // 2]
        share = share_above(a, b, floors, counts)
        assert not ((sums < [a / (1 + share) * 0.999999, b / (1 + share)]).all(axis=1)).any()
    floors = [LayerFloor(2.0, 3.0, 6.0), LayerFloor(5.0, 1.0, 5.0)]  # one mapping is best in all
    assert least_product(floors, [1, 2]) == pytest.approx((2 + 10) * (3 + 2))


def test_pareto_rows_of_two():
    first, second = np.array([3.0, 1, 2, 1, np.inf]), np.array([1.0, 4, 2, 5, 0])
    assert pareto_rows(first, second).tolist() == [1, 2, 0]


@pytest.mark.parametrize("options", [{}, {"double_buffer": False, "energy": "maestro"}])
def test_counts_carry_over_to_chips_of_other_capacities(options):
    model = cost_models.load("exact", threads=1, **options)
    layer = layers.parse("conv:K=16,C=8,Y=18,X=18,R=3,S=3")
    chip = Accelerator(32, 1 << 20, 1 << 20, 8, 4)
    batch = MapSpace(layer, chip).decode(MapSpace(layer, chip).sample(300, 0))
    batch = batch_of(rows_of(batch, chip), chip)
    counted = model.evaluate_batch(layer, chip.unlimited_buffers(), batch)
    for l1, l2 in ((64, 2048), (300, 9000), (2000, 60_000)):
        one = replace(chip, l1_bytes=l1, l2_bytes=l2)
        own = model.evaluate_batch(layer, one, batch)
        energy = model.reprice(layer, one, counted)
        assert (energy == own.energy_nj).all()
        fits = np.isfinite(energy)
        assert 0 < fits.sum() < 300 or (l1, l2) != (300, 9000)
        assert (counted.latency_cycles[fits] == own.latency_cycles[fits]).all()
    wide = Accelerator.load("eyeriss")
    assert model.reprice(layer, wide, counted) is None


def test_nsga2_finds_the_better_half_and_repeats_itself():
    pytest.importorskip("optuna", reason="needs the extra bo")
    base = Accelerator.load("edge")
    space = DesignSpace(base, {"num_pes": tuple(range(1, 65)), "l1_bytes": tuple(range(64, 128))})

    def evaluate(chips):
        found = [chip for chip, _ in chips]
        return [((c.num_pes, abs(c.l1_bytes - 100)), float(c.num_pes > 50)) for c in found]

    drawn = draw_by_nsga2(space, 150, 0, 2, evaluate)
    assert len(set(drawn)) == 150
    assert drawn == draw_by_nsga2(space, 150, 0, 2, evaluate)
    late = [chip.num_pes for chip, _ in drawn[-50:]]
    assert np.mean(late) < np.mean([chip.num_pes for chip, _ in drawn[:50]])
