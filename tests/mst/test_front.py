"""The front of quality against operations: what its arms are, and what its table says."""

import pytest

pytest.importorskip("torch", reason="extra `mst` is not installed")

from benchmarks.frame import DATA, known
from benchmarks.mst import front
from mst.arms import counted_ratio
from mst.flops import schedule_of


@pytest.mark.parametrize("arm", front.SCHEDULES)
def test_a_schedule_ends_dense_at_the_operations_that_it_is_named_for(arm):
    config, tokens = front.planned("short", arm, 4e-3, 0.5, "cpu")
    schedule = schedule_of(config, config.updates(tokens))
    sparsity, ends, *_ = arm.split()
    begin, end = map(float, ends.split("-"))
    updates = {span.density: 0 for span in schedule.spans()}
    for span in schedule.spans():
        updates[span.density] += span.updates
    total = config.updates(tokens)
    assert updates[1 - float(sparsity[1:])] >= (begin - 0.03) * total
    assert updates[1.0] >= (1 - end) * total
    assert schedule.moments()[-1].density == 1.0
    assert counted_ratio(config, tokens) > 1.8


def test_rates_and_means_are_those_of_the_runs_that_are_kept():
    runs = known(DATA / "mst-front-runs.csv")
    best = front.chosen(runs)
    for row in (row for row in runs if row["stage"] == "short"):
        assert (float(row["learning rate"]), float(row["by density"])) == best[row["arm"]]
    means = [{name: str(cell) for name, cell in row.items()} for row in front.means(runs)]
    assert means == known(DATA / "mst-front.csv"), "run python -m benchmarks mst.front --summary"
