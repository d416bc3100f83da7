"""Kernels compile where nothing can be cached: everywhere, not only where the helper is tested."""

import re
import tomllib
from pathlib import Path

import pytest
from numba import njit
from numba.core import caching

from marl_common.jit import compiled, entry_point, inner_function, source_stamp

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
    inner = inner_function(lambda value: value + 1)
    assert compiled(lambda value: inner(value))(2) == 3


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


def files_that_say(pattern: str) -> list[str]:
    said = re.compile(pattern, re.MULTILINE)
    found = [path for path in SOURCES if said.search(path.read_text(encoding="utf-8"))]
    return [path.relative_to(ROOT).as_posix() for path in found]


def test_only_the_helper_asks_numba_for_a_cache():
    takes = r"^\s*from numba import .*(jit|vectorize)|^\s*import numba|^\s*from numba import \("
    assert files_that_say(takes) == ["marl_common/jit.py"]


def test_one_file_takes_what_is_inside_of_numba():
    inside = r"^\s*(from|import) (numba\.(core|extending|np)|llvmlite)"
    assert files_that_say(inside) == ["marl_common/machine_parts.py"]


def test_the_stamp_follows_the_content(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    before = source_stamp([path])
    assert source_stamp([path]) == before
    path.write_text("x = 2\n")
    assert source_stamp([path]) != before
