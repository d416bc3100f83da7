"""Typed errors: what was given, what was expected, what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from sparse_training import NamedParts

Part = TypeVar("Part")


class MstError(ValueError):
    """A value this package cannot work with; the message says what, expected and fix."""


class CorpusError(MstError):
    """Text that is not there, not enough, or not the one that a run began with."""


class MissingTokenizersError(ImportError):
    """The library of byte-pair tokenizers is not installed."""


class NotFiniteError(RuntimeError):
    """A loss that is no number: the run has failed, and nothing is tried again."""


class TeamError(RuntimeError):
    """A process that shared a run was lost."""


def made_by_name(where: str, known: NamedParts[Part], text: str) -> Part:
    """Make a part that a text names.

    Args:
        where: Start of the message, such as ``"phase ultra"``.
        known: The parts there are.
        text: The name.

    Raises:
        MstError: There is no such part.
    """
    try:
        return known.make(text)
    except ValueError as error:
        raise MstError(f"{where}: {error}") from None
