"""What was tried before settings were chosen: every finished run of the stores.

python -m benchmarks mst.tried --store trials.db --json docs/data/mst-tried.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.frame import asked
from benchmarks.mst.pages import earlier_rows, keep_json
from marl_runs import RunStatus, Store, StoredRun
from mst.config import PretrainConfig
from mst.experiment import KIND
from mst.phases import Phase


def tried(run: StoredRun) -> dict[str, Any]:
    """Settings that differ between trials, and how the run ended."""
    config = PretrainConfig.of(run.spec["config"])
    result = run.result or {}
    return {
        "arm": run.spec["arm"],
        "seed": run.seed,
        "tokens": run.budget,
        "learning rate": config.adam.lr,
        "by density": config.adam.by_density,
        "rise": config.adam.warm_up,
        "law": config.adam.law,
        "phases": ", ".join(_said(phase) for phase in config.sparse.phases),
        "growth": config.sparse.growth if config.sparse.phases else "",
        "new weights": config.sparse.optimizer_state if config.sparse.phases else "",
        "windows judged": run.spec["windows"],
        "bpb files": result["bpb"]["files"],
        "counted flops": result["flops"],
    }


def _said(phase: Phase) -> str:
    law = f" {phase.law}" if phase.law != "linear" else ""
    attention = f" {phase.attention}" if phase.attention else ""
    return f"{phase.name} {phase.start:g}-{phase.end:g}{law}{attention}"


def main() -> None:
    given = asked(
        __doc__,
        store=[str],
        json=Path,
        record=(Path, "JSON of earlier trials: they come first"),
    )
    rows = earlier_rows(given.record)
    for location in given.store:
        with Store.open(location, create=False) as store:
            done = [r for r in store.runs(kind=KIND) if r.status is RunStatus.FINISHED]
            rows += [row for r in done if (row := tried(r)) not in rows]
    keep_json(given.json, rows)
    for row in rows:
        print(json.dumps(row))
