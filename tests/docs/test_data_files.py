"""Every file of docs/data has one entry, and every entry its benchmark and its files."""

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import data_files
from benchmarks.__main__ import modules


def test_every_file_of_docs_data_has_one_entry() -> None:
    assert data_files.faults() == []


def test_what_has_no_entry_or_two_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "DATA", tmp_path)
    monkeypatch.setattr(data_files, "WRITTEN", {"house.py": "a*.csv", "gone.py": "ab.csv c.csv"})
    for name in ("ab.csv", "ac.csv", "d.csv"):
        (tmp_path / name).touch()
    assert data_files.faults() == [
        "docs/data/ab.csv: has 2 entries ['house.py', 'gone.py'], expected one",
        "docs/data/d.csv: has 0 entries [], expected one",
        "benchmarks/gone.py: is not there, and has an entry",
        "benchmarks/gone.py: no file is c.csv",
    ]


@pytest.mark.slow
def test_every_benchmark_can_be_begun() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("zigzag")
    for name in modules().values():
        found = import_module(name)
        assert hasattr(found, "TABLE") or callable(found.main), name
