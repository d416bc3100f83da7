"""The addresses that fetching a mini-batch reads, in order, for each layout."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpe_marl.profiling.simulator import LINE
from mpe_marl.replay.layout import Layout
from mpe_marl.replay.lists import Lists
from mpe_marl.replay.state import StateLayout

_LIST_ITEMS = 24  # offset of a list object's pointer to its items (64-bit CPython)
_TUPLE_BYTES = 24 + 5 * 8
_OBJECT_BYTES = 24  # header of a float
_ARRAY_BYTES = 96

Lines = NDArray[np.int64]


def lines_of(layout: Layout, rows: NDArray[np.int64]) -> Lines:
    """Cache lines read by ``layout.gather(rows)``.

    Args:
        layout: A filled layout.
        rows: ``(B,)`` physical rows.

    Returns:
        ``(A,)`` addresses divided by the line size, in the order of the reads.
    """
    if isinstance(layout, Lists):
        return _spans(_of_lists(layout, rows.tolist()))
    spans: list[tuple[int, int]] = []
    tables = layout.tables
    if isinstance(layout, StateLayout):
        spans += _of_table(tables["states"], rows)
        after = (rows + layout.schema.streams) % layout.ring.rows
        slots = tables["final_slot"][rows]
        ends = slots >= 0
        spans += _of_table(tables["states"], after[~ends])
        spans += _of_table(tables["finals"], slots[ends])
        rest = [tables[k] for k in ("final_slot", "actions", "rewards", "done")]
    else:
        rest = list(tables.values())
    for table in rest:
        spans += _of_table(table, rows)
    return _spans(spans)


def _of_table(table: NDArray[Any], rows: NDArray[Any]) -> list[tuple[int, int]]:
    base, stride = table.ctypes.data, table.strides[0]
    return [(base + int(row) * stride, stride) for row in rows]


def _of_lists(layout: Lists, rows: list[int]) -> Iterable[tuple[int, int]]:
    """List slot, tuple, then each object and the numbers it holds."""
    for storage in layout.storage:
        items = ctypes.c_void_p.from_address(id(storage) + _LIST_ITEMS).value or 0
        for row in rows:
            entry = storage[row]
            yield items + 8 * row, 8
            yield id(entry), _TUPLE_BYTES
            for value in entry:
                if isinstance(value, np.ndarray):
                    yield id(value), _ARRAY_BYTES
                    yield value.ctypes.data, value.nbytes
                else:
                    yield id(value), _OBJECT_BYTES


def _spans(spans: Iterable[tuple[int, int]]) -> Lines:
    """Lines of (address, bytes) pieces."""
    pieces = np.array(list(spans), dtype=np.int64)
    first = pieces[:, 0] // LINE
    count = (pieces[:, 0] + np.maximum(pieces[:, 1], 1) - 1) // LINE - first + 1
    starts = np.repeat(first, count)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    lines: Lines = starts + within
    return lines
