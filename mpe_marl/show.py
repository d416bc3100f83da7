"""Tables of training, profiles and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marl_runs import Column, print_rows, untrained

Rows = Sequence[Mapping[str, Any]]


def print_training(rows: Rows) -> None:
    """Print one row per run, and below which share of its time each phase took.

    Args:
        rows: ``run``, ``name``, ``status``, ``updates``, ``mean reward``, ``episodes/s``, and a
            phase's share in percent as ``<phase> %``; None where the run has no result.
    """
    run = Column.lasting("run")
    result = [
        run,
        Column.name("name"),
        Column("status", keep=9),
        Column("updates", unit="", keep=6),
        Column("mean reward", unit="", keep=8),
        Column("episodes/s", unit="", keep=7),
    ]
    print_rows("Training", rows, untrained(rows, "raise --episodes, or lower --warmup"), result)
    phases = dict.fromkeys(key for row in rows for key in row if key.endswith(" %"))
    if phases:
        shares = [Column(key, _title(key.removesuffix(" %")), unit="") for key in phases]
        print_rows("\nShare of the time [%]", rows, "", [run, *shares], below=True)


def print_evaluation(rows: Rows) -> None:
    """Print one row a team, as :meth:`mpe_marl.evaluating.PlayedEpisodes.rows` gives them."""
    columns = [
        Column.name("team"),
        Column("agents"),
        Column("episodes"),
        Column.lasting("mean_return", "mean return"),
        Column.lasting("interval", "+- (95 %)"),
    ]
    print_rows("Return of an agent an episode", rows, "", columns)


def print_comparison(rows: Rows) -> None:
    """Print one row per variant and size, of :func:`mpe_marl.comparing.against_first`."""
    columns = [
        Column.name("variant"),
        Column.lasting("n_agents", "agents"),
        Column("algorithm", keep=1),
        Column("sample_ms", "sampling", "ms", keep=9),
        Column("cycle_ms", "cycle", "ms", keep=8),
        Column("sample_cut_percent", "sampling cut [%]", "", keep=3),
        Column("cycle_cut_percent", "cycle cut [%]", "", keep=2),
        Column("sample_times", "sampling, times faster", "", keep=7),
        Column("cycle_times", "cycle, times faster", "", keep=6),
    ]
    print_rows("Against the first variant", rows, "", columns)


def print_profiles(profiles: Rows) -> None:
    """Print where the time of a cycle goes, and how fast sampling is.

    Args:
        profiles: As :meth:`mpe_marl.profiling.Profile.plain` gives them.
    """
    head = Column.lasting("who", "algorithm, agents")
    profiles = [{**p, "who": f"{p['algorithm']}, {p['n_agents']}"} for p in profiles]
    how = [Column(key) for key in ("layout", "law", "mode")]
    phases = dict.fromkeys(key for p in profiles for key in p["phase_ms"])
    times = [Column(key, _title(key), "ms") for key in phases]
    rows = [{**p, **p["phase_ms"]} for p in profiles]
    print_rows("Time of a cycle by phase", rows, "", [head, *how, *times], below=True)
    counters = dict.fromkeys(key for p in profiles for key in p["counters"] if key != "source")
    rates = [
        Column("bytes", "replay", "B"),
        Column("gb_per_s", "GB/s", ""),
        Column("memcpy_gb_per_s", "memcpy GB/s", ""),
        Column("gflop_per_s", "GFLOP/s", ""),
        Column("peak_gflop_per_s", "peak GFLOP/s", ""),
        Column("source", "counters"),
        *(Column(key, _title(key), "") for key in counters),
    ]
    rows = [{**p, **p["counters"]} for p in profiles]
    print_rows("\nRates and counters of sampling", rows, "", [head, *rates], below=True)


def _title(key: str) -> str:
    return key.replace("_", " ")
