"""What passes, filters that are brought, and sums over tiles of keys cost on lists of levels."""

from dataclasses import replace

import numpy as np
import pytest

import cost_models
from cost_models import (
    Accelerator,
    Chain,
    Moved,
    filter_load_cost,
    load_chip,
    pass_cost,
    rescaling_cost,
    with_wires,
)
from layers import Layer
from maestro_env import Problem

MODEL = cost_models.load("exact")
PORTS = {"read_bw": 32, "write_bw": 16}
HELD = {"double_buffer": False, "read_pj": 2.0, "write_pj": 3.0, "leakage_uw": 0.0}
LEVELS = [
    {"name": "DRAM", "read_bw": 8, "write_bw": 8, "read_pj": 50, "write_pj": 60},
    {"name": "Home", "bytes": 4096, **PORTS, **HELD,
     "fanout": {"axes": [2], "dims": "K", "network": {"pj_per_bit": 0.5}}},
    {"name": "Weights", "bytes": 64, "holds": ["filter"], **HELD,
     "fanout": {"axes": [2], "dims": "C", "network": {"pj_per_bit": 0.25}}},
    {"name": "Middle", "bytes": 64, "holds": ["input", "output"], **HELD},
    {"name": "Sums", "bytes": 16, "holds": ["output"], **HELD},
]  # fmt: skip

SCALED_NJ = 3 * (2 + 3) / 1000
"""An element of three bytes, read and written."""


@pytest.mark.parametrize("name", ["edge", "cloud"])
def test_a_chip_of_two_levels_costs_what_its_list_does(name: str) -> None:
    chip = load_chip(name)
    wide = replace(chip, widths=chip.widths._replace(psum=24, filter=4))
    for one in (chip, with_wires(chip), wide):
        assert isinstance(one, Accelerator)
        levels = one.to_levels()
        for moved in (Moved(100, 50, 30, 20), Moved(l2_read=7), Moved(dram_written=9)):
            assert pass_cost(MODEL, levels, moved) == pytest.approx(pass_cost(MODEL, one, moved))
        assert filter_load_cost(MODEL, levels, {100: 2, 7: 1}) == pytest.approx(
            filter_load_cost(MODEL, one, {100: 2, 7: 1})
        )
        assert rescaling_cost(MODEL, levels, 100, 20) == pytest.approx(
            rescaling_cost(MODEL, one, 100, 20)
        )


@pytest.mark.parametrize("memories", [2, 3, 4])
def test_sums_that_a_layer_begins_with_cost_what_an_execution_reads_again(memories: int) -> None:
    """A product in two halves of its sums, whose second begins with what the first left."""
    fields = {"levels": LEVELS[: memories + 1], "bits": {"output": 8, "psum": 24}, "mac": {"pj": 1}}
    chip, model = Chain.from_dict(fields), cost_models.load("simulator", resident="output")
    whole, half = (Layer.gemm("", M=3, N=2, K=keys) for keys in (8, 4))
    outputs = {"Home.tile_K": [2], "Home.tile_Y": [3]}  # each half runs over all of them
    if memories > 2:  # nor does a memory inside keep all of them from one to the other
        outputs |= {"Middle.tile_K": [1], "Middle.tile_Y": [1]}
    space = {"only": {"Home.order": ["CKY"], "Home.tile_C": [4], **outputs}}
    problem = Problem(whole, chip, "energy", cost_models.load("exact"), space)
    looked = problem.look(problem.space.sample(200, 0))
    found = 0
    for row in np.flatnonzero(looked.feasible)[:20]:
        mapping = looked.mappings[int(row)]
        both, one = (model.evaluate(layer, chip, mapping) for layer in (whole, half))
        energy = rescaling_cost(MODEL, chip, 6, 0)[0] - 6 * SCALED_NJ
        assert both.energy_nj == pytest.approx(2 * one.energy_nj + energy, rel=1e-9)
        found += 1
    assert found > 2


def test_what_is_scaled_is_read_and_written_in_the_first_level_alone() -> None:
    chip = Chain.from_dict({"levels": LEVELS, "bits": {"output": 8, "psum": 24}})
    without, latency = rescaling_cost(MODEL, chip, 6, 0)
    more, longer = rescaling_cost(MODEL, chip, 6, 4)
    assert more - without == pytest.approx(4 * SCALED_NJ)
    assert (latency, longer) == (12 * 24 / 32, 15)  # 10 elements of 24 bits at 16 a cycle


def test_one_port_for_both_directions_is_shared_by_a_pass() -> None:
    dram, home, *_ = LEVELS
    shared = {"name": "DRAM", "read_bw": 8, "shared_bw": True}
    apart, both = (
        Chain.from_dict({"levels": [one, {**home, "fanout": None}]}) for one in (dram, shared)
    )
    moved = Moved(dram_read=5, dram_written=3)
    assert [pass_cost(MODEL, chip, moved)[0] for chip in (apart, both)] == [5, 8]
