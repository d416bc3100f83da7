"""``mapper explore --bound``: the curve beside brute force, its files, and what is refused."""

import csv
from pathlib import Path

import numpy as np
import pytest

from cost_models import Accelerator
from layers import Layer
from mapper.commands.explore_bound import _graph
from mapper.explore.traffic_curve import OPTIONS, SPACE, bounding_chip, traffic_curve
from mapper.staying.shape_facts import ENERGY
from mapper.staying.stay_proof import StaySetting
from tests.mapper.commands import json_of, printed, said
from tests.mapper.network_brute import NetworkBrute, all_costs, prove_here
from tests.mapper.small_networks import CHAIN, Small, small_attention, small_chain

pytestmark = pytest.mark.usefixtures("quick_proofs")
INF = float("inf")


def small_layer(rng: np.random.Generator) -> str:
    if rng.random() < 0.3:
        rows, columns, deep = (int(n) for n in rng.integers(1, 5, 3))
        return f"gemm:M={rows},N={columns},K={deep},batch={int(rng.integers(1, 3))}"
    taps = int(rng.integers(1, 4))
    fields = {"K": rng.integers(1, 4), "C": rng.integers(1, 4), "Y": rng.integers(taps, 7), "X": 1,
              "R": taps, "S": 1, "stride": rng.integers(1, 3)}  # fmt: skip
    return "conv:" + ",".join(f"{name}={int(value)}" for name, value in fields.items())


@pytest.mark.parametrize("seed", range(5))
def test_no_mapping_of_any_chip_is_below_the_curve(seed: int) -> None:
    rng = np.random.default_rng([53, seed])
    graph = _graph(small_layer(rng))
    (layer,) = (one.renamed("") for one in graph.layers)
    bits = {"input": 8, "filter": int(rng.choice([4, 8])), "output": 8, "psum": 16}
    chip = Accelerator.from_dict({"num_pes": 1, "bits": bits})
    free = bounding_chip(chip, 10**6)
    whole = StaySetting(free, OPTIONS, {**SPACE, "tiles": "any"})
    best = all_costs(whole.problem(layer, frozenset(), INF, ENERGY))
    fields = free.to_dict()
    fields["levels"]["L1"]["bytes"] = int(rng.integers(8, 40))
    other = {**fields, "num_pes": int(rng.integers(1, 5)), "noc_bw": 2, "offchip_bw": 1}
    other.pop("l1_bytes")
    halo = str(rng.choice(["retain", "none"]))
    options = {"double_buffer": bool(rng.random() < 0.3), "halo_time": halo}
    space = {"tiles": "divisors", "filters": "free", "parallel": str(rng.choice(["K", "CY"]))}
    priced = StaySetting(Accelerator.from_dict(other), options, space)
    beside = all_costs(priced.problem(layer, frozenset(), INF, ENERGY))
    needs = np.unique(np.concatenate([best[:, 2], beside[:, 2]]))
    capacities = sorted({int(np.ceil(n)) for n in rng.choice(needs, min(4, len(needs)))})
    before = INF
    for point in traffic_curve(graph, chip, capacities, prove_here, 0.0):
        least = best[best[:, 2] <= point.capacity, 0]
        if not point.least:
            assert not len(least)
            continue
        found = point.least["none"]
        assert found.gap == 0
        assert found.value == pytest.approx(least.min(), rel=1e-9)
        assert found.dram == pytest.approx(found.value, rel=1e-9)  # sums that come back are wider
        fitting = beside[beside[:, 2] <= point.capacity, 0]
        assert found.bound <= fitting.min(initial=INF) * (1 + 1e-9)
        assert found.bound <= before
        before = found.bound


@pytest.mark.parametrize(("small", "seed"), [(small_chain, 2), (small_attention, 11)])
def test_the_curve_of_fused_layers_is_that_of_brute_force(small: Small, seed: int) -> None:
    graph, drawn = small(seed)
    capacity = int(drawn.two_levels.l2_bytes or 0)
    (point,) = traffic_curve(graph, drawn.chip, [capacity], prove_here, 0.0)
    setting = StaySetting(bounding_chip(drawn.chip, capacity), OPTIONS, SPACE)
    best = min(energy for energy, _ in NetworkBrute(graph, setting, fused=True).best())
    assert point.least["tiles"].value == pytest.approx(best, rel=1e-9)
    assert point.least["tiles"].value <= point.least["keep"].value <= point.least["none"].value


def test_the_curve_is_printed_and_written(folder: Path) -> None:
    small = CHAIN.replace("24", "8").replace("22", "6")
    (folder / "net.yaml").write_text(small, encoding="utf-8")
    words = "explore --network net.yaml --bound --l2 300,64k --workers 1"
    points = json_of(f"{words} --csv c.csv --plot c.svg")["points"]
    image, filters, result = 2 * 8 * 8, 24 + 108 + 24, 2 * 6 * 6
    assert points[-1]["tiles_bytes"] == image + filters + result
    bounds = [point["tiles_bound_bytes"] for point in points]
    assert bounds == sorted(bounds, reverse=True)
    rows = list(csv.DictReader((folder / "c.csv").open(encoding="utf-8")))
    assert [float(row["none_bytes"]) for row in rows] == [one["none_bytes"] for one in points]
    assert "<svg" in (folder / "c.svg").read_text(encoding="utf-8")
    out = " ".join(printed(words).split())
    assert "bytes over DRAM's boundary that nothing is below" in out
    code, _, err = said("explore --network net.yaml --bound --l2 1,2")
    assert (code, "a layer has no mapping in any of these capacities" in err) == (1, True)


def test_a_layer_is_a_network_of_its_own() -> None:
    layer = Layer("one", "CONV", 4, 3, 9, 9, 3, 3, stride=2, padding=(1, 1, 1, 1))
    graph = _graph("conv:K=4,C=3,Y=9,X=9,R=3,S=3,stride=2")
    assert [one.macs for one in graph.layers] == [layer.macs]
