"""What is proven of an answer, as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from common import engineering
from cost_models import ChainMapping, loop_nest, nest_of_loops
from runs import say

if TYPE_CHECKING:
    from maestro_env import Problem
    from mapper.standing import Standing

WHY = {
    "timeout": "the proof ran out of time",
    "memory": "the proof ran out of memory",
    "boxes": "the proof ended after its number of parts",
    "within_gap": "the proof stopped there",
    "interrupted": "the proof was interrupted",
}


def print_standing(standing: Standing, problem: Problem) -> None:
    """Say whether the answer is optimal, or how far above the optimum; and what is better."""
    for line in standing_lines(standing, problem):
        say(line)
    if standing.mapping is not None:
        print()
        if isinstance(standing.mapping, ChainMapping):
            print(nest_of_loops(standing.mapping.loops(problem.layer, problem.accelerator)))
        else:
            print(loop_nest(standing.mapping, problem.layer, problem.accelerator.num_pes))


def standing_lines(standing: Standing, problem: Problem) -> Iterator[str]:
    """The sentences about an answer."""
    effort = f"{standing.boxes:,} parts of the space, {standing.seconds:.2f} s"
    size = f"{float(problem.space.size):.3g}"
    if standing.optimal:
        yield f"proven optimal: none of {size} mappings is better ({effort})"
        return
    above = f"{100 * standing.gap:.2g} %" if math.isfinite(standing.gap) else "unknown"
    best = engineering(standing.value, problem.objective.unit, digits=4)
    if standing.proven:
        yield f"{above} above the optimum of {best}, proven over {size} mappings ({effort})"
        yield "the best mapping of all:"
        return
    bound = engineering(standing.bound, problem.objective.unit, digits=4)
    yield (
        f"at most {above} above the optimum: no mapping is below {bound} "
        f"({WHY.get(standing.status, standing.status)}: {effort})"
    )
    if standing.mapping is not None:
        yield f"a better mapping, of {best}:"
