"""The words and the size of the trained agents' package, and the picture of its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.house import Counts, count
from mapper.cli import main

ROOT = Path(__file__).parents[2]
PACKAGE = sorted((ROOT / "mapper" / "pretrained").rglob("*.py"))
PAGE = ROOT / "docs" / "pretrained.md"
BANNED = re.compile(
    r"\b(offer(ing|ings|ed)?|better(ing|ment|ed)|rearrang\w*|(?<!in )turns?|views?|heat|mates?"
    r"|favou?rs?)\b",
    re.IGNORECASE,
)
"""Nouns of version 0.2; the field says proposal, local search, decision, observation, ..."""
GLOSSARY = 12
LINES, LONGEST = 1_897, 250


@pytest.mark.parametrize("path", [PAGE, *PACKAGE], ids=lambda path: path.name)
def test_the_fields_words_stand_in_place_of_those_of_0_2(path):
    words = path.read_text(encoding="utf-8").replace("_", " ")
    assert not [found[0] for found in BANNED.finditer(words)]
    assert not BANNED.search(path.stem.replace("_", " "))


@pytest.mark.parametrize("command", ["pretrain", "search", "explain"])
def test_help_has_the_fields_words(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = re.sub(r"[\s\u2500-\u257f]+", " ", capsys.readouterr().out)
    assert not BANNED.search(text)


def test_the_page_explains_its_words_and_its_picture_is_up_to_date(monkeypatch):
    text = PAGE.read_text(encoding="utf-8")
    assert len(re.findall(r"^\| \*\*[a-z -]+\*\* \| \S", text, re.MULTILINE)) == GLOSSARY
    assert text.index("(pretrained.svg)") < text.index("\n## ")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import make_pretrained

    assert make_pretrained.picture() == make_pretrained.PICTURE.read_text(encoding="utf-8")


def test_the_package_is_small():
    counts = Counts()
    for path in PACKAGE:
        counts.add(count(path))
    assert counts.lines <= LINES
    assert counts.longest <= LONGEST
