"""DeFiNES' case of FSRCNN: counts of its tiles, prices of a part, and figures beside DeFiNES'."""

from collections.abc import Sequence

import pytest

import baselines
from benchmarks.frame import known
from benchmarks.fsrcnn import parts
from benchmarks.fsrcnn.command import KEPT, ORACLE, defines_row
from benchmarks.fsrcnn.homes import FusedCase, Rules
from benchmarks.fsrcnn.parts import LEVELS, Homes, part_chip, part_cost, priced
from benchmarks.fsrcnn.tiles import cost_by_tiles, kinds
from cost_models import load_chip
from layers import Layer
from layers.graph_builder import GraphBuilder
from maestro_env import Problem
from mapper.fusing.axis_plan import axis_plan
from mapper.fusing.fused_execution import differences
from mapper.fusing.fused_group import FusedGroup, FusedTiling, groups_of

COLUMNS = {
    True: ((4, 4, 4, 4, 4, 4, 4, 4, 4), (4, 8, 4, 6, 6, 6, 6, 4, 6)),
    False: ((18, 14, 14, 12, 10, 8, 6, 6, 4), (18, 18, 14, 14, 12, 10, 8, 6, 6)),
}
"""What each layer computes and reads for four columns, the copied input first: halos kept, and not.
Three taps read two columns more than they compute, five read four more."""


@pytest.mark.parametrize("keep", [True, False])
def test_a_tile_computes_and_reads_what_hand_says(keep: bool) -> None:
    columns = kinds(parts.fsrcnn().columns, 4, keep)
    assert sum(columns.values()) == 240
    often = max(columns, key=lambda one: columns[one])
    assert (often.outputs, often.reads) == COLUMNS[keep]


def little(taps: Sequence[int], rows: int, columns: int, **longest: int) -> FusedGroup:
    """The longest group of a chain of convolutions with few elements."""
    nodes = GraphBuilder()
    at = nodes.source("x", (1, 1, rows, columns))
    for number, size in enumerate(taps):
        at = nodes.mac(Layer(f"l{number}", "CONV", 1, 1, rows, columns, size, size), at)
        rows, columns = rows - size + 1, columns - size + 1
    return groups_of(nodes.graph(), load_chip("edge"), **longest)[0][-1]


@pytest.mark.parametrize("keep", KEPT.values(), ids=KEPT)
def test_nine_layers_compute_and_hold_what_their_execution_does(keep: tuple[bool, bool]) -> None:
    group = little((1, 5, 1, 3, 3, 3, 3, 1, 3), 21, 24, longest=9)
    assert len(group.layers) == 9
    assert len(little((1,) * 6, 9, 9).layers) == 4  # where no more is said
    for tile in ((1, 1), (2, 5), (7, 3), (7, 10)):
        plans = (
            axis_plan(axis, size, kept)
            for axis, size, kept in zip((group.rows, group.columns), tile, keep, strict=True)
        )
        assert not differences(group, FusedTiling(*plans, frozenset()))


def test_a_part_in_local_costs_what_hand_says() -> None:
    """Of 12 filters, 12 channels, 3 x 3 taps and 8 x 8 outputs, on 12 x 2 x 4 x 4 MACs."""
    layer = Layer("part", "CONV", 12, 12, 10, 10, 3, 3)
    found = part_cost(layer, Homes("Local", "Local"), (0, 0))
    macs = 12 * 12 * 9 * 64
    assert found.energy["MACs"] == pytest.approx(0.04 * macs)
    assert found.energy["Filters"] == pytest.approx(0.28875 * macs / 16)
    # an input for all filters, an output once; inputs are there and outputs stay
    assert found.energy["Local"] == pytest.approx(0.415 * macs / 12 + 0.48125 * 12 * 64)
    assert found.energy["DRAM"] == found.energy["Global"] == 0
    steps = macs / (12 * 2 * 4 * 4)
    assert steps <= found.cycles <= steps + 16  # and the first tiles, before it begins
    # what comes from and goes further out costs its way
    far = part_cost(layer, Homes("Global", "DRAM"), (4096, 4096))
    assert far.energy["DRAM"] == pytest.approx(93.75 * 12 * 64)
    assert far.energy["Global"] == pytest.approx(1.625625 * 1200 + (1.625625 + 1.478125) * 768)
    more = far.energy["Local"] - found.energy["Local"]
    assert more == pytest.approx(0.48125 * 1200 + 0.415 * 768)


