"""What a mapper answers, and what each of them can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from benchmarks.export_rules import Node
from benchmarks.field.cases import OBJECTIVES, FieldCase
from cost_models import ChainMapping, Entry, Spread
from layers import DIMS, TENSORS, Layer
from mapper.export.chip_stores import ChipStore
from mapper.export.loop_nest import ExportError


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
    rows = zip(TENSORS, layer.coupling, strict=True)
    depends = {t: {d for d, on in zip(DIMS, row, strict=True) if on} for t, row in rows}
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


class ToolError(RuntimeError):
    """An environment that can't be made, or a mapper that gave no answer."""


@dataclass(frozen=True)
class Answer:
    """A mapper's answer.

    Args:
        value: Energy, latency or their product by its own model, as the case asks.
        mapping: Its mapping; None where ours has no words for it.
        cpu_s: Processor time of its search, without its start [s].
        note: Why there is no mapping.
    """

    value: float
    mapping: ChainMapping | None
    cpu_s: float
    note: str = ""


def width_of(case: FieldCase, store: ChipStore) -> int:
    """Bits of an element of a memory, for a tool that counts in elements.

    Raises:
        ToolError: Tensors of unlike widths share it.
    """
    widths = {case.chip.widths[TENSORS.index(tensor)] for tensor in store.tensors}
    if len(widths) > 1:
        raise ToolError(f"{store.name} is shared by widths {sorted(widths)}; it counts in elements")
    return widths.pop()


class Tool:
    """A mapper in an environment of its own; `script` runs it there."""

    name: str
    version: str
    packages: tuple[str, ...]
    script: ModuleType
    python = "3.11"
    objectives: tuple[str, ...] = OBJECTIVES

    def state(self, case: FieldCase, folder: Path) -> None:
        """Write a problem's files."""
        raise NotImplementedError

    def words(self, objective: str) -> tuple[object, ...]:
        """What the script is told besides the folder."""
        raise NotImplementedError

    def command(self, python: str, folder: Path, *words: object) -> list[str]:
        """The command that answers a folder's files with a line of JSON."""
        return [python, "-P", str(self.script.__file__), *map(str, (folder.resolve(), *words))]


class MappingTool(Tool):
    """A mapper whose answers our exact model can price."""

    def parts(self, case: FieldCase, said: Node) -> Iterable[Part]:
        """Loops and kept tensors of an answer, outermost first."""
        raise NotImplementedError

    def value(self, case: FieldCase, said: Node) -> float:
        """The value that it gives."""
        return case.value(said["energy_pj"] / 1000, said["cycles"])

    def read(self, case: FieldCase, said: Node) -> Answer:
        """The value that it gives, and its mapping."""
        value, levels = self.value(case, said), [level.name for level in case.chip.inner]
        try:
            mapping = mapping_of(case.layer, list(self.parts(case, said)), levels)
        except AnswerError as error:
            return Answer(value, None, said["cpu_s"], str(error))
        return Answer(value, mapping, said["cpu_s"])

    def price(self, case: FieldCase, mapping: ChainMapping, python: str) -> float:
        """The value of a mapping of whole factors by the tool's own model.

        Raises:
            ExportError: It refuses the mapping, or mappings are not written for it.
        """
        raise ExportError(f"mappings are not written for {self.name}")
