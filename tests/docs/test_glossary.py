"""Names that the glossary bans stand nowhere: in pages, packages, and so in help and messages."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
PACKAGES = ("mapper", "marl_mapper", "baselines", "maestro_env", "cost_models", "layers")
LATER = ("cost_models/exact/floors.py",)
"""Modules whose words follow with the next change of theirs."""


@cache
def banned() -> list[str]:
    """Names after *Not* in the glossary's entries."""
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    return [
        name
        for line in lines
        if line.startswith(": ") and " Not *" in line
        for name in re.findall(r"\*([^*]+)\*", line.partition(" Not ")[2])
    ]


def found(text: str) -> list[str]:
    """Banned names in a text, whatever the form of its first verb and its lines."""
    words = re.sub(r"\s+", " ", re.sub(r"\b([Pp]ass)(?:es|ed|ing)\b", r"\1", text))
    return [name for name in banned() if re.search(rf"\b{name}\b", words, re.IGNORECASE)]


def texts() -> list[Path]:
    """Pages and modules that are held to the glossary."""
    docs = ROOT / "docs"
    pages = [ROOT / "README.md", *docs.glob("*.md"), *docs.glob("tutorials/*.md")]
    modules = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    kept = [path for path in modules if path.relative_to(ROOT).as_posix() not in LATER]
    return [path for path in [*pages, *kept] if path.is_file() and path != GLOSSARY]


def test_banned_names_stand_nowhere() -> None:
    wrong = {
        path.relative_to(ROOT).as_posix(): names
        for path in texts()
        if (names := found(path.read_text(encoding="utf-8")))
    }
    assert not wrong


@pytest.mark.parametrize(
    ("text", "name"),
    [("a tensor that passes\n    L2", "pass L2"), ("its Betterment", "betterment")],
)
def test_a_banned_name_is_found(text: str, name: str) -> None:
    assert len(banned()) >= 10
    assert found(text) == [name]
    assert found("a pass of L2, which bypasses L2") == []
