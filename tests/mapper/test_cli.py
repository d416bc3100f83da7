"""The command line as a whole: help, errors, exit codes, laziness."""

import ast
import errno
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mapper import cli
from marl_common.command_line import load_command

runner = CliRunner()


def run(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of ``mapper WORDS``."""
    result = runner.invoke(cli.app, list(words))
    return result.exit_code, result.stdout, result.stderr


def test_help_lists_every_command() -> None:
    code, out, _ = run("--help")
    assert code == 0
    for name in cli.COMMANDS:
        assert name in out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name: str) -> None:
    code, out, _ = run(name, "--help")
    assert code == 0
    assert name in out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_summary_is_what_the_command_says_of_itself(name: str) -> None:
    help_text = load_command(name, cli.COMMANDS[name]).help.partition("\n\n")[0]
    assert " ".join(help_text.split()) == cli.SUMMARIES[name]


def test_version() -> None:
    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith("mapper ")


def broken() -> None:
    """A command with a fault."""
    raise KeyError("K")


def gone() -> None:
    """A command whose reader has gone."""
    raise BrokenPipeError(errno.EPIPE, "Broken pipe")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("broken", "gone"):
        monkeypatch.setitem(cli.COMMANDS, name, f"{__name__}:{name}")
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])


@pytest.mark.usefixtures("commands")
def test_a_fault_of_ours_is_exit_code_1_without_a_traceback() -> None:
    code, _, err = run("broken")
    assert code == 1
    assert "Traceback" not in err
    assert "KeyError" in err
    assert "--debug" in err


@pytest.mark.usefixtures("commands")
def test_a_reader_that_has_gone_is_no_fault() -> None:
    assert run("gone") == (1, "", "")


@pytest.mark.usefixtures("commands")
def test_debug_shows_the_traceback() -> None:
    with pytest.raises(KeyError):
        cli.main(["broken", "--debug"])


def test_no_function_of_commands_has_a_long_list_of_parameters() -> None:
    for path in Path("mapper/commands").glob("*.py"):
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(one, ast.FunctionDef):
                assert len(one.args.args + one.args.kwonlyargs) <= 12, one.name
                assert one.args.kwarg is None, one.name


def test_the_command_lines_are_documented() -> None:
    text = Path("docs/cli.md").read_text(encoding="utf-8")
    for name in cli.COMMANDS:
        assert f"mapper {name}" in text or f"`{name}`" in text


def test_an_option_by_its_old_name_says_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.RENAMED, "--samples-to-spend", "--budget")
    code, _, err = run("search", "-l", "mlp.1", "--samples-to-spend", "3")
    assert code == 2
    assert err == "error: --samples-to-spend is called --budget now\n"
