"""Prove the optimum of a whole space on a chip that is a list of levels."""

from __future__ import annotations

import time

import numpy as np

from baselines.local import LocalFrom
from baselines.optimal.chain_entries import as_uneven, even_problem, is_even, kept_choices
from baselines.optimal.chain_solver import ChainSolver
from baselines.optimal.chain_structures import ChainStructures, refused
from baselines.optimal.proof import Proof, ProofLimits
from baselines.registry import load
from cost_models import CHAIN_BOUNDED, ChainFacts, ChainMapping, chain_facts_of
from maestro_env import Problem

FIRST_SAMPLES = 3000
"""Samples of the search for a first value."""
LOCAL_SAMPLES = 20_000
"""Samples of the local search from an even mapping to uneven ones."""


def cannot_prove_chain(problem: Problem) -> str | None:
    """Why the optimum on a chain cannot be proven by bounds; None where it can."""
    unknown = [name for name in problem.objective.figures if name not in CHAIN_BOUNDED]
    if unknown:
        return (
            f"{', '.join(dict.fromkeys(unknown))} has no bounds on a chip that is a list of "
            "levels; use the method 'exhaustive' on a space that it can list"
        )
    if getattr(problem.cost_model, "resident", "") and (problem.space.full or problem.space.uneven):
        return (
            "the bounds of a list of levels know of tensors that are resident where each memory "
            "keeps all that it holds; expected a space that is neither full nor uneven"
        )
    reason = refused(problem.space, problem.accelerator, problem.layer)
    if reason is not None:
        return reason
    facts = chain_facts_of(problem.cost_model, problem.layer, problem.accelerator, problem.limits)
    return facts if isinstance(facts, str) else None


def _even_first(
    problem: Problem, solver: ChainSolver, start: ChainMapping | None, limits: ProofLimits
) -> None:
    """Begin uneven mappings with the best even one, in half of the time and boxes at most.

    It in turn begins with `start`, or with the best of whole factors, which are few. Where it is
    not proven in that time, a local search goes on from it.
    """
    even = even_problem(problem)
    if cannot_prove_chain(even) is not None:
        return
    quarter = ProofLimits(
        limits.gap,
        None if limits.timeout is None else limits.timeout / 4,
        limits.max_memory,
        None if limits.boxes is None else limits.boxes // 4,
    )
    tiled = even.space.tiles == "divisors" or any(".tile_" in name for name in even.space.only)
    alone = tiled or start is not None
    for part in [even] if alone else [even_problem(problem, whole=True), even]:
        proof = prove_chain(part, start, quarter)
        solver.counts += proof.counts
        start = proof.mapping if isinstance(proof.mapping, ChainMapping) else None
    if start is None:
        return
    action = as_uneven(problem.space, even.space, even.action_of(start)[0])
    if action is None:
        return
    solver.better(action)
    # samples that take a fifth of the limits at most
    boxes = np.inf if limits.boxes is None else limits.boxes // 100
    timed = np.inf if limits.timeout is None else 1000 * limits.timeout
    samples = int(min(LOCAL_SAMPLES, boxes, timed))
    if proof.status != "optimal" and samples:
        found = LocalFrom(action).search(problem.fork(), samples, 0)
        if found.best_action is not None:
            solver.better(found.best_action)


def prove_chain(problem: Problem, start: ChainMapping | None, limits: ProofLimits) -> Proof:
    """See :func:`baselines.prove`; :func:`cannot_prove_chain` must have said that it can be.

    Uneven mappings may also begin with an even one.
    """
    began, wall = time.process_time(), time.perf_counter()
    facts = chain_facts_of(problem.cost_model, problem.layer, problem.accelerator, problem.limits)
    assert isinstance(facts, ChainFacts)

    def elapsed() -> float:
        return time.process_time() - began

    solver = ChainSolver(
        problem,
        (ChainStructures(problem.space, *kept) for kept in kept_choices(problem.space, facts)),
        gap=limits.gap,
        deadline=np.inf if limits.timeout is None else wall + limits.timeout,
        max_memory=limits.max_memory,
        most_boxes=np.inf if limits.boxes is None else limits.boxes,
    )
    watch = limits.progress
    if watch is not None:
        solver.on_step = lambda: watch(solver.progress(elapsed()))
    even = start if problem.space.uneven and start is not None and is_even(start) else None
    if start is not None and even is None:
        solver.look(problem.action_of(start))
    elif problem.why_empty() is None:
        found = load("ga").search(problem.fork(), FIRST_SAMPLES, 0)
        if found.best_action is not None:
            solver.better(found.best_action)
    if problem.space.uneven:
        _even_first(problem, solver, even, limits)
    status = solver.run()
    return Proof(solver.mapping, solver.value, solver.bound, status, solver.counts, elapsed())
