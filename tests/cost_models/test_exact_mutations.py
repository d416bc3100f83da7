"""The comparisons notice MAESTRO's mistakes: each is put into the kernel, and a test turns red."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import cost_models
from tests.cost_models import test_exact_model, test_exact_reference, test_exact_simulator
from tests.cost_models.kernel_source import Change, kernel_in_place


def reference() -> None:
    test_exact_reference.test_every_count_and_the_energy_equal_the_reference()


def simulator() -> None:
    options = test_exact_simulator.OPTIONS[0]
    test_exact_simulator.test_closed_form_equals_the_simulator(options)


def batch_equals_single() -> None:
    exact = cost_models.load("exact")
    test_exact_model.test_a_batch_equals_single_calls_on_tiny_layers(exact)


CHECKS: dict[str, Callable[[], None]] = {
    "reference": reference,
    "simulator": simulator,
    "batch": batch_equals_single,
}

RELOADS_MISSED: dict[str, list[Change]] = {
    # a loop the tensor is not coupled to advances: nothing is fetched, though inner loops wrap
    "counts": [
        ("            times *= dims[order[k], OUTER]\n", "            times *= 1\n"),
        ("once *= dims[e, STEPS]", "once *= dims[e, OUTER]"),
    ],
}
OUTPUTS_EVERY_STEP: dict[str, list[Change]] = {
    # written at every outer step, and partial sums never read back
    "counts": [
        (
            "elements = uncoupled_outer(outer_order, mask, last, dims)",
            "elements = uncoupled_outer(outer_order, mask, last if mask & 16 else 6, dims)",
        )
    ],
    "traffic": [
        ("row[DRAM_OUT_R] = row[DRAM_OUT_W] - unique", "row[DRAM_OUT_R] = 0"),
        ("row[L2R_PSUM] = row[L2W_OUT] - unique", "row[L2R_PSUM] = 0"),
    ],
}
STRIDE_FORGOTTEN: dict[str, list[Change]] = {
    # output rows as if the filter moved by one
    "kernel": [
        (
            "n = hw[HW_EXTENT + d]",
            "n = (hw[HW_EXTENT + d] - 1) * (hw[HW_STRIDE] if d in (Y, X) else 1) + 1",
        )
    ],
}
RAGGED_ROUNDED: dict[str, list[Change]] = {
    # the last spatial step over Y or X holds a whole tile in every cluster it reaches
    "dims": [
        ("full = span // tile", "full = -(-span // tile) if d in (2, 3) else span // tile"),
        ("span - full * tile", "max(span - full * tile, 0)"),
    ],
}
LARGE_TILE_SKIPPED: dict[str, list[Change]] = {
    # a tile above the output extent leaves an edge of no size, and its MACs are not counted
    "kernel": [
        (
            "    row[MACS] = macs\n",
            "    skipped = tiles[0, Y] > dims[Y, EXTENT] or tiles[0, X] > dims[X, EXTENT]\n"
            "    row[MACS] = 0 if skipped else macs\n",
        )
    ],
}


@pytest.mark.parametrize("check", CHECKS)
def test_the_kernel_as_plain_python_passes(check: str) -> None:
    with kernel_in_place({}):
        CHECKS[check]()


@pytest.mark.parametrize(
    ("changes", "checks"),
    [
        pytest.param(RELOADS_MISSED, ("reference", "simulator"), id="cause 2"),
        pytest.param(OUTPUTS_EVERY_STEP, ("reference", "simulator"), id="cause 3"),
        pytest.param(STRIDE_FORGOTTEN, ("reference", "simulator"), id="cause 6"),
        pytest.param(RAGGED_ROUNDED, ("reference", "simulator"), id="cause 7"),
        pytest.param(LARGE_TILE_SKIPPED, ("batch",), id="cause 8"),
    ],
)
def test_a_wrong_formula_turns_a_test_red(
    changes: dict[str, list[Change]], checks: tuple[str, ...]
) -> None:
    with kernel_in_place(changes):
        for check in checks:
            with pytest.raises(AssertionError):
                CHECKS[check]()
