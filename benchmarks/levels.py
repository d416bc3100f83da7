"""The kernel and the simulator against a file of executed nests of one level or more.

    python -m benchmarks levels tests/cost_models/data/levels_reference_sample.jsonl

A line of the file is a nest and its counts:

- ``extents`` of the dimensions K C P Q R S N G, where P and Q are output rows and columns;
- ``levels``, outermost first, without DRAM and the MACs: ``tile`` of an instance, ``fan`` (units
  along each dimension), ``order`` of loops (dimensions by number, outermost first), ``keeps`` of
  input, filter and output;
- ``coupled`` dimensions of each tensor, ``strides`` and ``dilations`` of rows and columns;
- ``ports`` of DRAM and of each level: elements a cycle to what lies inside and from it, or 0, 0;
- ``simd`` MACs of an instance, which take any work; whether instances ``retain`` what they hold;
- ``counts`` by the names of :func:`cost_models.exact.simulator.simulate`, in elements and cycles.
  ``stepwise`` and ``bound`` are both latencies.

Prints how many rows are equal, and the first counts that differ. Exits with 1 if any does, and with
2 and a line that says why if the file cannot be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, ValidationError, model_validator

from benchmarks.frame import asked, refuse
from benchmarks.nest_features import COUNTERS, Counts, differing
from cost_models.exact.nest import Lanes, Nest, NestLevel, Port, Rules, Window
from layers import DIMS

BITS = 8
"""Of every element: all are alike."""
FAMILIES = ("fill", "read", "write", "refill", "drain", "in", "out")
LATENCIES = ("stepwise", "bound")
MOST_MACS, MOST_UNITS = 200_000, 4096
"""Of a nest that is executed."""
SHOWN = 10
"""Rows whose differences are printed."""


class RowError(ValueError):
    """A line that is no nest with its counts."""


def _different(dims: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(dims)) < len(dims):
        raise ValueError("expected different dimensions")
    return dims


Whole = Annotated[int, Field(strict=True, ge=1)]
Rate = Annotated[int, Field(strict=True, ge=0)]
Each = Annotated[tuple[Whole, ...], Field(min_length=len(DIMS), max_length=len(DIMS))]
Dim = Annotated[int, Field(strict=True, ge=0, lt=len(DIMS))]
Some = Annotated[tuple[Dim, ...], AfterValidator(_different)]


class RowLevel(BaseModel):
    """A level of a nest, as the file has it."""

    tile: Each
    fan: Each
    order: Annotated[Some, Field(min_length=len(DIMS))]
    keeps: tuple[bool, bool, bool]


class Row(BaseModel):
    """A line of the file: a nest, and what was counted of it."""

    extents: Each
    levels: Annotated[list[RowLevel], Field(min_length=1)]
    coupled: tuple[Some, Some, Some]
    strides: tuple[Whole, Whole]
    dilations: tuple[Whole, Whole]
    ports: list[tuple[Rate, Rate]]
    simd: Whole
    retain: bool = True
    counts: dict[str, Annotated[int, Field(strict=True)]]
    line: int = 0

    @model_validator(mode="after")
    def can_be_executed(self) -> Row:
        """Refuse what has no ports or counts, or is too large."""
        macs = math.prod(self.extents)
        units = math.prod(n for level in self.levels for n in level.fan)
        missing = {*LATENCIES, "compute"} - self.counts.keys()
        for wrong, text in (
            (macs > MOST_MACS, f"{macs} MACs; expected at most {MOST_MACS} to execute"),
            (units > MOST_UNITS, f"fan: {units} units in all; expected at most {MOST_UNITS}"),
            (len(self.ports) != len(self.levels) + 1, "ports: expected one more than levels"),
            (not all(self.ports[:1] and self.ports[0]), "ports: DRAM has none"),
            (missing, f"counts: no {', '.join(sorted(missing))}"),
        ):
            if wrong:
                raise ValueError(text)
        return self

    @property
    def nest(self) -> Nest:
        """The nest."""
        ports = [Port(BITS * into, BITS * out) if into and out else None
                 for into, out in self.ports]  # fmt: skip
        down, across = zip(self.strides, self.dilations, strict=True)
        return Nest(
            extents=self.extents,
            levels=tuple(
                NestLevel(level.tile, level.fan, level.order, level.keeps, port=port)
                for level, port in zip(self.levels, ports[1:], strict=True)
            ),
            coupled=self.coupled,
            windows=(Window(*down), Window(*across)),
            widths=(BITS,) * 4,
            dram=ports[0] or Port(),
            lanes=Lanes(any=self.simd),
            rules=Rules(retain=self.retain),
        )


def read(path: Path) -> list[Row]:
    """Read a file of executed nests.

    Raises:
        RowError: A line is no nest with its counts; the text says which, and what was expected.
    """
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            rows.append(Row.model_validate_json(line).model_copy(update={"line": number}))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            text = f"{where}: {first['msg']}, got {first['input']!r}" if where else first["msg"]
            raise RowError(f"{path}, line {number}: {text}") from None
    if not rows:
        raise RowError(f"{path}: no rows; expected a nest a line")
    return rows


def counts_of(counter: Callable[[Nest], Counts], nest: Nest) -> dict[str, int]:
    """Counts of a nest as the file has them: ports in elements, and both latencies."""
    found: dict[str, int] = {}
    for latency in LATENCIES:
        rules = replace(nest.rules, stepwise=latency == "stepwise")
        counts = counter(replace(nest, rules=rules))
        found |= {name: n for name, n in counts.items() if name.split("/")[0] in FAMILIES}
        found |= {name: counts[name] for name in (latency, "compute")}
    return {name: n // BITS if name[:3] in ("in/", "out") else n for name, n in found.items()}


def compare(rows: list[Row], name: str) -> int:
    """Compare one way of counting with all rows, and print what differs; how many rows do."""
    differ = 0
    for row in rows:
        found = differing(row.counts, counts_of(COUNTERS[name], row.nest))
        differ += bool(found)
        if found and differ <= SHOWN:
            parts = [f"{count}: {here} in the file, {n}" for count, (here, n) in found.items()]
            print(f"{name}: line {row.line}: {'; '.join(parts[:4])}")
    print(f"{name}: {len(rows) - differ:,} of {len(rows):,} rows are equal", flush=True)
    return differ


def main() -> bool:
    """Compare; true where something differs."""
    given = asked(__doc__, file_=Path, only=(str, "one way of counting alone", tuple(COUNTERS)))
    try:
        rows = read(given.file)
    except (OSError, UnicodeDecodeError, RowError) as error:
        refuse(f"levels: {error}")
    names = [given.only] if given.only else ["kernel", "simulator"]
    return sum([compare(rows, name) for name in names]) > 0
