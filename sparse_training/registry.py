"""Parts that are chosen by name: those of this project, and any class that can be imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

from marl_common import named, not_known
from sparse_training.errors import SparseTrainingError

Part = TypeVar("Part")
PLACE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


class NamedParts(Mapping[str, Callable[..., Part]], Generic[Part]):
    """Name -> what makes a part.

    Args:
        what: Kind of part, in messages.
        kind: The class that all parts derive from.
        members: The built-in ones.
    """

    def __init__(
        self, what: str, kind: type[Part], members: Mapping[str, Callable[..., Part]]
    ) -> None:
        self._what, self._kind, self._members = what, kind, dict(members)
        self.make = lru_cache(maxsize=256)(self._make)

    def __getitem__(self, name: str) -> Callable[..., Part]:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def _make(self, text: str) -> Part:
        """The part that a text names; equal texts give the same object.

        Args:
            text: ``NAME``, or ``module:Class`` of one's own, each with numbers behind if it takes
                any: ``mest:0.01``.

        Raises:
            SparseTrainingError: There is no such part, or it does not take these numbers.
        """
        name, *numbers = text.split(":")
        maker: Any = self._members.get(name)
        if maker is None and numbers and PLACE.fullmatch(f"{name}:{numbers[0]}"):
            name = f"{name}:{numbers.pop(0)}"
            maker = self._imported(name)
        if maker is None:
            known = [*self._members, "module:Class"]
            raise SparseTrainingError(not_known(self._what, text, known))
        try:
            return maker(*map(_number, numbers))  # type: ignore[no-any-return]
        except (TypeError, ValueError) as error:
            if isinstance(error, SparseTrainingError):
                raise
            raise SparseTrainingError(
                f"{self._what} {text!r}: {name} does not take {numbers or 'no numbers'} "
                f"({error}); write {name}:NUMBER for each number that it has."
            ) from None

    def _imported(self, place: str) -> type[Part]:
        try:
            found = named(place)
        except (ImportError, AttributeError) as error:
            raise SparseTrainingError(
                f"{self._what} {place!r} is not known and cannot be imported ({error}); expected "
                f"one of {', '.join(self._members)}, or module:Class of an installed package or of "
                "the working folder."
            ) from None
        if not (isinstance(found, type) and issubclass(found, self._kind)):
            raise SparseTrainingError(
                f"{self._what} {place!r}: expected a class derived from "
                f"{self._kind.__module__}.{self._kind.__name__}."
            )
        return found


def _number(text: str) -> float:
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
