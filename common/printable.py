"""Text from files and commands, made harmless: what a terminal would obey is written out."""

from __future__ import annotations

import unicodedata

_OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode's categories of what is no sign: controls, format marks, surrogates, line separators."""


def printable(text: object) -> str:
    r"""The text in one line, where every character can be seen.

    Control characters (an escape byte that would colour a terminal or move its cursor, a line
    break), marks that turn the direction of writing, and lone surrogates, which no stream can
    encode, become escapes such as ``\x1b``.

    Args:
        text: A name, a value or a message; anything else by its ``str``.
    """
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in _OBEYED else char
        for char in str(text)
    )
