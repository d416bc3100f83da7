"""What is proven of an answer, as lines of text."""

from __future__ import annotations

from cost_models import ChainMapping, loop_nest, nest_of_loops
from maestro_env import Problem
from mapper.explaining.standing import Standing
from marl_common import engineering, percent
from marl_runs import say

WHY = {
    "timeout": "the proof ran out of time",
    "memory": "the proof ran out of memory",
    "boxes": "the proof ended after its number of parts",
    "within_gap": "the proof stopped there",
    "interrupted": "the proof was interrupted",
}


def standing_line(standing: Standing, problem: Problem, effort: bool = False) -> str:
    """Whether an answer is optimal, or how far above the optimum it may be.

    Args:
        standing: The answer beside its proof.
        problem: What was searched.
        effort: Whether to say what the proof took.
    """
    took = f"{standing.boxes:,} parts of the space, {standing.seconds:.2f} s"
    size = f"{float(problem.space.size):.3g}"
    if standing.optimal:
        return f"proven optimal: none of {size} mappings is better{_brackets(effort and took)}"
    above = percent(standing.gap)
    best = engineering(standing.value, problem.objective.unit, digits=4)
    if standing.proven:
        best = f"{best}, proven over {size} mappings"
        return f"{above} above the optimum of {best}{_brackets(effort and took)}"
    bound = engineering(standing.bound, problem.objective.unit, digits=4)
    why = WHY.get(standing.status, standing.status)
    return (
        f"at most {above} above the optimum: no mapping is below {bound}"
        f"{_brackets(f'{why}: {took}' if effort else why)}"
    )


def _brackets(text: str | bool) -> str:
    return f" ({text})" if text else ""


def print_better(standing: Standing, problem: Problem) -> None:
    """Print the mapping that the proof found to be better; nothing where the answer is as good."""
    if standing.mapping is None:
        return
    best = engineering(standing.value, problem.objective.unit, digits=4)
    say("\nthe best mapping of all:" if standing.proven else f"\na better mapping, of {best}:")
    print()
    if isinstance(standing.mapping, ChainMapping):
        print(nest_of_loops(standing.mapping.loops(problem.layer, problem.accelerator)))
    else:
        print(loop_nest(standing.mapping, problem.layer, problem.accelerator.num_pes))
