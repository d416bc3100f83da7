"""Counts of three tools that nobody here wrote, and of two brute-force walks, beside ours."""

from pathlib import Path

import pytest

from benchmarks.crosscheck import CYCLES, FIRST_UPDATE, MEANING, OF_THE_TOOL, compare
from benchmarks.dividing_mapping import INPUTS, Compared
from benchmarks.frame import known

ROWS = known(Path(__file__).parent / "data" / "crosscheck_sample.csv")
"""A sample of the whole table, with rows of every tool, metric and cause."""


@pytest.fixture(scope="module")
def compared() -> list[Compared]:
    return list(compare(ROWS))


def test_the_sample_has_every_tool_and_cause(compared: list[Compared]) -> None:
    assert {found.row["tool"] for found in compared} == set(MEANING)
    assert {found.cause for found in compared} >= set(OF_THE_TOOL) - {"follows dram_in"}
    assert len(compared) > 200


def test_filters_outputs_and_cycles_are_equal(compared: list[Compared]) -> None:
    metrics = {"macs", "compute_cycles", "dram_fil", "l2r_fil", "l1w_fil", "dram_out_w", "l2w_out"}
    rows = [found for found in compared if found.row["metric"] in metrics]
    assert {found.row["metric"] for found in rows} == metrics
    assert all(found.equal for found in rows)


def test_partial_sums_differ_by_one_convention_alone(compared: list[Compared]) -> None:
    rows = [found for found in compared if found.row["metric"] in ("dram_out_r", "l2r_psum")]
    different = [found for found in rows if not found.equal]
    assert {found.row["tool"] for found in different} == {"zigzag-words"}
    assert {found.cause for found in different} == {FIRST_UPDATE}


def test_every_input_difference_has_a_cause_that_lies_with_the_tool(compared):
    rows = [found for found in compared if found.row["metric"] in (*INPUTS, "l1_peak", "l2_peak")]
    assert any(not found.equal for found in rows)
    for found in rows:
        assert found.equal or found.cause, found


def test_retaining_equals_the_walk_that_keeps_what_it_holds() -> None:
    small = [row for row in ROWS if row["brute_retain"] and row["metric"] not in CYCLES]
    inputs = [row for row in small if row["metric"] in INPUTS and row["tool"] == "brute-retain"]
    assert len(inputs) > 5
    for found in compare(small, "retain"):
        if found.row["metric"] in INPUTS and found.row["tool"] == "brute-retain":
            assert found.ours == int(found.row["brute_retain"]), found
