"""The page of searchers lists the registry, no more and no less."""

import re
from pathlib import Path

import pytest

import baselines

PAGE = Path(__file__).parents[2] / "docs" / "searchers.md"


def rows() -> dict[str, list[str]]:
    found = {}
    table = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    for line in table.splitlines():
        match = re.match(r"\| `([a-z-]+)` \|", line)
        if match:
            found[match[1]] = [cell.strip() for cell in line.strip("|").split("|")]
    return found


def test_every_searcher_of_this_package_has_a_row() -> None:
    ours = {
        name
        for name in baselines.names()
        if type(baselines.load(name)).__module__[:9] == "baselines"
    }
    assert set(rows()) == ours


@pytest.mark.parametrize("name", sorted(rows()))
def test_extra_and_cap_are_as_declared(name: str) -> None:
    capabilities, row = baselines.load(name).capabilities, rows()[name]
    assert row[3].strip("`") == (capabilities.extra or "")
    if capabilities.max_samples:
        assert f"{capabilities.max_samples:,}" in row[4]
    assert (row[2] == "1" and name != "ppo") == (not capabilities.batch)
