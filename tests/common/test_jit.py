"""Kernels compile where nothing can be cached: everywhere, not only where the helper is tested."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from numba import njit
from numba.core import caching

from marl_common.jit import compiled, entry_point, source_stamp

ROOT = Path(__file__).parents[2]
_SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
SOURCES = [
    path
    for package in _SETUP["packages"]
    for path in sorted((ROOT / package.replace(".", "/")).glob("*.py"))
]


@pytest.fixture
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])


@pytest.mark.usefixtures("_no_cache")
def test_a_kernel_compiles_where_no_cache_can_be_written():
    with pytest.raises(RuntimeError, match="no locator"):
        njit(cache=True)(lambda value: value)
    assert entry_point(lambda value: value + 1)(2) == 3
    assert compiled(lambda value: value + 1)(2) == 3
    assert compiled(error_model="numpy")(lambda value: 1 / value)(0) == float("inf")


def test_a_kernel_is_cached_where_it_can_be(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    assert compiled(lambda value: value + 1)(2) == 3
    assert list(tmp_path.rglob("*.nbc"))


def test_another_error_than_a_missing_cache_comes_through(monkeypatch):
    def broken(**options):
        raise RuntimeError("something else")

    monkeypatch.setattr("marl_common.jit.njit", broken)
    with pytest.raises(RuntimeError, match="something else"):
        compiled(lambda value: value)


def test_only_the_helper_asks_numba_for_a_cache():
    bare = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        names = {
            alias.name
            for node in (ast.walk(ast.parse(text)) if "numba" in text else ())
            if isinstance(node, ast.ImportFrom) and node.module == "numba"
            for alias in node.names
        }
        if {"njit", "jit", "vectorize", "guvectorize"} & names:
            bare.append(path.relative_to(ROOT).as_posix())
    assert bare == ["marl_common/jit.py"]


def test_one_file_takes_what_is_inside_of_numba():
    inside = re.compile(r"^\s*(from|import) (numba\.(core|extending|np)|llvmlite)", re.MULTILINE)
    taking = [path for path in SOURCES if inside.search(path.read_text(encoding="utf-8"))]
    assert [path.name for path in taking] == ["machine_parts.py"]


KERNELS = re.compile(r"^@(compiled|entry_point|inner_function)", re.MULTILINE)


def test_every_module_with_a_kernel_can_be_imported_where_nothing_can_be_cached():
    kernels = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in SOURCES
        if KERNELS.search(path.read_text(encoding="utf-8"))
    ]
    assert len(kernels) > 20
    script = (
        "import importlib\n"
        "from numba.core import caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        f"for name in {kernels}:\n"
        "    try:\n"
        "        importlib.import_module(name)\n"
        "    except ModuleNotFoundError as error:\n"
        "        if error.name not in ('torch', 'pettingzoo', 'mpe2'):\n"
        "            raise\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_stamp_follows_the_content(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    before = source_stamp([path])
    assert source_stamp([path]) == before
    path.write_text("x = 2\n")
    assert source_stamp([path]) != before
