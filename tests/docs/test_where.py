"""Answers of docs/where.md and levels.md: functions that are there and call each other."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = 3
EXACT = "cost_models/exact/"
"""Where the functions of levels.md are."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def questions(page: str, folder: str = "") -> dict[str, list[str]]:
    """Places, ``file:function`` or ``file:Class.method``, by question."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return {
        line.split("|")[1].strip(): [folder + place for place in places]
        for line in text.splitlines()
        if (places := re.findall(r"`([\w/]+\.py:[\w.]+)`", line)) and line.startswith("|")
    }


ASKED = {**questions("where.md"), **questions("levels.md", EXACT)}


def found(place: str) -> Function:
    """The function of a place."""
    path, _, name = place.partition(":")
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    *owners, function = name.split(".")
    for owner in owners:
        (inside,) = (node for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
        body = inside.body
    (there,) = (node for node in body if isinstance(node, Function) and node.name == function)
    return there


def called(function: Function) -> set[str]:
    """Names, without what is before their dots, of all that a function calls."""
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return {node.attr for node in calls if isinstance(node, ast.Attribute)} | {
        node.id for node in calls if isinstance(node, ast.Name)
    }


@cache
def inside() -> dict[str, Function]:
    """Functions of the exact model by name."""
    return {
        node.name: node
        for path in (ROOT / EXACT).glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, Function)
    }


def reached(place: str) -> set[str]:
    """Functions of the exact model that one of them calls, directly or through others."""
    names, ahead = set[str](), [found(place)]
    while ahead:
        new = (called(ahead.pop()) & inside().keys()) - names
        names |= new
        ahead += [inside()[name] for name in new]
    return names


def test_there_are_ten_questions_a_page_and_little_to_read() -> None:
    assert len(ASKED) == 20
    levels = (ROOT / "docs" / "levels.md").read_text(encoding="utf-8")
    assert len(levels.partition("## Where it is counted")[0].split()) <= 1200


@pytest.mark.parametrize(("question", "places"), ASKED.items(), ids=list(ASKED))
def test_every_function_but_the_first_is_called_by_one_before_it(question, places):
    assert 1 < len(places) <= PLACES
    functions = [found(place) for place in places]
    for number, function in enumerate(functions[1:], 1):
        names = set().union(*map(called, functions[:number]))
        if number > 1 and places[0].startswith(EXACT):
            names |= reached(places[0])
        assert function.name in names, places[number]


def test_a_function_that_is_gone_or_calls_none_is_found() -> None:
    with pytest.raises(ValueError, match="unpack"):
        found("maestro_env/problem.py:Problem.gone")
    assert "_count" not in called(found("maestro_env/problem.py:Problem.look"))
