"""docs/levels.md is short, and the functions it names are there and call each other."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import cost_models.exact

ROOT = Path(__file__).parents[2]
FOLDER = Path(cost_models.exact.__file__).parent
TEXT = (ROOT / "docs" / "levels.md").read_text(encoding="utf-8")
WORDS, PLACES = 1200, 3
Place = tuple[str, str]
"""A module and a function of it."""


def questions() -> dict[str, list[Place]]:
    """Places by question, from the table at the end of the page."""
    found = {}
    for line in TEXT.partition("## Where it is counted")[2].splitlines():
        places = re.findall(r"`(\w+)\.py:(\w+)`", line)
        if places:
            found[line.split("|")[1].strip()] = places
    return found


@cache
def calls(module: str, function: str) -> frozenset[Place]:
    """Functions of the exact model that one of them calls."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))
    known = {
        node.name: (module, node.name) for node in tree.body if isinstance(node, ast.FunctionDef)
    }
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "cost_models.exact."
        ):
            known |= {
                a.asname or a.name: (str(node.module).split(".")[-1], a.name) for a in node.names
            }
    (body,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function)
    names = {
        n.func.id
        for n in ast.walk(body)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    return frozenset(known[name] for name in names if name in known)


def reached(place: Place) -> set[Place]:
    """Functions that one of them calls, directly or through others."""
    found: set[Place] = set()
    ahead = [place]
    while ahead:
        new = calls(*ahead.pop()) - found
        found |= new
        ahead += new
    return found


def test_the_page_can_be_read_in_one_sitting() -> None:
    assert len(TEXT.partition("## Where it is counted")[0].split()) <= WORDS
    assert len(questions()) == 10


@pytest.mark.parametrize(("question", "places"), questions().items(), ids=list(questions()))
def test_a_question_is_answered_by_functions_that_call_each_other(question, places):
    first, second, *others = places
    assert len(places) <= PLACES
    assert second in calls(*first)
    assert set(others) <= reached(first)
