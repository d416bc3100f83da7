"""Prove the optimum of a problem's whole space."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from baselines.optimal.chain_entries import even_problem
from baselines.optimal.chain_proving import cannot_prove_chain, prove_chain
from baselines.optimal.proof import (
    LEAST_MEMORY,
    Proof,
    ProofLimits,
    ProofProgress,
    ProveError,
    settled,
)
from baselines.optimal.solver import Solver
from baselines.optimal.structure_space import KINDS, MOST_TILES, StructureSpace
from baselines.optimal.tree import Tree
from baselines.registry import load
from cost_models import (
    Chain,
    ChainMapping,
    LowerBounds,
    Mapping,
    two_levels_of,
    without_clusters,
)
from maestro_env import MapSpaceError, Problem

FIRST_SAMPLES = 3000
"""Samples of the search for a first value."""
DEFAULT_MEMORY = 2 << 30
"""Memory that a proof may take where nothing is said [B]."""


def can_prove(problem: Problem) -> str | None:
    """Why the optimum of a problem cannot be proven by bounds; None where it can."""
    if isinstance(problem.accelerator, Chain):
        return cannot_prove_chain(problem)
    found = _bounded(problem)
    return found if isinstance(found, str) else None


def _bounded(problem: Problem) -> str | tuple[StructureSpace, LowerBounds]:
    """The structures of a problem on two levels with their bounds, or why there are none."""
    instead = "use the method 'exhaustive' on a space that it can list"
    unknown = [p.name for p in problem.space.parameters if p.kind not in KINDS]
    if unknown:
        return f"the bounds know nothing of {', '.join(unknown)} of the space; {instead}"
    largest = max(len(p) for p in problem.space.parameters)
    if largest > MOST_TILES:
        return f"a parameter of the space has {largest} choices, more than {MOST_TILES}; {instead}"
    space = StructureSpace(problem.space)
    bounds = problem.lower_bounds_of(space.structures)
    if bounds is None:
        return (
            f"cost model {problem.cost_model.name!r} offers no lower bounds for objective "
            f"{problem.objective.name!r} on this layer and accelerator; {instead}"
        )
    return space, bounds


def prove(
    problem: Problem,
    *,
    start: Mapping | ChainMapping | None = None,
    gap: float = 0.0,
    timeout: float | None = None,
    threads: int = 1,
    max_memory: int | None = None,
    boxes: int | None = None,
    progress: Callable[[ProofProgress], None] | None = None,
    record: bool = False,
) -> Proof:
    """The best mapping of a problem's space, with a proof that none is better.

    The problem's own counters are left as they are.

    Args:
        problem: Layer, accelerator, cost model, space, objective and limits.
        start: A good mapping of the space to start from; None to look for one first.
        gap: Stop when the value is proven to be at most this share above the optimum.
        timeout: Stop after so much time [s]; 0 gives the first value and the bound of the whole
            space.
        threads: Threads that share the boxes; on a chip that is a list of levels one works.
        max_memory: Memory for boxes and record [B]; beyond it boxes are looked at depth first. On a
            chip that is a list of levels for tables and choices; beyond it tables are worked out
            again, and the proof ends where choices have no room.
        boxes: On a chip that is a list of levels, boxes after which it ends, on any machine alike.
        progress: Called between batches of boxes; what it raises ends the proof.
        record: Whether to record the tree of boxes, as certificates need it on a chip of two
            levels; on a list of levels they are made of the bound alone.

    Raises:
        ProveError: The model offers no bounds for the problem, or an option makes no sense.
        MapSpaceError: The space does not hold `start`.
    """
    began, wall = time.process_time(), time.perf_counter()
    _check(gap, timeout, threads, max_memory)
    memory = DEFAULT_MEMORY if max_memory is None else max_memory
    if isinstance(problem.accelerator, Chain):
        reason = can_prove(problem)
        if reason is not None:
            raise ProveError(f"problem: {reason}")
        assert not isinstance(start, Mapping)
        if start is None:
            start = _of_two_levels(problem, timeout, memory)
        return prove_chain(problem, start, ProofLimits(gap, timeout, memory, boxes, progress))
    assert not isinstance(start, ChainMapping)
    found = _bounded(problem)
    if isinstance(found, str):
        raise ProveError(f"problem: {found}")
    space, bounds = found

    def elapsed() -> float:
        return time.process_time() - began

    solver = Solver(
        problem,
        bounds,
        space,
        gap=gap,
        deadline=np.inf if timeout is None else wall + timeout,
        max_memory=memory,
        threads=threads,
        tree=Tree(len(space.structures)) if record else None,
    )
    if progress is not None:
        solver.on_step = lambda: progress(solver.progress(elapsed()))
    _first_value(problem, solver, start)
    stop = solver.run()
    status = settled(solver.value, solver.bound) if stop == "done" else stop
    spent = elapsed()
    return Proof(
        solver.mapping, solver.value, solver.bound, status, solver.counts, spent, solver.tree
    )


def _of_two_levels(problem: Problem, timeout: float | None, max_memory: int) -> ChainMapping | None:
    """The best mapping of the default space of two levels, where a chip is such a one."""
    space = problem.space
    if space.axis_dims < 2 or space.only or problem.limits:
        return None
    chip = two_levels_of(problem.accelerator)
    if chip is None:
        return None
    default = Problem(problem.layer, chip, problem.objective.name, problem.cost_model)
    if can_prove(default) is not None:
        return None
    quarter = None if timeout is None else timeout / 4
    found = prove(default, timeout=quarter, max_memory=max_memory).mapping
    if not isinstance(found, Mapping):
        return None
    start = without_clusters(chip, found, problem.layer)
    try:
        (even_problem(problem) if space.uneven else problem).action_of(start)
    except MapSpaceError:
        return None
    return start


def _first_value(problem: Problem, solver: Solver, start: Mapping | None) -> None:
    """Give the solver a value to begin with."""
    if start is not None:
        solver.look(problem.action_of(start))
    elif solver.hopeless:
        return
    else:
        found = load("ga").search(problem.fork(), FIRST_SAMPLES, 0)
        if found.best_action is not None:
            solver.look(found.best_action[None])
    if problem.space.filters == "free" and problem.layer.R * problem.layer.S > 1:
        solver.take_part(solver.space.whole_filters())
    if problem.space.full:
        solver.take_part(solver.space.plain_allocations())


def _check(gap: float, timeout: float | None, threads: int, max_memory: int | None) -> None:
    if not 0 <= gap < 1:
        raise ProveError(f"gap: got {gap!r}, expected a share of at least 0 and below 1")
    if timeout is not None and not timeout >= 0:
        raise ProveError(f"timeout: got {timeout!r}, expected seconds of at least 0, or None")
    if not isinstance(threads, int) or threads < 1:
        raise ProveError(f"threads: got {threads!r}, expected a whole number of at least 1")
    if max_memory is not None and not max_memory >= LEAST_MEMORY:
        raise ProveError(
            f"max_memory: got {max_memory!r}, expected bytes of at least {LEAST_MEMORY}"
        )
