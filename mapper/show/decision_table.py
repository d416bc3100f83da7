"""The decisions of trained agents, as a table."""

from __future__ import annotations

from dataclasses import asdict

from mapper.pretrained.explanation import Choice
from marl_runs import Column, print_rows


def print_decisions(title: str, choices: list[Choice], note: str) -> None:
    """Print one row per decision, in the order in which they were taken."""
    rows = [
        asdict(choice)
        | {
            "probability": f"{choice.probability:.1%}",
            "runner_up_probability": f"{choice.runner_up_probability:.1%}",
        }
        for choice in choices
    ]
    columns = [
        Column("agent", keep=1),
        Column("chosen", right=True),
        Column("probability", right=True),
        Column("runner_up", "runner-up", keep=3, right=True),
        Column("runner_up_probability", "its probability", keep=2, right=True),
        Column.name("decision"),
    ]
    print_rows(title, rows, note, columns)
