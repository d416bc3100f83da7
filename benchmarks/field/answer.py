"""What a mapper answers, and what each of them can do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.field.cases import FieldCase
from benchmarks.field.loops import AnswerError, Part, mapping_of
from cost_models import ChainMapping
from layers import TENSORS
from mapper.export.chip_stores import ChipStore


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


def read_back(case: FieldCase, value: float, cpu_s: float, parts: Iterable[Part]) -> Answer:
    """An answer whose loops and kept tensors, outermost first, are written as a mapping of ours."""
    levels = [level.name for level in case.chip.inner]
    try:
        mapping = mapping_of(case.layer, list(parts), levels)
    except AnswerError as error:
        return Answer(value, None, cpu_s, str(error))
    return Answer(value, mapping, cpu_s)


def width_of(case: FieldCase, store: ChipStore) -> int:
    """Bits of an element of a memory, for a tool that counts in elements.

    Raises:
        ToolError: Tensors of unlike widths share it.
    """
    widths = {case.chip.widths[TENSORS.index(tensor)] for tensor in store.tensors}
    if len(widths) > 1:
        raise ToolError(f"{store.name} is shared by widths {sorted(widths)}; it counts in elements")
    return widths.pop()


class Tool(Protocol):
    """A mapper."""

    name: str
    version: str
    packages: tuple[str, ...]
    python: str
    objectives: tuple[str, ...]

    def state(self, case: FieldCase, folder: Path) -> None:
        """Write a problem's files."""

    def command(self, python: str, folder: Path, objective: str) -> list[str]:
        """The command that answers them with a line of JSON."""


class MappingTool(Tool, Protocol):
    """A mapper whose answers our exact model can price."""

    def read(self, case: FieldCase, said: dict[str, object]) -> Answer:
        """Read that line."""

    def price(self, case: FieldCase, mapping: ChainMapping, python: str) -> float:
        """A mapping's value by the tool's own model."""
