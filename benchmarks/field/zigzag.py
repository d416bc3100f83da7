"""ZigZag's mapper: LOMA (orders of prime loops, memories filled from within) and SALSA."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.export_cases import Case
from benchmarks.export_counts import zigzag_evaluated
from benchmarks.field import zigzag_map
from benchmarks.field.answer import Keep, Loop, MappingTool, Part
from benchmarks.field.cases import OBJECTIVES, FieldCase
from cost_models import ChainMapping
from layers import TENSORS
from mapper.export.export_files import write_files
from mapper.export.tagged_yaml import tagged_text
from mapper.export.zigzag_files import (
    LAYER_OPERAND,
    MEMORY_OPERAND,
    NAME,
    accelerator,
    axes_of,
    workload,
)


@dataclass(frozen=True)
class ZigZag(MappingTool):
    """One of ZigZag's two searches of loops in time.

    Args:
        engine: ``loma`` or ``salsa``.
    """

    engine: str
    version, script = "3.9.1", zigzag_map
    packages = (f"zigzag-dse=={version}", "six")  # which it needs and does not name

    @property
    def name(self) -> str:  # type: ignore[override]
        """As ``--tools`` takes it."""
        return f"zigzag-{self.engine}"

    @property
    def objectives(self) -> tuple[str, ...]:  # type: ignore[override]
        """SALSA anneals for energy or latency alone."""
        return OBJECTIVES if self.engine == "loma" else ("energy", "latency")

    def state(self, case: FieldCase, folder: Path) -> None:
        """Write accelerator and workload; orders and units are ZigZag's to find."""
        nest = case.statement
        links = {LAYER_OPERAND[tensor]: MEMORY_OPERAND[tensor] for tensor in TENSORS}
        allowed = {
            name: [NAME[dim] for dim in nest.extents if dim in nest.fanout(level)[axis].dims]
            for (level, axis), name in axes_of(nest).items()
        }
        asked = {"memory_operand_links": links, "spatial_mapping_hint": allowed}
        texts = {
            "accelerator.yaml": tagged_text(accelerator(nest)),
            "workload.yaml": tagged_text([workload(nest)]),
            "mapping.yaml": tagged_text([{"name": "default", **asked}]),
        }
        write_files(folder, texts)

    def words(self, objective: str) -> tuple[object, ...]:
        """Engine and objective."""
        return self.engine, objective

    def parts(self, case: FieldCase, said: dict[str, Any]) -> Iterator[Part]:
        """Loops and kept tensors, outermost first.

        ZigZag has one order of loops, and for each tensor how many of them lie inside each of its
        memories. All fan-outs lie below all loops in time.
        """
        dims = {name: dim for dim, name in NAME.items()}
        places = {name: place for place, name in axes_of(case.statement).items()}
        inside = {t: _inside(case, t, said["loops"][LAYER_OPERAND[t]]) for t in TENSORS}
        loops = [loop for level in said["loops"]["O"] for loop in level]
        left = len(loops)
        for level in case.chip.inner:
            own = sorted(
                ((within[level.name], t) for t, within in inside.items() if level.name in within),
                reverse=True,
            )
            for within, tensor in own:
                for name, steps in reversed(loops[within:left]):
                    yield Loop(dims[name], steps)
                left = min(left, within)
                yield Keep(level.name, tensor)
            for axis in range(len(case.statement.fanout(level.name))):
                name = next(key for key, place in places.items() if place == (level.name, axis))
                for dim, units in said["units"].get(name, ()):
                    yield Loop(dims[dim], units, level.name, axis)

    def price(self, case: FieldCase, mapping: ChainMapping, python: str) -> float:
        """The value of a mapping of whole factors by ZigZag's model; it runs here."""
        with tempfile.TemporaryDirectory() as folder:
            found = zigzag_evaluated(Case(case.layer, case.chip, mapping), Path(folder))
        return case.value(float(found.energy_total) / 1000, float(found.latency_total2))


def _inside(case: FieldCase, tensor: str, levels: list[list[Any]]) -> dict[str, int]:
    """Loops inside each memory of a tensor, by level; the innermost has those of its own."""
    memories = [lv.name for lv in case.chip.inner if lv.holds[TENSORS.index(tensor)]]
    found, count = {}, 0
    for name, loops in zip(reversed(memories), levels, strict=False):
        count += len(loops)
        found[name] = count
    return found
