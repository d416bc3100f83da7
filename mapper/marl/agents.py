"""The assignment a search uses, from what its config says."""

from __future__ import annotations

from baselines import SearcherError
from cost_models import Chain
from maestro_env import Problem
from mapper.clustering.assignment import Assignment, AssignmentError
from mapper.clustering.correlation import correlate
from mapper.clustering.dataset import collect
from mapper.clustering.library import nearest_layer, resized
from mapper.clustering.tree import cluster
from marl_common import brief

FILES = (".yaml", ".yml", ".json")
"""Endings of an assignment's file."""


def assigned(
    agents: str | int | Assignment, problem: Problem, dataset: int, count_dataset: bool, seed: int
) -> Assignment:
    """The agents of a problem: grouped from a dataset of its own, or as :func:`resolve` has them.

    Args:
        agents: See :func:`resolve`; a dataset is only taken for ``"auto"`` or a number.
        problem: What will be searched.
        dataset: Random samples to take first; 0 takes none.
        count_dataset: Whether those samples count against the problem's budget.
        seed: Seed of the dataset.
    """
    number = number_of(agents)
    if not dataset or (number is None and agents != "auto"):
        return resolve(agents, problem)
    data = collect(problem, "random", dataset, seed)
    if count_dataset:
        problem.evaluate(data.actions)
    data = data.choosing(problem.space.nvec > 1)
    return cluster(correlate(data.best(), data.names, data.categorical)).assign(number)


def number_of(agents: str | int | Assignment) -> int | None:
    """The number of agents, also as text; None where they are said otherwise."""
    if isinstance(agents, str) and agents.strip().isdecimal():
        return int(agents)
    return agents if isinstance(agents, int) and not isinstance(agents, bool) else None


def resolve(agents: str | int | Assignment, problem: Problem) -> Assignment:
    """The agents of a problem.

    Args:
        agents: ``"auto"``, a number (also as text), a file's path, or an assignment.
        problem: Its parameters with more than one choice are assigned; the rest need no agent.

    Raises:
        AssignmentError: The number is out of range, or the file holds no assignment of this space.
        SearcherError: The value is none of these.
    """
    names = choosing(problem)
    number = number_of(agents)
    agents = agents if number is None else number
    if isinstance(agents, Assignment):
        return agents.fit(names)
    if isinstance(agents, bool) or not isinstance(agents, int | str):
        raise SearcherError(
            f"agents: got {agents!r}, expected 'auto', a number, a file or an assignment"
        )
    if agents == len(names):
        return Assignment.decentralised(names)
    if agents == 1:
        return Assignment.single(names)
    if isinstance(problem.accelerator, Chain) and not str(agents).endswith(FILES):
        return _by_level(problem, agents)
    if agents == "auto" or isinstance(agents, int):
        entry = nearest_layer(problem.layer, problem.accelerator)
        return entry.assign(names, agents if isinstance(agents, int) else None)
    if not agents.endswith(FILES):
        raise AssignmentError(
            f"agents: got {agents!r}, expected auto, 1..{len(names)}, or a .yaml or .json file"
        )
    found = Assignment.load(agents)
    _check_space(found, problem, agents)
    return found.fit(names)


def _by_level(problem: Problem, agents: str | int) -> Assignment:
    """An agent for each level of a chain, or these joined or split until there are so many."""
    names = choosing(problem)
    numbers = {p.name: p.level or 0 for p in problem.space.parameters}
    groups = [[n for n in names if numbers[n] == level] for level in range(problem.space.depth)]
    found = Assignment(tuple(tuple(group) for group in groups if group))
    if agents == "auto":
        return found
    if not isinstance(agents, int) or not 1 <= agents <= len(names):
        raise AssignmentError(
            f"agents: got {agents!r}, expected auto, 1..{len(names)}, or a .yaml or .json file"
        )
    return resized(found, agents)


def _check_space(assignment: Assignment, problem: Problem, path: str) -> None:
    """Refuse an assignment whose parameters another kind of map space has.

    What only some layers have (N and G) is no sign of another space.
    """
    known = set(problem.space.names)
    foreign = [n for n in assignment.names if n not in known and not n.endswith(("_N", "_G"))]
    if foreign:
        raise AssignmentError(
            f"{path}: is an assignment of another map space: {brief(', '.join(foreign))} "
            f"not in this one ({', '.join(problem.space.names[:3])}, ...); cluster the parameters "
            "of this space (mapper cluster --space ...)"
        )


def choosing(problem: Problem) -> tuple[str, ...]:
    """Names of the parameters with more than one choice."""
    return tuple(p.name for p in problem.space.parameters if len(p) > 1)
