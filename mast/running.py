"""Runs through the store, and their results as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mast.arms import find_arm


def cells_of(
    tasks: Sequence[str], arms: Sequence[str], sparsities: Sequence[float], backend: str
) -> list[dict[str, Any]]:
    """Task, arm, parts left out, sparsity and backend of all that is compared.

    A dense arm has one sparsity, and nothing to compile. The reference comes first, if it is not
    named it is added. ``mast-sm`` is the arm ``mast`` without its part ``sm``.
    """
    found = []
    for task in tasks:
        for name in dict.fromkeys(("dense+", *arms)):
            arm, *left = name.strip().split("-")
            own = sparsities if find_arm(arm).uses_sparsity else sparsities[:1]
            found += [
                {"task": task, "arm": arm, "without": tuple(left), "sparsity": s,
                 "backend": backend_of(arm, backend)}
                for s in own
            ]  # fmt: skip
    return found


def backend_of(arm: str, backend: str) -> str:
    """The backend of an arm: a dense one has nothing to compile."""
    return backend if find_arm(arm).sparse else "masked"


def run_row(run: Any) -> dict[str, Any]:
    """What a table or file says of a stored run."""
    config = run.spec["config"]
    return {
        "run": run.id, "name": run.name, "status": str(run.standing), "seed": run.seed,
        "budget": run.budget, "cpu_s": run.cpu_s, "config": config, **(run.result or {}),
    }  # fmt: skip
