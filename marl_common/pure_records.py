"""Records of a kernel whose source runs as it stands: fields in place in an array's memory.

NumPy's own records hide fields that are called like its methods; numbers are Python's here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Record:
    """One record in place; its fields are attributes.

    Args:
        held: NumPy's view of it.
    """

    def __init__(self, held: np.void) -> None:
        vars(self)["_held"] = held

    def __getattr__(self, name: str) -> Any:
        value = self._held[name]
        if isinstance(value, np.generic) and not isinstance(value, np.void):
            return value.item()
        return vars(self).setdefault(name, _in_place(value))

    def __setattr__(self, name: str, value: Any) -> None:
        self._held[name] = value._held if isinstance(value, Record) else value


class Records(Sequence[Record]):
    """Records in a row; they are looked up when they are first used.

    Args:
        held: ``(N,)`` array of them.
    """

    def __init__(self, held: NDArray[Any]) -> None:
        self._held = held
        self._known: dict[int, Record] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __getitem__(self, place: Any) -> Any:
        if place not in self._known:
            if not 0 <= place < len(self):
                raise IndexError(f"place {place} of {len(self)} records")
            self._known[place] = Record(self._held[place])
        return self._known[place]

    def __setitem__(self, place: int, record: Record) -> None:
        self._held[place] = record._held


def records_of(array: NDArray[Any]) -> Records:
    """The records of an array of any shape as the flat array that a kernel sees."""
    return Records(array.reshape(-1))


def _in_place(value: Any) -> Any:
    """A record, or an array inside of one: of one dimension in place, of more a tuple of such."""
    if isinstance(value, np.void):
        return Record(value)
    if value.ndim > 1:
        return tuple(map(_in_place, value))
    return value.data if value.dtype.names is None else Records(value)
