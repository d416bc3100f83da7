"""Mistakes put into the packages, one at a time, and whether the test that is named finds each.

    python -m benchmarks mutations
    python -m benchmarks mutations --packages mapper layers --out some.csv

`mutations.toml` has them. A copy of the checkout has one at a time, and its test runs there; all
these tests must pass in a copy without a mistake first. Mistakes of the exact model's kernel are
found by nests instead, see `tests/cost_models/mutations.py`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import pytest

from benchmarks.frame import Row, Table, refuse

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "_build")
LOADED = ("gymnasium", "hypothesis.strategies", "numpy", "scipy.stats", "torch", "yaml")
"""What tests need of others, loaded once for all."""
PASSED, FAILED = 0, 1
"""Exit codes of pytest; others say that no test ran."""


@dataclass(frozen=True)
class Mutation:
    """A text of a file that is wrong.

    Args:
        file: The file, from the root on.
        wrong: What is wrong then.
        old: Text of the file; it occurs once.
        new: What stands there instead.
        test: The test that fails then.
        nest: Of the exact model's kernel: number of a nest that finds it, or of a mapping.
        two_levels: Whether mappings of two levels find it, and nests do not.
    """

    file: str
    wrong: str
    old: str
    new: str
    test: str = ""
    nest: int = -1
    two_levels: bool = False

    @property
    def module(self) -> str:
        """The file's name without its folder."""
        return Path(self.file).stem

    def changed(self, text: str) -> str:
        """The file's text with the mistake.

        Raises:
            AssertionError: The text that is wrong does not occur once, so that it would miss.
        """
        times = text.count(self.old)
        assert times == 1, f"{self.file}: {self.old!r} occurs {times} times"
        return text.replace(self.old, self.new)


@cache
def mutations() -> tuple[Mutation, ...]:
    """All of them."""
    found = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return tuple(Mutation(file, **one) for file, some in found.items() for one in some)


@cache
def copied() -> tempfile.TemporaryDirectory[str]:
    """A copy of the checkout, its compiled files too."""
    folder = tempfile.TemporaryDirectory()
    shutil.copytree(ROOT, folder.name, ignore=LEFT_OUT, dirs_exist_ok=True)
    return folder


def code_of(tests: list[str]) -> int | None:
    """Run tests in the copy: pytest's exit code."""
    child = get_context("fork").Process(target=_run, args=(copied().name, tests))
    child.start()
    child.join()
    return child.exitcode


def _run(folder: str, tests: list[str]) -> None:
    """Run tests in a folder, with none of the project's modules of this process."""
    os.chdir(folder)
    sys.path[:] = [place for place in sys.path if Path(place).resolve() != ROOT]
    ours = {path.name for path in ROOT.iterdir()}
    for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
        del sys.modules[name]
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    os._exit(int(pytest.main(["-qx", "-p", "no:cacheprovider", *tests])))


def keys(given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for name in LOADED:
        import_module(name)
    some = [one for one in mutations() if one.test]
    if given.packages:
        some = [one for one in some if one.file.partition("/")[0] in given.packages]
    if code_of(list(dict.fromkeys(one.test for one in some))) != PASSED:
        refuse("mutations: a test fails without a mistake; mend it first")
    yield from ((one.file, one.wrong) for one in some)


def tried(given: argparse.Namespace, file: str, wrong: str) -> tuple[str, bool]:
    """Whether its test finds a mistake."""
    (change,) = (one for one in mutations() if (one.file, one.wrong) == (file, wrong))
    path = Path(copied().name, file)
    path.write_text(change.changed(path.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        return change.test, code_of([change.test]) == FAILED
    finally:
        shutil.copy2(ROOT / file, path)


def told(rows: list[Row], given: argparse.Namespace) -> bool:
    found = Counter(row["found"] for row in rows)
    print(f"{found['True']} of {found.total()} mistakes are found")
    return found["True"] < found.total()


TABLE = Table(
    __doc__,
    ("file", "wrong", "test", "found"),
    keys,
    tried,
    "mutations.csv",
    options={"packages": ([str], "those of these packages alone")},
    told=told,
)
