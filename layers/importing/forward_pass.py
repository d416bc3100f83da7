"""One forward pass of a transformer: how many tokens it takes, and what it has cached."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from layers.importing.errors import ImportingError
from layers.layer import MAX_EXTENT
from marl_common import brief, suggest

TOKENS = 128
"""New tokens of a sequence, where none are given."""
_LEAST = {"tokens": 1, "cache": 0, "batch": 1}


@dataclass(frozen=True)
class ForwardPass:
    """One forward pass: prefill without a cache, decode with one.

    Args:
        tokens: New tokens of each sequence.
        cache: Tokens of each sequence whose keys and values are in DRAM already.
        batch: Sequences.

    Raises:
        ImportingError: A number is none, too small or too large.
    """

    tokens: int = TOKENS
    cache: int = 0
    batch: int = 1

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value: Any = getattr(self, name)
            if type(value) is not int or not least <= value <= MAX_EXTENT:
                raise ImportingError(
                    f"{name}: got {brief(value)}, expected a whole number from {least} to "
                    f"{MAX_EXTENT}"
                )

    @classmethod
    def parse(cls, text: str) -> ForwardPass:
        """Read ``tokens=1,cache=2048,batch=8``, each of which may be left out.

        Raises:
            ImportingError: A name is unknown or given twice, or a value is wrong.
        """
        given: dict[str, Any] = {}
        for part in text.split(","):
            name, _, value = part.partition("=")
            if name not in _LEAST:
                raise ImportingError(
                    f"{part!r}: expected tokens=N, cache=N or batch=N.{suggest(name, _LEAST)}"
                )
            if name in given:
                raise ImportingError(f"{name}: given twice; give it once")
            digits = value.isascii() and value.isdecimal() and len(value) < 20
            given[name] = int(value) if digits else value
        return cls(**given)

    def __str__(self) -> str:
        """What :meth:`parse` reads, without what is left at its default; may be empty."""
        own = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return ",".join(f"{name}={value}" for name, value, usual in own if value != usual)

    @property
    def context(self) -> int:
        """Keys of each sequence once the new tokens are there."""
        return self.cache + self.tokens

    @property
    def new_tokens(self) -> int:
        """New tokens of all sequences."""
        return self.batch * self.tokens
