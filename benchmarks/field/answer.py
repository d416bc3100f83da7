"""What a mapper answers, and what each of them can do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.field.cases import OBJECTIVES, FieldCase
from benchmarks.field.loops import AnswerError, Part, mapping_of
from cost_models import ChainMapping
from layers import TENSORS
from mapper.export.chip_stores import ChipStore
from mapper.export.loop_nest import ExportError


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

    def parts(self, case: FieldCase, said: dict[str, Any]) -> Iterable[Part]:
        """Loops and kept tensors of an answer, outermost first."""
        raise NotImplementedError

    def value(self, case: FieldCase, said: dict[str, Any]) -> float:
        """The value that it gives."""
        return case.value(said["energy_pj"] / 1000, said["cycles"])

    def read(self, case: FieldCase, said: dict[str, Any]) -> Answer:
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
