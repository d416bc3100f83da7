"""docs/where.md: the functions that answer its questions are there and call each other."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = 3
Function = ast.FunctionDef | ast.AsyncFunctionDef


def questions() -> dict[str, list[str]]:
    """Places, ``file:function`` or ``file:Class.method``, by question."""
    text = (ROOT / "docs" / "where.md").read_text(encoding="utf-8")
    return {
        line.split("|")[1].strip(): places
        for line in text.splitlines()
        if (places := re.findall(r"`([\w/]+\.py:[\w.]+)`", line))
    }


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


def test_there_are_ten_questions() -> None:
    assert len(questions()) == 10


@pytest.mark.parametrize(("question", "places"), questions().items(), ids=list(questions()))
def test_every_function_but_the_first_is_called_by_one_before_it(question, places):
    assert 1 < len(places) <= PLACES
    functions = [found(place) for place in places]
    for number, function in enumerate(functions[1:], 1):
        assert function.name in set().union(*map(called, functions[:number])), places[number]


def test_a_function_that_is_gone_or_calls_none_is_found() -> None:
    with pytest.raises(ValueError, match="unpack"):
        found("maestro_env/problem.py:Problem.gone")
    assert "_count" not in called(found("maestro_env/problem.py:Problem.look"))
