"""Whether a problem has any mapping at all, found before a sample is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from cost_models import Chain, Infeasible, ReasonCode
from maestro_env.action_space import ActionSpace
from maestro_env.objective import beyond, unit_of
from marl_common import IntArray

if TYPE_CHECKING:
    from maestro_env.problem import Problem

CAPACITY = (ReasonCode.L1_CAPACITY, ReasonCode.L2_CAPACITY, ReasonCode.CAPACITY)
ARRAY = ("parallel", "cluster_size", "num_pes")
"""Kinds of parameters that decide how tiles add up over clusters."""

GROWING = ("max_l1_bytes", "max_l2_bytes")
"""Limits of figures that are least for the smallest tiles, beside those of levels by name."""


def why_empty(problem: Problem) -> Infeasible | None:
    """Why no mapping of a problem is feasible; None where one may be.

    A buffer needs least for the smallest tiles, so that nothing fits where they do not; and no
    mapping keeps a limit that is below the physical bound of its figure.
    """
    return _beyond_a_bound(problem) or _no_room(problem)


def smallest_tiles(
    space: ActionSpace, whole: Sequence[str] = ("parallel", "cluster_size")
) -> IntArray:
    """``(n, P)`` actions: the smallest tiles on every array that the space offers.

    Of the kinds of parameters that make an array those in `whole` take every choice, and the others
    their first and last.

    On a chain what one instance holds depends on units only where they share a filter that is not
    tiled: there the units along R and along S are the most there are.
    """
    if isinstance(space.accelerator, Chain):
        return np.concatenate([sharing(space, taps) for taps in ("", "R", "S")])
    columns = [i for i, p in enumerate(space.parameters) if p.kind in ARRAY]
    choices = [
        range(len(p)) if p.kind in whole else sorted({0, len(p) - 1})
        for p in (space.parameters[column] for column in columns)
    ]
    settings = np.array(list(product(*choices)), dtype=np.int64)
    actions = np.zeros((len(settings), len(space.nvec)), np.int64)
    actions[:, columns] = settings
    return actions


def sharing(space: ActionSpace, taps: str) -> IntArray:
    """``(1, P)``: the smallest tiles, and all units of each axis that can spread a dimension."""
    action = np.zeros((1, len(space.nvec)), np.int64)
    for column, parameter in enumerate(space.parameters):
        if parameter.kind == "parallel" and taps in parameter.choices:
            action[0, column] = parameter.choices.index(taps)
            action[0, column + 1] = len(space.parameters[column + 1]) - 1
    return action


def _beyond_a_bound(problem: Problem) -> Infeasible | None:
    bounds = problem.figure_bounds if problem.limits else {}
    for name, limit in problem.limits.items():
        figure = name.removeprefix("max_")
        least = bounds.get(figure, 0.0)
        if least > limit * (1 + 1e-12):
            said = (
                f"layer {problem.layer.name!r} has no mapping within {name}={limit:g}: none is "
                f"below {least:.6g} {unit_of(figure)}, {least / limit:.3g} times the limit, on "
                "this accelerator"
            )
            return beyond(name, least, limit, said, (f"raise {name}", "change the accelerator"))
    return None


def _no_room(problem: Problem) -> Infeasible | None:
    if problem.space.full:  # what a mapping lets bypass a level needs no room there
        return None
    looked = problem.look(smallest_tiles(problem.space))
    reasons = looked.costs.reason
    limited = [n for n in problem.limits if n in GROWING or n.startswith("max_bytes.")]
    if not np.isin(reasons, CAPACITY).all():
        fits = reasons == ReasonCode.FEASIBLE
        for name in limited if fits.any() and np.isin(reasons, (0, *CAPACITY)).all() else ():
            figure = name.removeprefix("max_")
            least = float(looked.costs.column(figure)[fits].min())
            if least > problem.limits[name]:
                whole, levers = _fix(problem, f"raise {name} to {least:g}")
                said = (
                    f"layer {problem.layer.name!r} has no mapping within {name}="
                    f"{problem.limits[name]:g}: even the smallest tiles need {least:g} "
                    f"{unit_of(figure)}{whole}"
                )
                return beyond(name, least, problem.limits[name], said, levers)
        return None
    found = (looked.infeasible(row) for row in range(len(looked)))
    mildest = min((reason for reason in found if reason is not None), key=lambda r: r.gap or 0.0)
    raised = (lever for lever in mildest.levers if lever.startswith("raise"))
    whole, levers = _fix(problem, next(raised, "give it more"))
    need = mildest.message.rpartition(": ")[2]  # such as L1 needs 486 B, limit 256 B (+230 B)
    message = (
        f"layer {problem.layer.name!r} has no feasible mapping: even with the smallest tiles "
        f"{need}{whole}"
    )
    return replace(mildest, message=message, levers=levers)


def _fix(problem: Problem, otherwise: str) -> tuple[str, tuple[str, ...]]:
    """A word on filters that are kept whole, and what to change: tiling them where that helps."""
    layer, space = problem.layer, problem.space
    taps = layer.R * layer.S
    if space.filters == "whole" and taps > 1:
        whole = f", as the {layer.R} x {layer.S} filter is kept whole"
        options = {**space.options, "filters": "free"}
        freed = problem.with_space(type(problem.space)(layer, problem.accelerator, **options))
        if why_empty(freed) is None:
            return whole, ("let it be tiled (--space filters=free)", otherwise)
        return whole, (otherwise,)
    return "", (otherwise,)