@pytest.mark.parametrize("shape", [(12, 12, 3), (56, 1, 5), (12, 56, 1)])
def test_a_part_is_nearly_as_good_as_its_proof_says(shape: tuple[int, int, int]) -> None:
    filters, channels, taps = shape
    sizes = (filters, channels, 71 + taps, 59 + taps, taps, taps)
    layer, homes, room = Layer("", "CONV", *sizes), Homes("Global", "Global"), (65536, 0)
    chip = part_chip(layer, homes, room)
    proof = baselines.prove(Problem(layer, chip, "energy"), gap=0.01, boxes=3000)
    assert proof.mapping is not None
    best = priced(layer, chip, homes, proof.mapping)
    assert best is not None
    bound = best.total - 1e3 * (proof.value - proof.bound)
    assert bound <= part_cost(layer, homes, room).total <= 1.015 * bound


def test_a_tensor_has_room_or_there_is_none() -> None:
    """The first layer's 56 channels of all rows and columns are no megabyte."""
    assert FusedCase((540, 960), (True, True), Rules()).cost() is None
    case = FusedCase((540, 960), (True, True), Rules(LEVELS))
    assert case.homes == ("DRAM",) * 9


def oracle(halos: str, columns: int, rows: int) -> dict[str, float]:
    """What DeFiNES says, by five loops."""
    key = {"halos": halos, "columns": str(columns), "rows": str(rows), "loops": "5"}
    found = next(one for one in known(ORACLE) if key.items() <= one.items())
    return {name: float(value) for name, value in found.items() if name != "halos"}


@pytest.mark.parametrize("key", [("both", 4, 72), ("none", 60, 270), ("columns", 240, 72)])
def test_figures_are_within_a_fifth_of_defines(key: tuple[str, int, int]) -> None:
    halos, columns, rows = key
    said, found = oracle(*key), cost_by_tiles((rows, columns), KEPT[halos])
    assert found.total / 1e3 == pytest.approx(said["energy_nj"], rel=0.2)
    assert found.cycles == pytest.approx(said["cycles"], rel=0.2)


def test_what_defines_says_is_summed_by_level() -> None:
    energy = {"total": 9e3, "I_dram": 1e3, "W_dram": 2e3, "copy_dram": 3e3, "O_local": 500.0}
    assert defines_row({"energy_pj": energy, "cycles": 7, "cpu_s": 1.25}) == {
        "energy_nj": "9.0",
        "cycles": 7,
        "DRAM_nj": "6.0",
        "Global_nj": "0.0",
        "Local_nj": "0.5",
        "defines_s": "1.2",
    }


def test_tiles_of_one_pixel_lack_the_words_that_defines_moves() -> None:
    """Its memories move eight bytes where a tile of one pixel needs one, or two channels of it."""
    said = oracle("both", 1, 1)
    found = cost_by_tiles((1, 1), KEPT["both"]).energy
    pixels, inputs = 540 * 960, 554 * 974
    assert said["DRAM_nj"] - found["DRAM"] / 1e3 == pytest.approx(
        87.5e-3 * (8 * pixels - inputs), rel=0.01
    )
    more = 0.0
    for layer in parts.fsrcnn().layers[1:]:
        channels, filters = min(layer.C, 2), layer.K / -(-layer.K // 32)
        more += layer.macs / (filters * channels) * (8 - channels) * 0.415e-3
    assert said["Local_nj"] - found["Local"] / 1e3 == pytest.approx(more, rel=0.02)
