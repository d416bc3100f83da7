"""A nest through the kernel: its record in, its counts by name out, as the simulator gives them."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.cost_model import CostModelError
from cost_models.exact import records
from cost_models.exact.nest import FILTER, INPUT, OUTPUT, Nest, NestLevel, P, Port, Q, R, S, Window
from cost_models.exact.records import COUNTED, DIMS, TENSORS, TOO_LARGE_TILES, Counts, Work


def record_of(nest: Nest, every: bool = False, units: int | None = None) -> NDArray[Any]:
    """The record of a nest, ``(1,)`` of :data:`cost_models.exact.records.Nest`.

    Args:
        nest: The nest.
        every: Count also what no figure needs.
        units: MACs of the chip. Given, cycles of ports without a limit are left out where no port
            of such a chip can bind; but for them counts are the same.

    Raises:
        CostModelError: The chain has more than 12 entries.
    """
    if len(nest.levels) > records.ENTRIES:
        raise CostModelError(
            f"nest: got {len(nest.levels)} entries, expected at most {records.ENTRIES}"
        )
    unit = _unit(nest)
    found = np.zeros(1, records.Nest)
    record = found[0]
    record["extents"], record["depth"] = nest.extents, len(nest.levels)
    record["lanes"] = nest.lanes.any
    record["coupled"] = [_mask(dims) for dims in nest.coupled]
    *widths, partial = (width // unit for width in nest.widths)
    record["widths"], record["partial"], record["unit"] = widths, partial, unit
    record["retain"], record["whole_tiles"] = nest.rules.retain, nest.rules.whole_tiles
    record["stepwise"], record["every"] = nest.rules.stepwise, every
    record["resident"] = _mask(t for t in range(TENSORS) if nest.resident[t])
    for place, (window, taps) in enumerate(zip(nest.windows, (R, S), strict=True)):
        _fill_window(record["windows"][place], window, nest.extents[taps])
    for place, level in enumerate(nest.chain):
        _fill_level(record["levels"][place], level, unit)
        port = level.port
        unlimited = port is not None and port.read is None and port.write is None
        if units is not None and unlimited and _never_binds(nest, units):
            record["levels"][place]["spare"] = True
    return found


def _never_binds(nest: Nest, units: int) -> bool:
    """Whether a port of `UNLIMITED` bits a cycle is faster than the MACs below it, come what may.

    A tile has at most as many elements of a tensor as MACs, of inputs for each row and column that
    one MAC reaches; so for each level inside a port, a cycle of all MACs moves no more than that.
    First tiles, before all cycles, are at most the tensors.
    """
    if not nest.rules.stepwise or any(window.real is not None for window in nest.windows):
        return False
    inputs, filters, _, psum = nest.widths
    reach = math.prod(window.stride + window.dilation for window in nest.windows)
    cycle = units * (reach * inputs + filters + 2 * psum)
    first = filters * math.prod(nest.extents[d] for d in nest.coupled[FILTER])
    inputs *= math.prod(nest.extents[d] for d in nest.coupled[INPUT] if d not in (P, Q, R, S))
    for window, output, tap in zip(nest.windows, (P, Q), (R, S), strict=True):
        outputs, taps = nest.extents[output] - 1, nest.extents[tap] - 1
        inputs *= window.stride * outputs + window.dilation * taps + 1
    return (len(nest.levels) + 1) * max(cycle, first + inputs) <= records.UNLIMITED


def _unit(nest: Nest) -> int:
    """The most bits that divide all widths and rates: with it sums stay small."""
    ports = [level.port for level in nest.chain if level.port is not None]
    rates = [rate for port in ports for rate in (port.read, port.write) if rate is not None]
    return math.gcd(records.UNLIMITED, *nest.widths, *rates)


def _mask(numbers: Iterable[int]) -> int:
    return sum(1 << n for n in numbers)


def _fill_window(record: Any, window: Window, taps: int) -> None:
    """Write how outputs and taps touch rows; rows that a common divisor skips are left out."""
    divisor = 1 if window.box else math.gcd(window.stride, window.dilation)
    record["stride"], record["dilation"] = window.stride // divisor, window.dilation // divisor
    record["box"] = window.box
    record["live"] = taps > 1 or window.real is not None or (window.box and window.stride > 1)
    if window.real is not None:
        record["padded"] = True
        record["low"], record["high"] = (-(-bound // divisor) for bound in window.real)


def _fill_level(record: Any, level: NestLevel, unit: int) -> None:
    record["tile"], record["units"], record["order"] = level.tile, level.units, level.order
    record["keeps"] = _mask(t for t in range(TENSORS) if level.keeps[t])
    for tensor in range(TENSORS):
        shares = level.reduce if tensor == OUTPUT else level.multicast
        record["alone"][tensor] = _mask(d for d in range(DIMS) if not shares[d])
    port = level.port or Port()
    record["port"], record["both"] = level.port is not None, port.shared
    record["read"], record["write"] = (
        (records.UNLIMITED if rate is None else rate) // unit for rate in (port.read, port.write)
    )
    record["copies"], record["joined"] = level.copies, level.joined
    record["shared_bits"] = -1 if level.shared_bits is None else level.shared_bits
    record["own_bits"] = [-1 if bits is None else bits for bits in level.own_bits]


class WorkSpace(threading.local):
    """Where the kernel works: each thread has records of its own, and keeps them."""

    def __init__(self) -> None:
        self.records = np.zeros(1, Work)


WORK = WorkSpace()


def _names(record: Any) -> Iterator[str]:
    for field in record.names:
        kind = record[field]
        for place in np.ndindex(kind.shape):
            at = "/".join(map(str, place))
            if kind.base.names:
                yield from (said.format(at) for said in _PASSED)
            else:
                yield f"{field}/{at}" if at else field.replace("_", "/")


_PASSED = ("in/{}", "out/{}", "busy/{}/in", "busy/{}/out", "bind/{}/in", "bind/{}/out")
"""What passes a port, in the order of the record's fields."""
NAMES = tuple(_names(Counts))
"""The simulator's name for the count in each word of the kernel's record."""
WORDS = {name: word for word, name in enumerate(NAMES)}


