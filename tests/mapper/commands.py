"""Commands of ``mapper``, run in this process."""

import json
import os
import shlex
import signal
import time
from typing import Any

import pytest
from typer.testing import CliRunner

from mapper import cli
from marl_runs import Context


def said(line: str, *more: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a line and more words of it.

    An exception goes on.
    """
    result = CliRunner().invoke(cli.app, [*shlex.split(line), *more])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def printed(line: str, *more: str, code: int = 0) -> str:
    """What a command prints that ends well, or with another code."""
    ended, out, err = said(line, *more)
    assert ended == code, err
    return out


def refused(line: str, *more: str, code: int = 2) -> str:
    """What a command says that ends with another code and prints nothing; a line where it is 2."""
    ended, out, err = said(line, *more)
    assert (ended, out) == (code, ""), out + err
    assert code != 2 or err.count("\n") == 1, err
    return err


def json_of(line: str, *more: str) -> Any:
    """What a command that ends well prints as JSON."""
    return json.loads(printed(line, *more, "--json"))


def stopping(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Ctrl-C arrives with the batch that brings a search to so many samples."""
    before = Context.record

    def record(self: Context, actions: Any, values: Any) -> None:
        before(self, actions, values)
        if self.done >= after:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.25)  # progress is told, and a stop looked for, five times a second
            self.progress(self.done)

    monkeypatch.setattr(Context, "record", record)
