"""A world of the working folder is found by its module, as a searcher is."""

import sys

import pytest

from mpe_marl import MpeError, imported


def test_a_module_of_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "worlds_of_mine.py").write_text("def make():\n    return 7\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    before = list(sys.path)
    assert imported("worlds_of_mine:make")() == 7
    assert sys.path == before
    with pytest.raises(MpeError, match="working folder"):
        imported("worlds_of_nobody:make")
