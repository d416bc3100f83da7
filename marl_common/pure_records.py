"""Records of a kernel whose source runs as it stands: fields in place in an array's memory.

NumPy's own records will not do: a field named ``size`` or ``fill`` is hidden behind a method, and a
place is read a hundred times slower. Numbers read from a record are Python's, so that what C would
wrap or divide by 0 is an error here, and so is a place behind the end of an array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Views = dict[str, Any]
"""Memoryviews of one memory as numbers of each kind, by NumPy's letter; "B": as bytes."""


class Record:
    """One record in place; its fields are attributes, in a class for each dtype."""

    def __init__(self, views: Views, start: int, dtype: np.dtype[Any]) -> None:
        self._views, self._start, self._size = views, start, dtype.itemsize

    def _take(self, other: Record) -> None:
        """Become a copy of another record."""
        own, theirs = (slice(r._start, r._start + r._size) for r in (self, other))
        self._views["B"][own] = other._views["B"][theirs]


class Records(Sequence[Record]):
    """Records in a row; they are looked up when they are first used.

    Args:
        views: The memory.
        start: Where the first begins in it [B].
        count: How many there are.
        dtype: What each is.
    """

    def __init__(self, views: Views, start: int, count: int, dtype: np.dtype[Any]) -> None:
        self._views, self._start, self._count, self._dtype = views, start, count, dtype
        self._known: dict[int, Record] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: Any) -> Any:
        found = self._known.get(place)
        if found is None:
            if not 0 <= place < self._count:
                raise IndexError(f"place {place} of {self._count} records")
            start = self._start + int(place) * self._dtype.itemsize
            found = self._known[place] = _class_of(self._dtype)(self._views, start, self._dtype)
        return found

    def __setitem__(self, place: int, record: Record) -> None:
        self[place]._take(record)


def records_of(array: NDArray[Any]) -> Records:
    """The records of an array of any shape as the flat array that a kernel sees.

    Args:
        array: C-contiguous, of a dtype with names and aligned fields.
    """
    views: Views = {}
    if array.size:
        views["B"] = array.reshape(-1).view(np.uint8).data
        for kind in _kinds(array.dtype):
            views[kind] = views["B"].cast(kind)
    return Records(views, 0, array.size, array.dtype)


def _kinds(dtype: np.dtype[Any]) -> set[str]:
    """Letters of all numbers in a record."""
    if dtype.fields is None:
        return {_kind(dtype)}
    return set().union(*(_kinds(field.base) for field, *_ in dtype.fields.values()))


def _kind(dtype: np.dtype[Any]) -> str:
    return "q" if dtype.char == "l" else "Q" if dtype.char == "L" else dtype.char


@cache
def _class_of(dtype: np.dtype[Any]) -> type[Record]:
    """The class of one kind of record."""
    made = type("Record", (Record,), {})
    for name, (field, offset, *_) in (dtype.fields or {}).items():
        if field.shape:
            held: Any = cached_property(_array_getter(field, offset))
        elif field.names is not None:
            held = _record_property(name, field, offset)
        else:
            held = _number_property(_kind(field), offset, field.itemsize)
        setattr(made, name, held)
        if isinstance(held, cached_property):
            held.__set_name__(made, name)
    return made


def _number_property(kind: str, offset: int, size: int) -> property:
    def read(record: Record) -> Any:
        return record._views[kind][(record._start + offset) // size]

    def write(record: Record, value: Any) -> None:
        record._views[kind][(record._start + offset) // size] = value

    return property(read, write)


def _record_property(name: str, dtype: np.dtype[Any], offset: int) -> property:
    def read(record: Record) -> Record:
        held = vars(record)
        if name not in held:
            held[name] = _class_of(dtype)(record._views, record._start + offset, dtype)
        found: Record = held[name]
        return found

    def write(record: Record, value: Record) -> None:
        read(record)._take(value)

    return property(read, write)


def _array_getter(dtype: np.dtype[Any], offset: int) -> Callable[[Record], Any]:
    def read(record: Record) -> Any:
        return _array(record._views, record._start + offset, dtype.shape, dtype.base)

    return read


def _array(views: Views, start: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """An array inside a record: of one dimension in place, of more a tuple of such."""
    if len(shape) > 1:
        step = math.prod(shape[1:]) * dtype.itemsize
        return tuple(_array(views, start + i * step, shape[1:], dtype) for i in range(shape[0]))
    if dtype.names is not None:
        return Records(views, start, shape[0], dtype)
    first = start // dtype.itemsize
    return views[_kind(dtype)][first : first + shape[0]]
