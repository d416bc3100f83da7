"""What a long search remembers: the newest of many keys, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class NestMemory:
    """Keys of loop nests, each with a value; the oldest are forgotten.

    The last 2^20 keys are there always, and up to as many before them: some 250 MB at most.
    """

    MOST = 1 << 20

    def __init__(self, keys: Iterable[int] = ()) -> None:
        self._new: dict[int, float] = {}
        self._old: dict[int, float] = {}
        self.update(keys)

    def __contains__(self, key: object) -> bool:
        return key in self._new or key in self._old

    def __len__(self) -> int:
        return len(self._new) + sum(key not in self._new for key in self._old)

    def __iter__(self) -> Iterator[int]:
        yield from (key for key in self._old if key not in self._new)
        yield from self._new

    def add(self, key: int, value: float = 0.0) -> None:
        """Remember a key."""
        self._new[key] = value
        if len(self._new) >= self.MOST:
            self._old, self._new = self._new, {}

    def update(self, keys: Iterable[int]) -> None:
        """Remember several keys."""
        for key in keys:
            self.add(key)

    def value(self, key: int, default: float) -> float:
        """The value of a key, or the default where it is not known or forgotten."""
        found = self._new.get(key)
        return self._old.get(key, default) if found is None else found
