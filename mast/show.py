"""Tables of training, comparisons, costs and masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runs import Column, print_rows

Rows = Sequence[Mapping[str, Any]]


def print_training(rows: Rows) -> None:
    """Print one row per run."""
    columns = [
        Column.lasting("run"),
        Column.name("name"),
        Column("status", keep=9),
        Column("return", unit="", keep=10),
        Column("sparsity", keep=4),
        Column("train_flops", "training [FLOP]", unit="", keep=6),
        Column("cpu_s", "CPU", unit="s", keep=7),
        Column("q_gap", "Q gap [s.d.]", unit="", keep=3),
    ]
    print_rows("Training", rows, "", columns)
