"""Modules of the working folder, beside those that are installed."""

import importlib
import sys
from pathlib import Path

import pytest

from marl_common import working_folder_modules


def test_the_working_folder_is_a_last_resort_and_only_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    before = list(sys.path)
    with pytest.raises(ImportError), working_folder_modules():
        importlib.import_module("no_such_module_anywhere")
    assert sys.path == before
    with working_folder_modules():
        assert sys.path == [*before, str(tmp_path)]
    assert sys.path == before
