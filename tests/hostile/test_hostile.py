"""Hostile command lines end in one line that says what, expected, fix: no traceback, no half file.

Rows are in ``rows/``; a new module there with a list `ROWS` is picked up by itself.
"""

import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from typer.main import get_command

import tests.hostile.rows
from tests.hostile.rows import Row
from tests.programs import PROGRAMS, in_process

ROWS: list[Row] = [
    row
    for module in pkgutil.iter_modules(tests.hostile.rows.__path__)
    for row in importlib.import_module(f"tests.hostile.rows.{module.name}").ROWS
]


def in_bash(command: str, folder: Path) -> tuple[int | None, str, str]:
    """The same of a command line that bash runs."""
    programs = Path(sys.executable).parent
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.timeout(60)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words[:70])
def test_it_is_refused_in_one_line(row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in row.env.items():
        monkeypatch.setenv(name, value)
    for name, content in row.files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = (
        in_bash(row.words, tmp_path) if row.process else in_process(shlex.split(row.words))
    )
    assert "Traceback" not in err
    assert (code, out) == (row.code, ""), err
    assert re.search(row.says, err), err
    assert err.startswith("error: ")
    assert err.count("\n") == 1, err
    assert len(err) < 2000
    assert "this is a fault of" not in err
    left = {path.name for path in tmp_path.rglob("*")} - {"__pycache__"}
    assert left == set(row.files)


def commands() -> Iterator[tuple[str, Any]]:
    """Every command of every program by its words, with what typer knows of it."""
    for program, module in PROGRAMS.items():
        found = [(program, get_command(importlib.import_module(module).app))]
        while found:
            words, command = found.pop()
            if not hasattr(command, "list_commands"):
                yield words, command
                continue
            context = click.Context(command)
            names = command.list_commands(context)
            found += [(f"{words} {name}", command.get_command(context, name)) for name in names]


def test_every_command_has_a_row() -> None:
    """Of every program, and none of them too few."""
    for words, _ in commands():
        assert any(f"{row.words} ".startswith(f"{words} ") for row in ROWS), words
    assert len(ROWS) > 400


UNBOUNDED = ("--explore-steps",)
"""Options of whole numbers of either sign."""


def test_every_option_of_whole_numbers_refuses_what_is_out_of_its_range() -> None:
    seen = set()
    for words, command in commands():
        for option in command.params:
            kind, given = option.type_descriptor.annotation, option.type_descriptor.parameter_info
            name, limits = option.opts[0], (given.min, given.max)
            if kind is not int or name in UNBOUNDED or (words.split()[0], name, limits) in seen:
                continue
            seen.add((words.split()[0], name, limits))
            assert given.min is not None, f"{words} {name}"
            for wrong in [given.min - 1] + ([] if given.max is None else [given.max + 1]):
                code, out, err = in_process([*words.split(), name, str(wrong)])
                assert (code, out) == (2, ""), err
                assert err.startswith(f"error: {name}: got '{wrong}'"), err


def test_no_row_is_there_twice() -> None:
    assert len({(r.words, *r.files.items(), *r.env.items()) for r in ROWS}) == len(ROWS)
