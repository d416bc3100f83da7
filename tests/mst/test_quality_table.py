"""The table of arms: what an earlier report keeps, and controls of equal time."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.mst import table


def row(schedule, arm, rate, bits, above=None, dense_from=0.85):
    bpb = {f"bpb {split}": bits for split in ("files", "package")}
    against = {f"{split} above mst": above for split in ("files", "package")}
    halves = {f"{split} above mst +-": 0.01 for split in ("files", "package")}
    named = {"schedule": schedule, "arm": arm, "learning rate": rate, "law": "trapezoid"}
    named |= {"attention dense from": dense_from, "new weights": "local"}
    costs = {"counted flops": 6.0 if arm == "dense" else 2.0, "counted, times below dense": None}
    return {**named, **bpb, **against, **halves, **costs}


def test_rows_of_an_earlier_report_stay_and_new_ones_replace_their_own():
    kept = [row("short", "mst", "0.008", 2.5), row("long", "mst", "0.008", 1.8)]
    new = [row("middle", "mst", "0.008", 2.1), row("short", "mst", "0.008", 2.4)]
    assert table.together(kept, new) == [new[1], new[0], kept[1]]
    assert table.together(kept, [row("short", "tiny", "0.008", 2.6)])[0] == kept[0]
    earlier = row("long", "mst", "0.008", 1.7, dense_from=0.72)
    assert len(table.together(kept, [earlier])) == len(kept) + 1


def test_rows_that_stay_are_held_against_the_best_mst_by_their_means():
    kept = [row("short", "mst", "0.008", 2.5, 0.0), row("short", "dense", "0.004", 2.4, -0.1)]
    untouched = row("long", "dense", "0.004", 1.5, -0.3)
    new = [row("short", "mst", "0.004", 2.25, 0.0), row("short", "rigl", "0.016", 2.5, 0.25)]
    *short, last = table.together([*kept, untouched], new)
    found = {r["arm"] + r["learning rate"]: r for r in short}
    assert found["dense0.004"]["files above mst"] == pytest.approx(0.15)
    assert found["dense0.004"]["package above mst +-"] is None
    assert found["mst0.008"]["files above mst"] == pytest.approx(0.25)
    assert found["rigl0.016"] == new[1]
    assert found["rigl0.016"]["counted, times below dense"] == pytest.approx(3.0)
    assert last == untouched


def test_a_run_says_what_attention_and_new_weights_it_had():
    config = table.settings(table.SCHEDULES["short"], "cpu")
    found = {}
    for arm in ("mst", "rigl", "static", "dense"):
        chosen = table.arm_run(arm, config, 4_096_000).config
        run = SimpleNamespace(spec={"config": chosen.plain()})
        found[arm] = table._dense_from(run), table._new_weights(run)
    assert found == {
        "mst": (0.85, "local"), "rigl": (0.0, "local"), "static": (0.0, ""), "dense": (0.0, ""),
    }  # fmt: skip


def test_controls_of_equal_time_cost_more_than_those_of_equal_count():
    counted, timed = table.SCHEDULES["short"], table.SCHEDULES["short-time"]
    config = table.settings(counted, "cpu")
    corpus = (Path("nowhere"), "digest")
    sizes = {
        arm: [table.experiment(arm, config, s, 4e-3, 0, corpus) for s in (counted, timed)]
        for arm in ("dense-short", "tiny", "mst")
    }
    short, longer = sizes["dense-short"]
    assert short.budget < longer.budget == pytest.approx(counted.tokens / timed.times, rel=1e-3)
    small, larger = sizes["tiny"]
    assert small.config.shape.width <= larger.config.shape.width
    assert small.config.shape != larger.config.shape
    assert sizes["mst"][0] == sizes["mst"][1]


def test_arms_are_held_against_mst_at_its_best_rate():
    """By equal seeds: 1 and 2 are shared with one MST, none is with what it is not held against."""

    def curve(seed, bits):
        return SimpleNamespace(seed=seed, result={"bpb": {"files": bits, "package": bits + 1}})

    worse, best = [curve(1, 2.6), curve(2, 2.8)], [curve(1, 2.5), curve(2, 2.6)]
    assert min([worse, best], key=table._files) is best
    found = table._against([curve(1, 2.7), curve(2, 2.9), curve(3, 9.0)], best)
    assert found["files above mst"] == pytest.approx(0.25)
    assert found["package above mst"] == pytest.approx(0.25)
    assert table._against(best, best)["files above mst"] == 0.0
    assert table._against(best, [])["files above mst"] is None
