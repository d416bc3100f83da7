"""Text from files and commands, made harmless: what a terminal would obey is written out."""

from __future__ import annotations

import re
import reprlib
import unicodedata

_OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode's categories of what is no sign: controls, format marks, surrogates, line separators."""

LONGEST = 200
"""Characters that a message shows of a value."""


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


def brief(value: object, quoted: bool = True) -> str:
    """A value for a message: as Python writes it, or else as text, at most 200 characters.

    Nothing is written out to be cut: a list of lists of lists is followed four levels deep.
    """
    text = _SHORT.repr(value) if quoted else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def shortened(text: str) -> str:
    """The text with every word of more than 200 characters cut in its middle."""
    return re.sub(
        rf"\S{{{LONGEST + 1},}}",
        lambda word: f"{word[0][:60]}...{word[0][-20:]} ({len(word[0]):,} characters)",
        text,
    )


class _Short(reprlib.Repr):
    """Python's own short form; thousands of digits are no error, and no address is shown."""

    def repr_int(self, value: int, level: int) -> str:
        digits = value.bit_length() * 0.302
        return repr(value) if digits < LONGEST else f"<a number of some {digits:.0f} digits>"

    def repr_instance(self, value: object, level: int) -> str:
        return re.sub(r" at 0x[0-9A-Fa-f]+", "", super().repr_instance(value, level))


_SHORT = _Short()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 4, LONGEST, LONGEST
