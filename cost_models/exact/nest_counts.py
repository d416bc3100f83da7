"""The counts of one nest by name, as the simulator gives them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models.cost_model import CostModelError
from cost_models.exact.nest import Nest
from cost_models.exact.nest_record import record_of
from cost_models.exact.records import COUNTED, TOO_LARGE_TILES, Counts, Work
from cost_models.exact.row_records import CountRow


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
        ``(1,)`` of :data:`cost_models.exact.row_records.CountRow`.
    """
    from cost_models.exact.kernel import name_counts

    record, rows = np.zeros(1, Counts), np.zeros(1, CountRow)
    for name, number in counts.items():
        word = WORDS[name]
        record.view(np.int64)[word] = number
    name_counts(WORK.records, record_of(nest), record, rows)
    return rows