def count(nest: Nest) -> dict[str, int]:
    """Count a nest in closed form.

    Args:
        nest: The nest, of any size.

    Returns:
        Counts by name, as :func:`cost_models.exact.simulator.simulate`; those of 0 are left out.

    Raises:
        CostModelError: A tile does not fit its level, or a dimension has more different steps than
            the kernel takes.
    """
    from cost_models.exact.kernel import count_nests

    work, counts, status = WORK.records, np.zeros(1, Counts), np.zeros(1, np.int64)
    count_nests(work, record_of(nest, every=True), counts, status, 1)
    if status[0] == TOO_LARGE_TILES:
        raise CostModelError(f"level {work[0]['full']}: its tiles need more than its capacity")
    if status[0] != COUNTED:
        raise CostModelError("a dimension has too many different steps; choose tiles that divide")
    words = counts.view(np.int64)
    found = {NAMES[word]: int(words[word]) for word in np.flatnonzero(words)}
    found["stepwise" if nest.rules.stepwise else "bound"] = found.pop("latency")
    return {name: number for name, number in found.items() if not name.startswith("bits/")}


def two_level_row(nest: Nest, counts: Mapping[str, int]) -> NDArray[Any]:
    """Counts of a nest of two levels by the names that costs have.

    Args:
        nest: The nest.
        counts: Its counts by the simulator's names, with ``latency``, and ``bits/m`` of each level.

    Returns:
        ``(1,)`` of :data:`cost_models.exact.records.CountRow`.
    """
    from cost_models.exact.kernel import name_counts

    record, rows = np.zeros(1, Counts), np.zeros(1, records.CountRow)
    words = [WORDS[name] for name in counts]
    record.view(np.int64)[words] = [*counts.values()]
    name_counts(WORK.records, record_of(nest), record, rows)
    return rows
