"""A tool's answer, a list of loops and of tensors kept between them, as a mapping of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cost_models import ChainMapping, Entry, Spread
from layers import DIMS, Layer


class AnswerError(ValueError):
    """An answer that is no mapping of ours."""


@dataclass(frozen=True)
class Loop:
    """Steps of a dimension, in time, or side by side on an axis of a level's fan-out."""

    dim: str
    steps: int
    level: str = ""
    axis: int = 0


@dataclass(frozen=True)
class Keep:
    """A tensor that a memory keeps from here on inwards."""

    level: str
    tensor: str


Part = Loop | Keep


def mapping_of(layer: Layer, parts: Sequence[Part], levels: Sequence[str]) -> ChainMapping:
    """The mapping that a tool's loops are, in as few entries as they allow.

    Args:
        layer: The layer.
        parts: The tool's loops and what is kept, outermost first, DRAM left out.
        levels: The chip's levels inside DRAM.

    Raises:
        AnswerError: Between two memories a dimension stands twice, with another one between, or a
            level of the chip is not in the answer.
    """
    extents = dict(zip(DIMS, layer.extents, strict=True))
    found: list[ChainMapping] = []
    for written in (parts, _lowered(layer, parts)):
        try:
            found.append(_entries(extents, written, levels))
        except AnswerError as caught:
            error = caught
    if not found:
        raise error
    return min(found, key=lambda mapping: len(mapping.entries))


def _lowered(layer: Layer, parts: Sequence[Part]) -> list[Part]:
    """The same with every tensor kept below the loops in time that leave its tile as it is.

    They bring nothing there; so tensors of a memory come to stand side by side.
    """
    depends = {t: {d for d, on in zip(DIMS, row, strict=True) if on} for t, row in _rows(layer)}
    found = list(parts)
    for start in range(len(found) - 1, -1, -1):
        at = start
        while at + 1 < len(found) and isinstance(keep := found[at], Keep):
            after = found[at + 1]
            moves = after.level == keep.level
            if isinstance(after, Loop):
                moves = not after.level and after.dim not in depends[keep.tensor]
            if not moves:
                break
            found[at], found[at + 1] = after, keep
            at += 1
    return found


def _rows(layer: Layer) -> list[tuple[str, Sequence[bool]]]:
    return list(zip(("input", "filter", "output"), layer.coupling, strict=True))


def _entries(
    extents: Mapping[str, int], parts: Sequence[Part], levels: Sequence[str]
) -> ChainMapping:
    """An entry for each place where a memory begins to keep something."""
    rest, walked = dict(extents), list[str]()
    entries: list[Entry] = []
    for part in parts:
        if isinstance(part, Keep):
            last = entries[-1] if entries else None
            if last is not None and last.level == part.level and not walked:
                kept = (last.keeps or frozenset()) | {part.tensor}
                entries[-1] = Entry(last.level, last.tiles, last.order, last.parallel, kept)
                continue
            order = _order(walked)
            entries.append(Entry(part.level, dict(rest), order, (), frozenset({part.tensor})))
            walked = []
            continue
        rest[part.dim] = -(-rest[part.dim] // part.steps)
        if not part.level:
            walked.append(part.dim)
        elif part.steps > 1:
            if not entries or entries[-1].level != part.level:
                raise AnswerError(f"units of {part.level} stand where it keeps nothing")
            last = entries[-1]
            spreads = (*last.parallel, Spread(part.dim, part.steps, part.axis))
            entries[-1] = Entry(last.level, last.tiles, last.order, spreads, last.keeps)
    if list(dict.fromkeys(entry.level for entry in entries)) != list(levels):
        raise AnswerError(
            f"it keeps tensors in {[entry.level for entry in entries]}, in this order"
        )
    return ChainMapping(tuple(entries))


def _order(walked: Sequence[str]) -> str:
    """The order of loops in time; those of one step come first."""
    once = [dim for place, dim in enumerate(walked) if walked[place - 1 : place] != [dim]]
    if len(set(once)) < len(once):
        raise AnswerError(f"its loops {' '.join(walked)} bring one tile; expected a dimension once")
    return "".join([*(d for d in "KCYXRS" if d not in once), *once])
