"""The program without its extra."""

import importlib.util

import pytest

from mpe_marl import program


def test_it_says_its_version_and_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "find_spec", lambda name: None)
    program.main(["--version"])
    assert capsys.readouterr().out.startswith("mpe-marl ")
    with pytest.raises(SystemExit) as end:
        program.main(["train"])
    assert end.value.code == 2
    assert "marl-mapper[mpe]" in capsys.readouterr().err


def test_it_runs_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert importlib.util.find_spec("numba")
    with pytest.raises(SystemExit) as end:
        program.main(["--help"])
    assert not end.value.code
    assert "profile" in capsys.readouterr().out
