"""Hostile calls end in one line of the project's own error: what, expected, fix; nothing internal.

Rows are in ``calls/``; a new module there with a list `ROWS` is picked up by itself.
"""

import importlib
import pkgutil
import re
import time
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import tests.hostile.calls
from tests.hostile.calls import Row

AREAS: dict[str, list[Row]] = {
    module.name: importlib.import_module(f"tests.hostile.calls.{module.name}").ROWS
    for module in pkgutil.iter_modules(tests.hostile.calls.__path__)
}
CASES = [
    pytest.param(row, id=f"{area}: {row.name}") for area, rows in AREAS.items() for row in rows
]

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
OURS = {name.partition(".")[0] for name in PROJECT["tool"]["setuptools"]["packages"]}
LONGEST_S = 10
SAYS_A_FIX = r"expected|; \w"
INTERNAL = r"0x[0-9a-f]{6}|Traceback|NoneType|\b_[a-z]\w*\(|positional argument|this is a fault of"
"""Addresses, private functions and Python's own words, which tell a user nothing."""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("row", CASES)
def test_it_is_refused_in_one_line(row: Row) -> None:
    began = time.process_time()
    with pytest.raises(Exception) as raised:  # noqa: PT011 - its very type is what is tested
        row.call()
    took, text = time.process_time() - began, str(raised.value)
    assert raised.type is row.error, repr(raised.value)
    assert raised.type.__module__.partition(".")[0] in OURS
    assert re.search(row.says, text), text
    assert re.search(SAYS_A_FIX, text), text
    assert not re.search(INTERNAL, text), text
    assert "\n" not in text
    assert len(text) < 2000
    assert took < LONGEST_S


def test_no_row_is_there_twice() -> None:
    for area, rows in AREAS.items():
        assert [name for name, n in Counter(row.name for row in rows).items() if n > 1] == [], area
