"""What differs between two mappings of a layer, and what each difference costs."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cost_models import ChainMapping, Cost, MappingError, load, mapping_from
from maestro_env import Objective

if TYPE_CHECKING:
    from cost_models import Accelerator, Chain, CostModel, Mapping
    from layers import Layer

Part = tuple[str | int, ...]
"""Where a part of a mapping stands in its file, such as ``("tiles", 0, "K")``."""
ENTRY = ("order", "parallel", "keeps")
"""Parts of an entry of a chain's mapping, beside its tiles."""
LISTS = ("orders", "parallel", "parallel2", "bypass")
"""Parts of a mapping of two levels that have a place for each level."""


@dataclass(frozen=True)
class Change:
    """A part in which two mappings differ.

    Args:
        part: Where it stands in the file.
        first: What the first mapping has; None where it says nothing.
        second: What the second mapping has.
        value: The objective of the first mapping with this part of the second; inf where that
            alone does not fit the chip.
        why: Why it does not; empty where it does.
    """

    part: str
    first: Any
    second: Any
    value: float
    why: str = ""


@dataclass(frozen=True)
class Changes:
    """Two mappings of a layer beside each other.

    Args:
        costs: What each costs.
        values: Each one's objective; inf where it has no cost.
        changes: What differs, in the order of the files.
    """

    costs: tuple[Cost, Cost]
    values: tuple[float, float]
    changes: tuple[Change, ...]


def changes_between(
    layer: Layer,
    chip: Accelerator | Chain,
    mappings: tuple[Mapping | ChainMapping, Mapping | ChainMapping],
    objective: str = "edp",
    model: CostModel | None = None,
) -> Changes:
    """Compare two mappings part by part.

    Args:
        layer: The layer.
        chip: The chip.
        mappings: The two.
        objective: By which parts are priced.
        model: The cost model; None for the exact one.

    Raises:
        MappingError: One is no mapping of the chip, or their entries are of other levels.
        ObjectiveError: The objective is not known.
    """
    minimised, priced_by = Objective.parse(objective), model or load("exact")

    def priced(mapping: Any) -> tuple[Cost, float]:
        cost = priced_by.evaluate(layer, chip, mapping)  # type: ignore[arg-type]
        figures = (getattr(cost, name) for name in minimised.figures)
        return cost, math.prod(figures) if cost.feasible else math.inf

    first, second = (mapping.to_dict() for mapping in mappings)
    if _levels(first) != _levels(second):
        raise MappingError("mapping: the two have entries of other levels; expected the same")
    costs, values = zip(*map(priced, mappings), strict=True)
    changes = []
    for part in dict.fromkeys((*_parts(first), *_parts(second))):
        had, has = _at(first, part), _at(second, part)
        if had == has:
            continue
        value, why = math.inf, ""
        try:
            cost, value = priced(mapping_from(_with(first, second, part)))
            why = "" if cost.infeasible is None else cost.infeasible.message
        except MappingError as error:
            why = str(error)
        changes.append(Change(_written(first, part), had, has, value, why))
    return Changes(costs, values, tuple(changes))


def _levels(data: dict[str, Any]) -> list[str]:
    return [entry["level"] for entry in data.get("levels", [])]


def _parts(data: dict[str, Any]) -> Iterator[Part]:
    """The parts of a mapping's file that may differ from another's by themselves."""
    for place, entry in enumerate(data.get("levels", [])):
        yield from (("levels", place, "tiles", dim) for dim in entry["tiles"])
        yield from (("levels", place, name) for name in ENTRY)
    for name in LISTS:
        yield from ((name, place) for place in range(len(data.get(name, []))))
    for place, tiles in enumerate(data.get("tiles", [])):
        yield from (("tiles", place, dim) for dim in tiles)
    if "levels" not in data:
        yield from (("cluster_size",), ("num_pes",))


def _at(data: Any, part: Part) -> Any:
    """What stands at a place; None where nothing does."""
    if part[0] == "parallel2":  # it means nothing without its units
        return (_plain_at(data, part), _plain_at(data, ("units", *part[1:])))
    return _plain_at(data, part)


def _plain_at(data: Any, part: Part) -> Any:
    for step in part:
        try:
            data = data[step]
        except (KeyError, IndexError):
            return None
    return data


def _with(first: dict[str, Any], second: dict[str, Any], part: Part) -> dict[str, Any]:
    """The first mapping with a part of the second."""
    mixed = copy.deepcopy(first)
    parts = [part, ("units", *part[1:])] if part[0] == "parallel2" else [part]
    for one in parts:
        *way, last = one
        if way and way[0] not in mixed:  # two-level mappings leave out what is not used
            mixed[str(way[0])] = [None, None] if way[0] in ("parallel2", "units") else [[], []]
        inside, value = _plain_at(mixed, tuple(way)), _plain_at(second, one)
        if value is None and isinstance(inside, dict):
            inside.pop(last, None)
        else:
            inside[last] = [] if value is None and one[0] == "bypass" else value
    return mixed


def _written(data: dict[str, Any], part: Part) -> str:
    """Such as ``tiles[0].K``, or of a chain ``GLB.tiles.K``."""
    if part[0] == "levels":
        return ".".join([data["levels"][part[1]]["level"], *map(str, part[2:])])
    text = str(part[0])
    for step in part[1:]:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text
