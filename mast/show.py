"""Tables of training, comparisons, costs and masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marl_runs import Column, print_rows, untrained

Rows = Sequence[Mapping[str, Any]]


def print_comparison(rows: Rows, rival: str = "tiny+") -> None:
    """Print one row a task and arm, of :func:`mast.comparing.summary`, won against a rival."""
    algorithm = [Column("algorithm", keep=2)] if any("algorithm" in row for row in rows) else []
    columns = [
        Column("task", keep=11),
        *algorithm,
        Column.name("arm"),
        Column("seeds", keep=5),
        Column("return", unit="", keep=6),
        Column("score", "score (IQM)", unit="", keep=10),
        Column("low", "from", unit="", keep=9),
        Column("high", "to", unit="", keep=9),
        Column("wins", f"P(above {rival})", unit="", keep=8),
        Column("weights", keep=3),
        Column("train_times", "training FLOP, times fewer", unit="", keep=7),
        Column("inference_times", "acting, times fewer", unit="", keep=4),
        Column("executed_times", "executed, times fewer", unit="", keep=3),
        Column("cpu_s", "training CPU", unit="s", keep=6),
    ]
    print_rows("Score: 0 random play, 100 dense+", rows, "", columns)


def print_sweep(rows: Rows) -> None:
    """Print one row a configuration, of :func:`mast.sweeping.sweep_rows`."""
    columns = [
        Column("task", keep=11),
        Column("algorithm", keep=2),
        Column.name("arm"),
        Column("settings", keep=12),
        Column("seeds", keep=5),
        Column("return", unit="", keep=13),
        Column("lowest", unit="", keep=9),
        Column("highest", unit="", keep=9),
        Column("q_gap", "Q gap [s.d.]", unit="", keep=8),
        Column("weights", keep=3),
        Column("cpu_s", "training CPU", unit="s", keep=6),
    ]
    print_rows("Mean return over seeds", rows, "", columns)


def print_costs(rows: Rows) -> None:
    """Print one row a configuration, of :func:`mast.costs.cost_rows`."""
    columns = [
        Column("task", keep=2),
        Column.name("arm"),
        Column("weights", keep=8),
        Column("train_flops", "training [FLOP]", unit="", keep=7),
        Column("topology_flops", "of that topology", unit="", keep=3),
        Column("train_times", "times fewer", unit="", keep=10),
        Column("train_flops_executed", "executed [FLOP]", unit="", keep=5),
        Column("executed_times", "times fewer", unit="", keep=5),
        Column("outside_flops", "outside layers [FLOP]", unit="", keep=2),
        Column("inference_flops", "acting, a step [FLOP]", unit="", keep=6),
        Column("inference_times", "times fewer", unit="", keep=9),
    ]
    print_rows("Multiplications and additions, of the weights kept", rows, "", columns)


def print_masks(rows: Mapping[str, Rows]) -> None:
    """Print one row a layer, of :func:`mast.masks.layer_rows`, and how masks changed."""
    print_rows("Masks", rows["layers"])
    print_rows("\nChanges", rows["evolution"])


def print_sizes(rows: Rows) -> None:
    """Print the bytes of an export."""
    print_rows("Bytes, indices included", rows)


def print_play(rows: Rows) -> None:
    """Print what a team earns."""
    print_rows("Greedy episodes", rows)


def print_training(rows: Rows) -> None:
    """Print one row per run."""
    columns = [
        Column.lasting("run"),
        Column.name("name"),
        Column("status", keep=9),
        Column("updates", unit="", keep=5),
        Column("return", unit="", keep=10),
        Column("sparsity", keep=4),
        Column("train_flops", "training [FLOP]", unit="", keep=6),
        Column("cpu_s", "CPU", unit="s", keep=7),
        Column("q_gap", "Q gap [s.d.]", unit="", keep=3),
    ]
    print_rows("Training", rows, untrained(rows, "raise --steps, or lower batch"), columns)
