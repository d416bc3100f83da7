"""The site fits together; `make docs` builds it, runs its notebooks, and follows its links."""

import ast
import importlib
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def make_reference():
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module("make_reference")
    sys.path.remove(str(DOCS))


def test_every_page_is_listed_once(make_reference):
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^([\w/-]+)$", index, re.MULTILINE)
    folders = (DOCS, DOCS / "tutorials", DOCS / "notebooks")
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for folder in folders
        for path in folder.iterdir()
        if path.suffix in (".md", ".ipynb")
    }
    reference = {f"reference/{package}" for package in make_reference.PACKAGES}
    reference |= {f"reference/cli-{name}" for name in make_reference.PROGRAMS}
    assert sorted(listed) == sorted((pages - {"index"}) | reference)


def test_the_reference_has_every_package_and_every_name(make_reference):
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    roots = re.search(r"\[tool.importlinter\]\nroot_packages = \[(.*?)\]", settings, re.DOTALL)
    assert set(re.findall(r'"(\w+)"', roots[1])) == set(make_reference.PACKAGES)
    for package in ("marl_mapper", "layers"):
        page = "".join(make_reference.package_page(package))
        for name in importlib.import_module(package).__all__:
            assert f":: {package}.{name}\n" in page
    assert "input, filter, output" in "".join(make_reference.package_page("layers"))


def test_the_command_reference_has_every_option(make_reference):
    page = "".join(make_reference.program_page("mapper"))
    for words in ("## mapper search", "`--layer`, `-l`", "`--objective`, `-o`", "## mapper report"):
        assert words in page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_output(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code
    for cell in code:
        ast.parse("".join(cell["source"]))
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
