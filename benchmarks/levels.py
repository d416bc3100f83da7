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

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.frame import asked, refuse
from benchmarks.nest_counts import COUNTERS, Counts, differing
from cost_models.exact.nest import Lanes, Nest, NestLevel, Port, Rules, Window
from layers import DIMS, TENSORS

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


@dataclass(frozen=True)
class Row:
    """A line of the file: a nest, and what was counted of it."""

    line: int
    nest: Nest
    counts: Counts


def read(path: Path) -> list[Row]:
    """Read a file of executed nests.

    Raises:
        RowError: A line is no nest with its counts; the text says which, and what was expected.
    """
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            fields = json.loads(line)
            if not isinstance(fields, dict):
                raise RowError(f"got {line[:20]!r}, expected an object")
            rows.append(Row(number, _nest(fields), _counts(fields)))
        except json.JSONDecodeError as error:
            raise RowError(f"{path}, line {number}: not JSON: {error}") from None
        except RowError as error:
            raise RowError(f"{path}, line {number}: {error}") from None
    if not rows:
        raise RowError(f"{path}: no rows; expected a nest a line")
    return rows


def _nest(fields: dict[str, Any]) -> Nest:
    extents = _whole(fields, "extents", len(DIMS), 1)
    if math.prod(extents) > MOST_MACS:
        raise RowError(f"{math.prod(extents)} MACs; expected at most {MOST_MACS} to execute")
    levels, ports = _list(fields, "levels"), _list(fields, "ports")
    if not levels or len(ports) != len(levels) + 1:
        raise RowError(f"ports: {len(ports)} of {len(levels)} levels; expected one more, DRAM's")
    bandwidths = [_port(_whole({"ports": port}, "ports", 2, 0)) for port in ports]
    if bandwidths[0] is None:
        raise RowError("ports: DRAM has none; expected elements a cycle")
    stride, dilation = _whole(fields, "strides", 2, 1), _whole(fields, "dilations", 2, 1)
    entries = tuple(map(_level, levels, bandwidths[1:]))
    units = math.prod(n for entry in entries for n in entry.units)
    if units > MOST_UNITS:
        raise RowError(f"fan: {units} units in all; expected at most {MOST_UNITS} to execute")
    coupled = _list(fields, "coupled")
    if len(coupled) != len(TENSORS):
        raise RowError(f"coupled: got {len(coupled)} tensors, expected {len(TENSORS)}")
    inputs, filters, outputs = (_dims({"coupled": dims}, "coupled") for dims in coupled)
    return Nest(
        extents=extents,
        levels=entries,
        coupled=(inputs, filters, outputs),
        windows=(Window(stride[0], dilation[0]), Window(stride[1], dilation[1])),
        widths=(BITS,) * 4,
        dram=bandwidths[0],
        lanes=Lanes(any=_whole({"simd": [fields.get("simd")]}, "simd", 1, 1)[0]),
        rules=Rules(retain=bool(fields.get("retain", True))),
    )


def _level(fields: Any, port: Port | None) -> NestLevel:
    if not isinstance(fields, dict):
        raise RowError(f"levels: got {fields!r}, expected objects")
    order = _dims(fields, "order")
    if len(order) != len(DIMS):
        raise RowError(f"order: got {list(order)}, expected every dimension once")
    inputs, filters, outputs = map(bool, _whole(fields, "keeps", len(TENSORS), 0))
    tile, fan = (_whole(fields, name, len(DIMS), 1) for name in ("tile", "fan"))
    return NestLevel(tile, fan, order, (inputs, filters, outputs), port=port)


def _port(elements: tuple[int, ...]) -> Port | None:
    into, out = elements
    return Port(BITS * into, BITS * out) if into and out else None


def _list(fields: Mapping[str, Any], name: str) -> list[Any]:
    value = fields.get(name)
    if not isinstance(value, list):
        raise RowError(f"{name}: got {value!r}, expected a list")
    return value


def _whole(fields: Mapping[str, Any], name: str, count: int, least: int) -> tuple[int, ...]:
    """A list of so many whole numbers, none below `least`."""
    numbers = _list(fields, name)
    if len(numbers) != count or not all(isinstance(n, int) and n >= least for n in numbers):
        raise RowError(f"{name}: got {numbers}, expected {count} whole numbers from {least} on")
    return tuple(map(int, numbers))


def _dims(fields: Mapping[str, Any], name: str) -> tuple[int, ...]:
    """Different dimensions, by number."""
    dims = _list(fields, name)
    if len(set(map(str, dims))) != len(dims) or not all(d in range(len(DIMS)) for d in dims):
        raise RowError(f"{name}: got {dims}, expected different dimensions, 0 to {len(DIMS) - 1}")
    return tuple(dims)


def _counts(fields: dict[str, Any]) -> Counts:
    counts = fields.get("counts")
    if not isinstance(counts, dict) or not all(isinstance(n, int) for n in counts.values()):
        raise RowError(f"counts: got {str(counts)[:20]}, expected whole numbers by name")
    missing = [name for name in (*LATENCIES, "compute") if name not in counts]
    if missing:
        raise RowError(f"counts: no {missing[0]!r}; expected it beside {', '.join(LATENCIES)}")
    return counts


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
