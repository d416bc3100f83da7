"""A dict some of whose values are made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import partial
from typing import Any


class LazyInfo(dict[str, Any]):
    """An info whose costly values are made on first use; copies and pickles are plain dicts.

    Args:
        known: The values that are there.
        later: How to make the others, by key.
    """

    def __init__(self, known: Mapping[str, Any], later: Mapping[str, Callable[[], Any]]) -> None:
        super().__init__(known)
        self._later = dict(later)

    def __missing__(self, key: str) -> Any:
        value = self._later.pop(key)()
        self[key] = value
        return value

    def extended(self, extra: Mapping[str, Any]) -> LazyInfo:
        """This info with some keys replaced or added; what is made later is made once for both."""
        known = dict(dict.items(self))
        return LazyInfo({**known, **extra}, {key: partial(self.get, key) for key in self._later})

    def _whole(self) -> LazyInfo:
        for key in list(self._later):
            self[key]
        return self

    def __contains__(self, key: object) -> bool:
        return key in self._later or super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self._whole())

    def __len__(self) -> int:
        return dict.__len__(self._whole())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazyInfo):
            other._whole()
        return dict.__eq__(self._whole(), other)

    __hash__ = None

    def __repr__(self) -> str:
        return dict.__repr__(self._whole())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.copy(),)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self[key] if key in self else default  # noqa: SIM401 - dict.get makes nothing

    # The views are of the plain dict that is made now, which mypy takes for other types.
    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """All keys."""
        return dict.keys(self._whole())

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """All values."""
        return dict.values(self._whole())

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """All keys with their values."""
        return dict.items(self._whole())

    def pop(self, key: str, *default: Any) -> Any:
        """Take a key out and give its value."""
        return dict.pop(self._whole(), key, *default)

    def copy(self) -> dict[str, Any]:
        """A plain dict of all keys."""
        return dict(dict.items(self._whole()))
