"""Standard output and error as they may be: closed, full, or unable to show a sign."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys

PLAIN = "plain signs"
"""Name of the error handler that writes what an encoding lacks in its nearest letters."""

SIGNS = str.maketrans({
    "µ": "u", "²": "^2", "·": "*", "✓": "ok", "✗": "no", "…": "...", "─": "-", "≤": "<=",
    "≥": ">=", "\N{MULTIPLICATION SIGN}": "x", "\N{EN DASH}": "-",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
})  # fmt: skip
"""Signs that commands print, in ASCII."""


STDOUT = "standard output"
"""What messages call it."""


class OutputClosedError(OSError):
    """Standard output was closed before the command began."""


def prepare() -> None:
    """Make standard output and error take every text.

    Signs that the encoding lacks are written in ASCII (``um^2``), and others as escapes.

    Raises:
        OutputClosedError: Standard output is closed.
    """
    codecs.register_error(PLAIN, _in_ascii)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it stands in for the process's own
    if sys.stdout is None:
        raise OutputClosedError("standard output is closed; redirect it to /dev/null instead")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=PLAIN)


def flush() -> None:
    """Write what standard output still holds.

    Raises:
        OSError: It cannot be written, such as to a full disk; nothing is held any more.
    """
    try:
        sys.stdout.flush()
    except OSError:
        # what it holds goes nowhere, so that the end of the process does not try again
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        raise


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(SIGNS)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end
