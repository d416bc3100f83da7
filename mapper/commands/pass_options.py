"""Options that say a language model's forward pass."""

from __future__ import annotations

from dataclasses import dataclass

from marl_common import option


@dataclass(frozen=True)
class PassOptions:
    """The forward pass of a language model.

    Attributes:
        tokens: Of a language model: new tokens of each sequence.
        cache: Of a language model: tokens of each sequence whose keys and values are cached.
        batch: Of a language model: sequences at once.
    """

    tokens: int | None = option(None, kind=int, low=1, shown="128")
    cache: int | None = option(None, kind=int, low=0, shown="0")
    batch: int | None = option(None, kind=int, low=1, shown="1")
