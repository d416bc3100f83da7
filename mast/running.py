"""Runs through the store, and their results as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runs import Experiment, Store, run_all


def run_rows(
    experiments: Sequence[Experiment], store: str, workers: int
) -> tuple[list[dict[str, Any]], bool]:
    """Do all runs that the store has not finished.

    Args:
        experiments: The runs.
        store: Where they are kept.
        workers: Runs at the same time.

    Returns:
        One row a run, and whether all of them finished.
    """
    with Store.open(store) as opened:
        summary = run_all(experiments, opened, workers=workers)
        rows = [run_row(opened.runs(key=key)[0]) for key in summary.keys]
    return rows, not (summary.failed or summary.interrupted)


def run_row(run: Any) -> dict[str, Any]:
    """What a table or file says of a stored run."""
    config = run.spec["config"]
    return {
        "run": run.id, "name": run.name, "status": str(run.standing), "seed": run.seed,
        "budget": run.budget, "cpu_s": run.cpu_s, "config": config, **(run.result or {}),
    }  # fmt: skip
