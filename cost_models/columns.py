"""Columns that are computed when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class LazyColumns(Mapping[str, T], Generic[T]):
    """A mapping from names to values that computes each value once, on first use.

    Args:
        names: The names, in order.
        compute: Gives the value of a name.
    """

    def __init__(self, names: tuple[str, ...], compute: Callable[[str], T]) -> None:
        self._names = names
        self._compute = compute
        self._values: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._values:
            if name not in self._names:
                raise KeyError(name)
            self._values[name] = self._compute(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"LazyColumns({', '.join(self._names)})"
