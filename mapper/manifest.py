"""What a search result carries so that it can be made and checked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import layers
from marl_runs import plain

if TYPE_CHECKING:
    from mapper.found import Found

VERSION = 1
"""Version of the manifest's own form."""


def search_manifest(found: Found) -> dict[str, Any]:
    """Command, seed, versions, problem and result of one search, as plain values."""
    problem, run = found.problem, found.run
    best = problem.best_action
    manifest: dict[str, Any] = plain(
        {
            "manifest_version": VERSION,
            "command": found.made.command,
            "versions": found.made.versions,
            "git_revision": found.made.git_revision,
            "seed": run.seed,
            "budget": run.budget,
            "method": run.method,
            "method_options": found.config,
            "problem": {**problem.describe(), "layer_fields": layers.to_fields(problem.layer)},
            "samples": problem.samples,
            "interrupted": found.interrupted,
            "best_value": problem.best_value,
            "best_value_unit": problem.objective.unit,
            "best_action": None if best is None else best.tolist(),
            "improvements": [list(step) for step in problem.improvements],
        }
    )
    return manifest
