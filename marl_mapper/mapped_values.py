"""A mapped layer as JSON values, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from baselines import Counts, Proof, SearchResult
from cost_models import FIGURES, mapping_from
from maestro_env import Problem
from mapper import ProblemSpec
from marl_common import brief
from marl_mapper.options import LibraryError
from marl_runs import plain

FORMAT, VERSION = "marl-mapper.mapped", 1
SAME = 1e-9
"""Largest relative difference between a value and the same one on another machine."""


def to_values(problem: ProblemSpec, result: SearchResult) -> dict[str, Any]:
    """Problem, mapping, figures and proof of a mapped layer as JSON values."""
    action, proof = result.best_action, result.proof
    assert action is not None
    assert result.cost is not None
    values = {
        "format": FORMAT,
        "version": VERSION,
        "problem": problem.to_dict(),
        "mapping": result.mapping.to_dict(),
        "value": result.best_value,
        "bound": result.bound,
        "gap": result.gap,
        "figures": {name: getattr(result.cost, name) for name in FIGURES},
        "action": action.tolist(),
        "samples": result.samples,
        "improvements": [list(step) for step in result.improvements],
        "proven": result.proven,
        "proof": None
        if proof is None
        else {"status": proof.status, "seconds": proof.seconds, "counts": asdict(proof.counts)},
    }
    found: dict[str, Any] = plain(values)
    return found


def from_values(data: Mapping[str, Any]) -> tuple[ProblemSpec, SearchResult]:
    """Problem and result of :func:`to_values`; the cost model evaluates the mapping again.

    Raises:
        LibraryError: The values are of another kind or version, or the model gives the mapping
            another value now.
    """
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise LibraryError(f"got {brief(data)}, expected what Mapped.to_dict() gives")
    if data.get("version") != VERSION:
        raise LibraryError(
            f"version: got {brief(data.get('version'))}, expected {VERSION}; a later version of "
            "marl-mapper wrote it"
        )
    try:
        spec = ProblemSpec.from_dict(data["problem"])
        return spec, result_of(data, spec.build())
    except (KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise LibraryError(f"Mapped.from_dict: {error!r}; the values are damaged") from None


def result_of(data: Mapping[str, Any], problem: Problem) -> SearchResult:
    """The search's result of :func:`to_values`, its cost as the model gives it now.

    Raises:
        LibraryError: The model gives the mapping another value now.
        KeyError: A value is missing.
    """
    action = np.array(data["action"], dtype=np.int64)
    looked = problem.look(action[None])
    now = float(looked.values[0])
    mapping: Any = mapping_from(data["mapping"])
    if looked.mappings[0] != mapping or not math.isclose(now, data["value"], rel_tol=SAME):
        raise LibraryError(
            f"value: got {data['value']!r}, but the cost model gives the mapping {now!r} now; "
            "map the layer again"
        )
    steps = tuple((int(n), float(value)) for n, value in data["improvements"])
    proof, bound = data["proof"], data["bound"]
    if proof is not None:
        counts = Counts(**proof["counts"])
        proof = Proof(mapping, now, bound or 0.0, proof["status"], counts, proof["seconds"])
    return SearchResult(
        action,
        now,
        int(data["samples"]),
        steps,
        data["proven"],
        mapping,
        looked.costs[0],
        bound,
        proof,
    )
