"""What a search result carries so that it can be made and checked again."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import layers
from runs import made_with

if TYPE_CHECKING:
    from baselines import Searcher
    from maestro_env import Problem
    from mapper.search import Outcome

VERSION = 1
"""Version of the manifest's own form."""


def search_manifest(
    problem: Problem, searcher: Searcher, budget: int, seed: int, outcome: Outcome
) -> dict[str, Any]:
    """Command, seed, versions, problem and result of one search, as plain values."""
    made = made_with()
    best = problem.best_action
    return {
        "manifest_version": VERSION,
        "command": made.command,
        "versions": made.versions,
        "git_revision": made.git_revision,
        "seed": seed,
        "budget": budget,
        "method": searcher.name,
        "method_options": asdict(searcher.config),
        "problem": {**problem.describe(), "layer_fields": layers.to_fields(problem.layer)},
        "samples": outcome.result.samples,
        "interrupted": outcome.interrupted,
        "best_value": outcome.result.best_value,
        "best_value_unit": problem.objective.unit,
        "best_action": None if best is None else best.tolist(),
        "improvements": [list(step) for step in outcome.result.improvements],
    }
