"""The front of quality against operations: what its arms are, and what its table says."""

import math

import pytest

pytest.importorskip("torch", reason="extra `mst` is not installed")

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
    assert schedule.last_density == 1.0
    assert counted_ratio(config, tokens) > 1.8


@pytest.mark.parametrize("part", front.PARTS)
def test_a_part_that_is_changed_is_all_that_differs(part):
    whole, _ = front.planned("search", "mst", 4e-3, 0.5, "cpu")
    power = front.PARTS[part].get("by_density", 0.5)
    changed, _ = front.planned("search", part, 4e-3, power, "cpu")
    kinds = ("sparse", "adam", "shape")
    differ = {
        name
        for kind in kinds
        for name, value in vars(getattr(changed, kind)).items()
        if value != getattr(getattr(whole, kind), name)
    }
    assert differ == set(front.PARTS[part])


def run(stage, arm, rate, seed, files, package=None, flops=1e12):
    return {
        "stage": stage, "arm": arm, "learning rate": str(rate), "by density": "0.0",
        "seed": str(seed), "files": str(files), "package": str(package or files + 1),
        "FLOPs": str(flops), "density": "1.00",
    }  # fmt: skip


def test_rates_are_chosen_by_the_package_and_not_by_what_is_reported():
    rows = [run("rates", "mst", 0.1, 100, 1.0, 5.0), run("rates", "mst", 0.2, 100, 2.0, 4.0)]
    assert front.chosen([*rows, run("short", "mst", 0.3, 1, 0.0, 0.0)]) == {"mst": (0.2, 0.0)}


def test_gaps_are_to_the_best_dense_rate_by_seeds_that_both_have():
    rows = [
        run("long", "dense", 0.1, 1, 2.0, flops=4e12),
        run("long", "dense", 0.1, 2, 2.2, flops=4e12),
        run("long", "dense", 0.2, 1, 9.0, flops=4e12),
        run("long", "mst", 0.1, 2, 2.5), run("long", "mst", 0.1, 3, 9.9),
    ]  # fmt: skip
    table = {(row["arm"], row["learning rate"]): row for row in front.means(rows)}
    assert table["mst", "0.1"]["above dense"] == "+0.300"
    assert table["mst", "0.1"]["±"] == ""
    assert table["mst", "0.1"]["times below dense"] == "4.00"
    assert table["dense", "0.1"]["above dense"] == "+0.000"
    assert math.isclose(float(table["mst", "0.1"]["files"]), 6.2)
