"""Completion, driven as bash, zsh and fish drive it: by variables of the environment."""

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


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("sea",), "search"),
        (("search", "--bud"), "--budget"),
        (("search", "--layer", "mobilenetv2.block1_p"), "mobilenetv2.block1_project"),
        (("search", "-l", "vgg"), "vgg16.conv1_1"),
        (("search", "-l", "resnet"), "resnet18."),
        (("search", "--network", "res"), "resnet50"),
        (("search", "--accelerator", "cl"), "cloud"),
        (("search", "--method", "cross"), "cross-entropy"),
        (("search", "--objective", "lat"), "latency"),
        (("search", "--cost-model", "mae"), "maestro"),
        (("compare", "--methods", "ga,rand"), "ga,random"),
        (("compare", "--objectives", "edp,lat"), "edp,latency"),
        (("layers", "mob"), "mobilenetv2"),
        (("runs", "li"), "list"),
    ],
)
def test_names_are_completed(shell: str, words: tuple[str, ...], expected: str) -> None:
    lines = completed(shell, *words)
    assert any(expected in line for line in lines), lines


@pytest.mark.parametrize("shell", SHELLS)
def test_mpe_marl_completes_its_commands(shell: str) -> None:
    assert any("train" in line for line in completed(shell, "tr", app=mpe_cli.app, name="mpe-marl"))


def test_what_cannot_be_found_completes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError

    monkeypatch.setattr("layers.networks", broken)
    assert completed("bash", "layers", "mob") == []


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("program", ["mapper", "mpe-marl"])
def test_each_shell_has_its_script(program: str, shell: str) -> None:
    module = {"mapper": "mapper", "mpe-marl": "mpe_marl"}[program]
    variable = f"_{module.upper()}_COMPLETE"
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program))],
        env={**os.environ, variable: f"source_{shell}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"complete_{shell}" in done.stdout
    assert program in done.stdout
