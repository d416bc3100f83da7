"""Standard output as a terminal of so many columns."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

WIDTHS = (80, 100, 140)


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and keeps what it shows."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        """What is on it, without styles and blanks at the ends of lines."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.getvalue())
        return [line.rstrip() for line in plain.splitlines()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@contextmanager
def terminal(columns: int) -> Iterator[Terminal]:
    """Standard output is a terminal while the block runs."""
    stream = Terminal()
    size = {"COLUMNS": str(columns), "LINES": "40", "TERM": "xterm"}
    with patch.dict("os.environ", size), patch("sys.stdout", stream):
        yield stream
