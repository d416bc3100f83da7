"""What the progress display leaves on a terminal."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import pytest

from marl_runs.runner import live
from marl_runs.runner.context import Ended, Progress
from marl_runs.runner.progress import summary
from tests.mapper.toys import Walk
from tests.terminals import Terminal

COLUMNS = 80
CODES = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|(\r|\n)|([^\x1b\r\n])")


LONG = "resnet18.conv2/edge latency*energy*area " * 3
"""A name that is longer than a line."""


def screen(text: str) -> list[str]:
    """What a terminal of 80 columns shows after all that was written to it."""
    lines, row, column = [""], 0, 0
    for code, letter, control, sign in CODES.findall(text):
        if sign:
            if column == COLUMNS:
                row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
            lines[row] = lines[row].ljust(column)[:column] + sign + lines[row][column + 1 :]
            column += 1
        elif control == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif control == "\r":
            column = 0
        elif letter == "A":
            row = max(0, row - int(code or 1))
        elif letter == "K":
            assert code == "2"
            lines[row] = ""
        else:
            assert letter in "mhl", (code, letter)  # colours, and the cursor's looks
    return [line.rstrip() for line in lines if line.strip()]


@contextmanager
def shown(kind: type[Any]) -> Iterator[tuple[Any, Terminal]]:
    stream = Terminal()
    size = {"COLUMNS": str(COLUMNS), "LINES": "40", "TERM": "xterm"}
    with patch.dict("os.environ", size), patch.object(live, "LIVE_S", 0.0):
        yield kind(stream), stream


@pytest.mark.parametrize("kind", [live.BarReporter, live.LoneReporter])
@pytest.mark.parametrize("outcome", ["finished", "interrupted", "failed", "raised"])
def test_the_display_leaves_no_ghosts(kind: type[Any], outcome: str) -> None:
    alone = kind is live.LoneReporter
    runs = [Walk(seed, budget=10, label=LONG) for seed in range(1 if alone else 3)]
    ended = Ended(outcome, 9, 20.75, 1.0, 1.0, error="it broke")
    told = ["A sentence."]
    with shown(kind) as (reporter, stream), suppress(KeyboardInterrupt), reporter:
        reporter.total(len(runs))
        for run in runs:
            reporter.started(run)
        for done in range(10):
            for run in runs:
                reporter.moved(run, Progress(done, 1e9 * done, 0.5))
        reporter.note(told[0])
        assert len(screen(stream.getvalue())) > 1
        if outcome == "raised":  # a second Ctrl-C
            raise KeyboardInterrupt
        for run in runs:
            reporter.ended(run, ended)
            if outcome == "failed" or not alone:
                told.append(summary(run, ended))
    assert "".join("".join(screen(stream.getvalue())).split()) == "".join("".join(told).split())
