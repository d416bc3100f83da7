"""Edits of what a file holds."""

from collections.abc import Callable
from typing import Any

Edit = Callable[[Any], None]


def set_at(*path: Any) -> Edit:
    """An edit that sets the value at a path, the last of the words."""
    *way, last, value = path

    def edit(data: Any) -> None:
        for name in way:
            data = data[name]
        data[last] = value

    return edit


def both(*edits: Edit) -> Edit:
    def edit(data: Any) -> None:
        for one in edits:
            one(data)

    return edit
