"""Commands of the four programs, given in this process."""

import importlib
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = {
    "mapper": "mapper.cli", "mpe-marl": "mpe_marl.cli", "mast": "mast.cli", "mst": "mst.cli",
}  # fmt: skip
"""The module of each program."""


def python(code: str, *words: str, folder: Path | None = None, **environment: str) -> str:
    """What code prints in a process of its own, which must end well."""
    paths = {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True,
        env={**os.environ, **paths, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_process(words: list[str]) -> tuple[int | None, str, str]:
    """Exit code, standard output and standard error of a command line."""
    module = PROGRAMS[words[0]]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        importlib.import_module(module).main(words[1:])
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))
    return end.value.code, *texts


def give(*words: object, code: int = 0) -> str:
    """What a command prints that ends with an exit code: its errors where that is not 0."""
    found, out, err = in_process([str(word) for word in words])
    assert (found or 0) == code, err
    return err if code else out


def answer(*words: object) -> Any:
    """What a command answers as JSON."""
    return json.loads(give(*words, "--json"))
