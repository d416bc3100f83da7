"""Reading executed nests of one level or more, and comparing them with the simulator."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import levels

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "cost_models" / "data" / "levels_reference_sample.jsonl"


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code."""
    monkeypatch.setattr(sys, "argv", ["levels", *words])
    try:
        return int(levels.main())
    except SystemExit as ended:
        return int(ended.code or 0)


def test_kernel_and_simulator_equal_every_row(monkeypatch, capsys):
    assert run(monkeypatch, str(SAMPLE)) == 0
    equal = [f"{name}: 61 of 61 rows are equal" for name in ("kernel", "simulator")]
    assert capsys.readouterr().out.splitlines() == equal


@pytest.mark.parametrize("name", ["fill/0/1", "out/0", "stepwise"])
def test_a_count_that_differs_is_found(name, tmp_path, monkeypatch, capsys):
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()[:3]
    row = json.loads(lines[1])
    row["counts"][name] = row["counts"].get(name, 0) + 1
    path = tmp_path / "nests.jsonl"
    path.write_text("\n".join([lines[0], json.dumps(row), lines[2]]), encoding="utf-8")
    assert run(monkeypatch, str(path), "--only", "simulator") == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"simulator: line 2: {name}: {row['counts'][name]} in the file, ")
    assert last == "simulator: 2 of 3 rows are equal"


BAD: list[tuple[dict[str, Any] | str, str]] = [
    ("", "no rows"),
    ("{", "line 1: Invalid JSON"),
    ({"extents": [99] * 8}, "MACs; expected at most 200000"),
    ({"ports": [[0, 0], [1, 1]]}, "DRAM has none"),
    ({"counts": {"bound": 1, "compute": 1}}, "counts: no stepwise"),
    ({"counts": {"bound": "1"}}, "counts.bound: Input should be a valid integer, got '1'"),
]


@pytest.mark.parametrize(("change", "words"), BAD, ids=[words for _, words in BAD])
def test_a_bad_file_takes_one_line(change, words, tmp_path, monkeypatch, capsys):
    text = change
    if isinstance(change, dict):
        row = next(
            row
            for row in map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines())
            if len(row["levels"]) == 1
        )
        text = json.dumps(row | change)
    path = tmp_path / "nests.jsonl"
    path.write_text(str(text), encoding="utf-8")
    assert run(monkeypatch, str(path)) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert words in shown.err
