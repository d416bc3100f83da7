"""Experiments of a table, done in several processes."""

from __future__ import annotations

from collections.abc import Sequence

from marl_runs import Experiment, RunFailedError, Store, StoredRun, run_all


def finished(store: Store, experiments: Sequence[Experiment], workers: int = 1) -> list[StoredRun]:
    """Do what a store has not finished; rows of all.

    Raises:
        RunFailedError: Some failed.
        SystemExit: It was interrupted (130).
    """
    summary = run_all(experiments, store, workers=workers)
    if summary.failed:
        raise RunFailedError(str(summary.failed))
    if summary.interrupted or summary.stopped:
        raise SystemExit(130)
    return [store.runs(key=key)[0] for key in summary.keys]
