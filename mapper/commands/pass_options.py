"""Options that say a language model's forward pass."""

from __future__ import annotations

from typing import Annotated

import typer

TokensOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Of a language model: new tokens of each sequence.", show_default="128"
    ),
]
CacheOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Of a language model: tokens of each sequence whose keys and values are cached.",
        show_default="0",
    ),
]
BatchOption = Annotated[
    int | None,
    typer.Option(min=1, help="Of a language model: sequences at once.", show_default="1"),
]
