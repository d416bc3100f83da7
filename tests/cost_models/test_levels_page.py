"""docs/levels.md is short, and the functions it names are there and call each other."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.test_where import called, found

ROOT = Path(__file__).parents[2]
FUNCTIONS = {
    node.name: node
    for path in (ROOT / "cost_models" / "exact").glob("*.py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef)
}
TEXT = (ROOT / "docs" / "levels.md").read_text(encoding="utf-8")
WORDS, PLACES = 1200, 3
Place = tuple[str, str]
"""A module and a function of it."""


def questions() -> dict[str, list[Place]]:
    """Places by question, from the table at the end of the page."""
    asked = {}
    for line in TEXT.partition("## Where it is counted")[2].splitlines():
        places = re.findall(r"`(\w+)\.py:(\w+)`", line)
        if places:
            asked[line.split("|")[1].strip()] = places
    return asked


def reached(name: str) -> set[str]:
    """Functions of the exact model that one of them calls, directly or through others."""
    reached: set[str] = set()
    ahead = [name]
    while ahead:
        new = (called(FUNCTIONS[ahead.pop()]) & FUNCTIONS.keys()) - reached
        reached |= new
        ahead += new
    return reached


def test_the_page_can_be_read_in_one_sitting() -> None:
    assert len(TEXT.partition("## Where it is counted")[0].split()) <= WORDS
    assert len(questions()) == 10


@pytest.mark.parametrize(("question", "places"), questions().items(), ids=list(questions()))
def test_a_question_is_answered_by_functions_that_call_each_other(question, places):
    first, *others = (found(f"cost_models/exact/{module}.py:{name}") for module, name in places)
    assert len(places) <= PLACES
    assert others[0].name in called(first)
    assert {other.name for other in others} <= reached(first.name)
