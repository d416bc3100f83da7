"""Whether a problem lies within what agents were trained for."""

from __future__ import annotations

from cost_models import Chain
from maestro_env import Problem
from mapper.pretrained.decisions import SPREADS
from mapper.pretrained.problem_arrays import OBJECTIVES
from mapper.pretrained.weights import Agents

OPTIONS = ("co_search", "dataflow", "only", "full", "uneven")
"""Of the map space, by which it is not the default one."""


def outside_training(problem: Problem) -> list[str]:
    """What of a problem the agents never met in training; they go on all the same.

    Returns:
        One clause each, such as ``20,000 PEs (trained: 8 to 8,192)``.
    """
    chip = problem.accelerator
    sizes: list[tuple[str, int | None, int, int]] = (
        [  # with the least and the most in training
            ("memories", len(chip.memories), 1, 4),
            ("MACs", chip.peak_macs_per_cycle, 1, 1 << 16),
            ("axes of fan-outs", sum(len(level.fanout.axes) for level in chip.levels), 0, SPREADS),
        ]
        if isinstance(chip, Chain)
        else [
            ("PEs", chip.num_pes, 8, 8192),
            ("B of L1", chip.l1_bytes, 32, 16 << 10),
            ("B of L2", chip.l2_bytes, 2 << 10, 16 << 20),
        ]
    )
    found = [
        f"{value:,} {name} (trained: {low:,} to {high:,})"
        for name, value, low, high in sizes
        if value is not None and not low <= value <= high
    ]
    if problem.objective.name not in OBJECTIVES:
        found.append(f"objective {problem.objective.name} (trained: {', '.join(OBJECTIVES)})")
    space = problem.space
    shared = getattr(space, "axis_dims", 1) > 1
    if space.filters != "whole" or shared or any(getattr(space, name, None) for name in OPTIONS):
        found.append("options of the map space (trained: the default space)")
    if problem.limits:
        found.append("limits on figures (trained: none)")
    return found


def doubts_of(agents: Agents | None, problem: Problem) -> list[str]:
    """What the user should know before agents propose for a problem, a sentence each.

    Args:
        agents: The agents; without any there are no doubts.
        problem: What they propose for.
    """
    if agents is None:
        return []
    found = outside_training(problem)
    trained = agents.card.get("cost_model", problem.cost_model.name)
    if trained != problem.cost_model.name:
        found.append(f"cost model {problem.cost_model.name} (trained: {trained})")
    return [f"the pre-trained agents never met {'; '.join(found)}"] if found else []
