"""The MAESTRO model against the figures of the program it ports."""

from collections import Counter

import numpy as np

from benchmarks.frame import known
from cost_models import FIGURES, load
from cost_models.infeasible import ReasonCode
from cost_models.laws import MAESTRO_LAWS, physical_bounds
from tests.cost_models.maestro_reference import differences, printed, read_row, reference_path

ROWS = known(reference_path())
OK_ROWS = [row for row in ROWS if row["status"] == "ok"]


def test_every_figure_of_every_answered_row_is_the_program_s():
    model = load("maestro", guard=False)
    wrong = {}
    for row in OK_ROWS:
        layer, accelerator, dataflow = read_row(row)
        cost = model.evaluate(layer, accelerator, dataflow)
        assert cost.feasible, (row["id"], cost.infeasible)
        if found := differences(cost, row):
            wrong[row["id"]] = found
    assert not wrong


def test_the_comparison_covers_every_column_and_can_fail():
    row = OK_ROWS[0]
    cost = load("maestro", guard=False).evaluate(*read_row(row))
    columns = {column for column, _ in printed(cost)}
    inputs = set(list(row)[: list(row).index("status") + 1])
    assert columns == set(row) - inputs
    for column in columns:
        assert differences(cost, {**row, column: "12345.6"})


def test_rows_without_figures_get_a_typed_reason_or_a_figure():
    model = load("maestro", guard=False)
    seen = Counter()
    for row in ROWS:
        if row["status"] == "ok":
            continue
        layer, accelerator, dataflow = read_row(row)
        cost = model.evaluate(layer, accelerator, dataflow)
        if cost.feasible:
            assert "8+Sz(S)-1" in row["dataflow"]  # the program cannot read sums
            assert all(np.isfinite(getattr(cost, name)) for name in FIGURES)
            seen["figure"] += 1
            continue
        assert cost.infeasible.levers
        assert cost.latency_cycles == np.inf
        seen[row["status"], cost.infeasible.code] += 1
    assert seen["figure"] > 0
    assert seen["exit255", ReasonCode.REFUSED] > 0
    assert seen["crash", ReasonCode.PE_COUNT] > 0
    assert seen["crash", ReasonCode.DIES] > 0


def impossible(row: dict[str, str]) -> bool:
    """Whether the program's own figures break a law, worked out from the row alone."""
    k, c, y, x, r, s, stride = (int(row[d]) for d in ("K", "C", "Y", "X", "R", "S", "stride"))
    filters = 1 if row["type"] == "DSCONV" else k
    channels = c if row["type"] == "DSCONV" else k
    p, q = (y - r) // stride + 1, (x - s) // stride + 1
    rows = p * min(stride, r) + max(r - stride, 0)
    cols = q * min(stride, s) + max(s - stride, 0)
    macs = filters * c * p * q * r * s
    cycles, peak = int(row["Runtime (Cycles)"]), int(row["num_pes"]) * int(row["simd"])
    reads = int(row["input l2 read"]), int(row["filter l2 read"])
    return (
        int(row["Num MACs"]) < macs
        or cycles * peak < macs
        or cycles * int(row["noc_bw"]) < sum(reads)
        or reads[0] < c * rows * cols
        or reads[1] < filters * c * r * s
        or int(row["output l2 write"]) < channels * p * q
    )


def test_the_guard_refuses_exactly_the_impossible_rows():
    model = load("maestro")
    refused = 0
    for row in OK_ROWS:
        layer, accelerator, dataflow = read_row(row)
        cost = model.evaluate(layer, accelerator, dataflow)
        assert cost.feasible != impossible(row), row["id"]
        if not cost.feasible:
            refused += 1
            assert cost.infeasible.code >= ReasonCode.FEWER_MACS
            assert cost.infeasible.gap > 0
            assert cost.infeasible.levers
            continue
        bounds = physical_bounds(layer, accelerator, MAESTRO_LAWS)
        assert cost.latency_cycles >= bounds["latency_cycles"]
        assert cost.energy_nj >= bounds["energy_nj"] * (1 - 1e-12)
        assert cost.energy_total_nj >= bounds["energy_total_nj"] * (1 - 1e-12)
        assert cost.area_um2 >= bounds["area_um2"]
        assert cost.power_mw >= bounds["power_mw"]
    assert refused > 0
    if len(OK_ROWS) == 7340:
        assert refused == 1363
