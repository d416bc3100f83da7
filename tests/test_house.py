"""How the source is kept: names that mean one thing, and functions that can be read."""

import json
import re
import subprocess
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "marl_common", "marl_runs", "layers", "cost_models", "maestro_env", "baselines", "mapper",
    "marl_mapper", "mpe_marl", "mst", "sparse_training", "mast",
)  # fmt: skip
PARALLEL = {
    *(("cost_models", f"{name}.py") for name in ("kernel", "layout", "model", "tables")),
    *(("mapper", f"{name}.py") for name in ("kernel", "searcher")),
}
"""File names that several implementations of one interface share."""
COMPLEX, SHARE = 10, 0.015
"""Cyclomatic complexity that at most such a share of the functions exceeds."""


CLASS = re.compile(r"^ *class (\w+)[:(\[]", re.MULTILINE)


def test_a_name_stands_for_one_thing() -> None:
    """A file's in its package, and a class's in all of them."""
    found: dict[object, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("[!_]*.py"):
            name = path.relative_to(ROOT).as_posix()
            found[package, path.name].append(name)
            for title in CLASS.findall(path.read_text(encoding="utf-8")):
                found[title].append(name)
    twice = {name: paths for name, paths in found.items() if len(paths) > 1}
    assert {name for name in twice if name not in PARALLEL} == set(), twice


def test_few_functions_are_complex() -> None:
    """None is above 20: that is a rule of `ruff check` itself."""
    if find_spec("ruff") is None:
        pytest.skip("needs ruff (extra dev)")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=C901", "--exit-zero"]
    options = ["--config=lint.mccabe.max-complexity=0", "--output-format=json"]  # names all
    done = subprocess.run(
        [*command, *options, *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = [re.search(r"\((\d+) > 0\)", row["message"]) for row in json.loads(done.stdout)]
    assert sum(int(one[1]) > COMPLEX for one in found) <= SHARE * len(found)


SAMPLE = '''"""A docstring
of two lines."""
import numpy as np  # counts

SIZE: dict[str, 7] = {}
"""A text that stands alone."""


class Thing:
    def method(self, a, b, c, d, e, f, *rest, **options):
        # a comment
        text = """code of
two lines"""
        if a and b:
            return rest[3] + rest[SIZE] + text[1] + c.shape[2]
        for _ in d:
            try:
                e[lower](f[2:4])
            except KeyError:
                pass
        return options
'''


def test_the_counter_of_the_house_counts_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "pack" / "below").mkdir(parents=True)
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "below" / "thing.py").write_text(SAMPLE)
    command = [sys.executable, "-m", "benchmarks", "house", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    head, _, *rows = (line.strip("| ").split(" | ") for line in done.stdout.splitlines())
    assert head[1:] == ["lines", "modules", "longest", "functions", "many", "most", "indices"]
    assert rows == [
        ["pack", "14", "2", "14", "1", "1", "0", "3"],
        ["pack.below", "14", "1", "14", "1", "1", "0", "3"],
    ]


def test_mapper_keeps_no_module_beside_its_folders_and_no_folder_of_one_or_two() -> None:
    mapper = ROOT / "mapper"
    assert {path.name for path in mapper.glob("*.py")} == {"__init__.py", "__main__.py", "cli.py"}
    for init in mapper.glob("*/__init__.py"):
        assert len(list(init.parent.glob("[!_]*.py"))) >= 3, init.parent
