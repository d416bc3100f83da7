"""How large the cost models are, and that their code says what it looks at by name."""

import ast
from collections.abc import Iterator
from pathlib import Path

from benchmarks.house import Counts, count, is_index, without_hints
from cost_models.exact import records

ROOT = Path(__file__).parents[2]
LONGEST, SHARE, FIELDS = 300, 4.0, 16
"""Code lines of a module, functions of more than 6 parameters [%], fields of a record."""
LARGE = {"Nest", "MappingRow", "CountRow", "Work"}
"""The nest, the row of a mapping and that of its counts, and the work space."""
PLACES = {
    "counting.py:count": "DRAM's port has a width of its own for outputs",
    "nest_counts.py:_never_binds": "what one MAC reads: an input and a filter, and sums twice",
    "rows.py:count_rows": "rows are the input's, and units along them may share no read",
    "step_traffic.py:add_lanes": "sums come back to units that add to them",
    "step_traffic.py:fresh_rows": "rows are the input's, lost where it moves along others",
    "traffic.py:begun": "outputs alone begin without a sum from outside",
    "traffic.py:count_outputs": "what outputs cross that no other tensor does",
    "kernel.py:fill_outputs": "counts of two levels by their names",
    "kernel.py:fill_row": "counts of two levels by their names",
    "kernel.py:from_l2": "counts of two levels by their names",
    "kernel.py:past_l1": "counts of two levels by their names",
    "kernel.py:past_l2": "counts of two levels by their names",
    "kernel.py:take_mapping": "a mapping of two levels says what L2 and L1 hold, by name",
}
"""Functions in which an index may be a number above 1, or a constant, and why."""


def modules() -> list[Path]:
    """What `cost_models` has but for MAESTRO's model."""
    paths = sorted((ROOT / "cost_models").rglob("*.py"))
    return [path for path in paths if ROOT / "cost_models" / "maestro" not in path.parents]


def indices() -> Iterator[tuple[str, str]]:
    """Such indices of the exact model: where they are, as ``file:function``, and what they are."""
    for path in sorted((ROOT / "cost_models" / "exact").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            where = f"{path.name}:{getattr(node, 'name', '')}"
            for below in without_hints(node):
                if is_index(below):
                    yield where, f"line {getattr(below, 'lineno', 0)}: {ast.unparse(below)}"


def test_indices_are_names_of_what_is_looked_at() -> None:
    found = list(indices())
    assert [one for one in found if one[0] not in PLACES] == []
    assert {where for where, _ in found} == set(PLACES)
    assert len(PLACES) <= 15


def test_modules_and_lists_of_parameters_are_short() -> None:
    total = Counts()
    for path in modules():
        found = count(path)
        assert found.lines <= LONGEST, path
        total.add(found)
    assert total.share <= SHARE
    assert total.most == 0


def test_records_have_few_fields() -> None:
    fields = {
        name: len(dtype.names)
        for name, dtype in vars(records).items()
        if getattr(dtype, "names", None)
    }
    assert set(fields) > LARGE
    assert {name for name, n in fields.items() if n > FIELDS} <= LARGE
