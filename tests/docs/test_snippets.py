"""Every snippet of the documentation runs.

Commands and programs run page by page, in order and in one folder, with small budgets. A comment
before a fence says otherwise:

- ``<!-- snippet: long -->``: runs only where LONG_SNIPPETS is set in the environment;
- ``<!-- snippet: part -->``: no whole program; it is parsed;
- ``<!-- snippet: elsewhere, WHY -->``: needs what a test has not, such as a cluster.
"""

import ast
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.programs import PROGRAMS, in_process

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
]
FENCE = re.compile(
    r"^(?:<!-- snippet: (?P<mark>\w+)[^>]*-->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
FEWER = {
    ("mapper", "search"): ["--budget", "60"],
    ("mapper", "compare"): ["--budget", "60", "--seeds", "1", "--workers", "1"],
    ("mapper", "cluster"): ["--samples", "200"],
    ("mapper", "explore"): ["--network", "mlp", "--designs", "3", "--workers", "1"],
    ("mapper", "--bound"): ["--workers", "1"],  # of explore, which has no designs then
    ("mapper", "--tokens"): ["--budget", "60", "--method", "random"],  # no proof of many layers
    ("mast", "train"): ["--steps", "250", "--episodes", "8", "--hidden", "64"],
    ("mast", "compare"): ["--steps", "250", "--episodes", "8", "--seeds", "1"],
    ("mast", "tickets"): ["--episodes", "8"],
    ("mast", "play"): ["--episodes", "8"],
    ("mst", "data"): ["--held-out", "packaging"],
    ("mpe-marl", "train"): ["--episodes", "20", "--warmup", "200"],
    ("mpe-marl", "profile"): ["--rows", "1500", "--batch", "64", "--repeats", "1"],
    ("mpe-marl", "compare"): ["--rows", "1500", "--batch", "64", "--repeats", "1"],
}
"""What makes a command quick; the last value of an option counts."""
SMALLER = {
    ("--network", "mobilenetv2"): "mlp",
    ("--methods", "all"): "random,ga",
    ("--vocabulary", "50257"): "300",
    ("--package", "numpy"): "typer",
    ("--package", "sympy"): "pluggy",
    ("--timeout", "5"): ".3",
    ("--timeout", "10"): ".3",
    ("--plot", "curve.png"): "curve.svg",
    ("-o", "returns.png"): "returns.svg",
}
"""Values of options that are replaced by smaller ones."""


@dataclass(frozen=True)
class Snippet:
    """One fenced block: what its fence says, and its text."""

    mark: str
    kind: str
    text: str


def snippets(page: Path) -> list[Snippet]:
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [Snippet(match["mark"] or "", match["kind"], match["text"]) for match in found]


def commands(snippet: Snippet) -> Iterator[list[str]]:
    """The command lines of a block: all lines, or those after a prompt where there is output."""
    if snippet.kind == "python":
        return
    lines = snippet.text.splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    for line in lines:
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        if words and words[0] in PROGRAMS:
            yield words


def run_command(words: list[str]) -> None:
    program, *rest = words
    key = next((word for word in ("--bound", "--tokens") if word in rest), rest[0])
    rest += FEWER.get((program, key), [])
    if rest[0] == "search" and "--out" not in rest:  # other commands read what is proven
        rest += ["--gap", "0.9"]
    rest = [SMALLER.get((before, word), word) for before, word in pairwise(["", *rest])]
    code, _, err = in_process([program, *rest])
    assert code == 0, f"{shlex.join(words)}: {err}"


def run_python(text: str, folder: Path) -> None:
    fewer = re.sub(r"budget=[\d_]+", "budget=200", text)
    if named := re.match(r"# (\w+)\.py\n", text):  # what later commands import
        (folder / f"{named[1]}.py").write_text(text, encoding="utf-8")
        assert (
            subprocess.run([sys.executable, "-c", f"import {named[1]}"], cwd=folder).returncode == 0
        )
        return
    if "__main__" in text:  # its workers import the file
        (folder / "snippet.py").write_text(fewer, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "snippet.py"], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return
    with redirect_stdout(io.StringIO()):
        exec(compile(fewer, "snippet", "exec"), {"__name__": "snippet"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_snippets_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for snippet in snippets(page):
        if snippet.mark == "elsewhere":
            continue
        if snippet.mark == "part":
            ast.parse(snippet.text)
            continue
        if snippet.mark == "long" and "LONG_SNIPPETS" not in os.environ:
            continue
        if snippet.kind == "yaml":
            assert yaml.safe_load(snippet.text)
        if snippet.kind == "python":
            run_python(snippet.text, tmp_path)
        for words in commands(snippet):
            run_command(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_mark_is_known_and_belongs_to_a_fence(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    marks = [snippet.mark for snippet in snippets(page) if snippet.mark]
    assert len(marks) == text.count("<!-- snippet:")
    assert set(marks) <= {"long", "part", "elsewhere"}
