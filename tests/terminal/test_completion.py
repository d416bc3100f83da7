"""Completion, driven as bash, zsh and fish drive it: by variables of the environment."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mapper import cli
from mpe_marl import cli as mpe_cli

SHELLS = ("bash", "zsh", "fish")


def completed(shell: str, *words: str, app: object = cli.app, name: str = "mapper") -> list[str]:
    """What the shell is told for a line of words, of which the last one is incomplete."""
    line = " ".join([name, *words])
    environment = {f"_{name.upper().replace('-', '_')}_COMPLETE": f"complete_{shell}"}
    environment |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    environment |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    environment |= {"_TYPER_COMPLETE_WORD_TO_COMPLETE": words[-1]}
    result = CliRunner().invoke(app, [], env=environment, prog_name=name)
    assert result.stderr == ""
    return [line for line in result.stdout.splitlines() if line]


NAMES = {
    "sea": "search",
    "search --bud": "--budget",
    "search --layer mobilenetv2.block1_p": "mobilenetv2.block1_project",
    "search -l resnet": "resnet18.",
    "search --network res": "resnet50",
    "search --accelerator cl": "cloud",
    "search --method cross": "cross-entropy",
    "search --objective lat": "latency",
    "search --cost-model mae": "maestro",
    "compare --methods ga,rand": "ga,random",
    "compare --objectives edp,lat": "edp,latency",
    "layers mob": "mobilenetv2",
}
"""Lines of words, and a name that each is completed to."""


def test_names_are_completed() -> None:
    """Each line in one of the shells, which do it in turn."""
    for (line, expected), shell in zip(NAMES.items(), itertools.cycle(SHELLS), strict=False):
        lines = completed(shell, *line.split())
        assert any(expected in line for line in lines), (line, lines)


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_are_completed(shell: str) -> None:
    for app, name, words, whole in (
        (cli.app, "mapper", ("runs", "li"), "list"),
        (mpe_cli.app, "mpe-marl", ("tr",), "train"),
    ):
        assert any(whole in line for line in completed(shell, *words, app=app, name=name))


def test_what_cannot_be_found_completes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError

    monkeypatch.setattr("layers.networks", broken)
    assert completed("bash", "layers", "mob") == []


@pytest.mark.parametrize(
    ("program", "shell"), [("mapper", "bash"), ("mpe-marl", "zsh"), ("mapper", "fish")]
)
def test_each_shell_has_its_script(program: str, shell: str) -> None:
    variable = f"_{program.upper().replace('-', '_')}_COMPLETE"
    env = {**os.environ, variable: f"source_{shell}"}
    words = [str(Path(sys.executable).with_name(program))]
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"complete_{shell}" in done.stdout
    assert program in done.stdout
