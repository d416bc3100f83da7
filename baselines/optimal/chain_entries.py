"""What the entries of uneven mappings keep: each choice of it is a chain of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from types import MappingProxyType

import numpy as np

from cost_models import ChainFacts, ChainMapping
from layers import DIMS, TENSORS
from maestro_env import ChainSpace, Problem
from marl_common import IntArray

NO_PICKS: Mapping[int, int] = MappingProxyType({})


def entry_names(levels: Sequence[str]) -> list[str]:
    """What parameters call entries, by the memory of each: its name, then NAME.2, NAME.3."""
    seen = Counter[str]()
    found = []
    for level in levels:
        seen[level] += 1
        found.append(level if seen[level] == 1 else f"{level}.{seen[level]}")
    return found


def kept_choices(
    space: ChainSpace, facts: ChainFacts
) -> Iterator[tuple[ChainFacts, dict[int, int]]]:
    """Every choice of which entry of a memory keeps which tensor.

    The last memory's entries behind the last one that keeps something are left out, with the tiles
    of those before: more steps there would only serve the MACs more often.

    Args:
        space: The space.
        facts: What bounds know of the problem, without entries.

    Yields:
        What bounds know with these entries, and the choices of an action, by column.
    """
    if not space.uneven:
        yield facts, {}
        return
    names = {p.name for p in space.parameters}
    keeps = [i for i, p in enumerate(space.parameters) if p.kind == "keeps"]
    for picks in product(*(range(len(space.parameters[i])) for i in keeps)):
        chosen = dict(zip(keeps, picks, strict=True))
        keeping = [(space.parameters[column], pick) for column, pick in chosen.items()]
        of_name = {p.name: int(p.choices[pick]) - 1 for p, pick in keeping}
        entries: list[tuple[str, tuple[bool, ...]]] = []
        for level in facts.chip.memories:
            parts = sum(f"{level.name}{part}.order" in names for part in ("", ".2", ".3"))
            kept = [of_name.get(f"{level.name}.keeps_{tensor}", 0) for tensor in TENSORS]
            for part in range(parts):
                held = tuple(h and kept[t] == part for t, h in enumerate(level.holds))
                entries.append((level.name, held))
        left, more = _without_idle(space, entries)
        yield replace(facts, entries=tuple(left)), chosen | more


def even_problem(problem: Problem, whole: bool = False) -> Problem:
    """The same problem with every memory as one entry; with tiles of `whole` factors alone."""
    space = problem.space
    even_space = partial(ChainSpace, space.layer, space.accelerator, space.tiles)
    if whole:
        even_space = partial(ChainSpace, space.layer, space.accelerator, "divisors")
    names = [p.name for p in even_space().parameters]
    only = {name: choices for name, choices in space.only.items() if name in names}
    even = even_space(filters=space.filters, only=only, axis_dims=space.axis_dims)
    model, limits = problem.cost_model, problem.limits
    return Problem(problem.layer, problem.accelerator, problem.objective.name, model, even, limits)


def is_even(mapping: ChainMapping) -> bool:
    """Whether every level stands as one entry."""
    return len({entry.level for entry in mapping.entries}) == len(mapping.entries)


def as_uneven(space: ChainSpace, even: ChainSpace, action: IntArray) -> IntArray | None:
    """An even mapping as one whose first entries keep all; None where the space does not hold it.

    Args:
        space: The uneven space.
        even: The even one.
        action: ``(P,)`` the mapping.
    """
    chosen = {p.name: p.choices[pick] for p, pick in zip(even.parameters, action, strict=True)}
    found = []
    for p in space.parameters:
        wanted = "1" if p.kind == "keeps" else chosen[re.sub(r"\.[23]\.", ".", p.name)]
        if wanted not in p.choices:
            return None
        found.append(p.choices.index(wanted))
    return np.array(found, np.int64)


def _without_idle(
    space: ChainSpace, entries: list[tuple[str, tuple[bool, ...]]]
) -> tuple[list[tuple[str, tuple[bool, ...]]], dict[int, int]]:
    """Entries without the last ones that keep nothing, and choices that give these no loops."""
    extents = dict(zip(DIMS, space.layer.extents, strict=True))
    names = entry_names([name for name, _ in entries])
    picks: dict[int, int] = {}
    while not any(entries[-1][1]) and entries[-2][0] == entries[-1][0]:
        tiles = {
            i: p for i, p in enumerate(space.parameters) if p.name.startswith(f"{names[-1]}.tile_")
        }
        if any(int(p.choices[-1]) < extents[p.dim or ""] for p in tiles.values()):
            break
        picks |= {i: len(p) - 1 for i, p in tiles.items()}
        entries, names = entries[:-1], names[:-1]
    return entries, picks
