"""The command line as a whole: help, errors, exit codes, laziness; and ``mapper space``."""

import ast
import errno
import sys
from inspect import signature
from pathlib import Path

import pytest
from typer.testing import CliRunner

import layers
from mapper import cli
from mapper.commands.compare import compare
from marl_common.command_line import load_command
from tests.mapper.commands import json_of, printed, refused

DOCS = Path(__file__).parents[2] / "docs"


def run(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of ``mapper WORDS``, whatever is raised."""
    result = CliRunner().invoke(cli.app, list(words))
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_is_listed_and_documented_and_has_help(name: str) -> None:
    assert name in printed("--help")
    assert name in printed(f"{name} --help")
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert f"mapper {name}" in text or f"`{name}`" in text
    summary = load_command(name, cli.COMMANDS[name]).help.partition("\n\n")[0]
    assert " ".join(summary.split()) == cli.SUMMARIES[name]


def test_options_of_comparisons_are_documented() -> None:
    assert printed("--version").startswith("mapper ")
    text = (DOCS / "compare.md").read_text(encoding="utf-8")
    for name in set(signature(compare).parameters) - {"parser_context"}:
        assert "--" + {"sets": "set"}.get(name, name).replace("_", "-") in text


def test_shapes_that_differ_in_dilation_are_told_apart(tmp_path: Path) -> None:
    path, line = (
        tmp_path / "net.yaml",
        "{name: NAME, kind: conv, K: 4, C: 4, Y: 9, X: 9, R: 3, S: 3",
    )
    path.write_text(f"layers:\n- {line}, dilation: 2}}\n- {line.replace('NAME', 'b')}}}\n")
    rows = json_of(f"layers {path} --distinct")
    assert [row["dilation"] for row in rows] == [2, 1]


@pytest.mark.parametrize(
    "words",
    [
        "--set num_pes=4 --set num_pes=8",
        "--num-pes 8 --set num_pes=4",
        "--l2-bytes 4096 --set levels.L2.bytes=8k",
    ],
)
def test_a_field_of_a_chip_is_given_once(words: str) -> None:
    assert "give it once" in refused(f"search -l mlp.2 {words}")


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
def test_a_fault_of_ours_has_a_traceback_on_request_and_a_gone_reader_is_none() -> None:
    code, _, err = run("broken")
    assert (code, "Traceback" in err, "KeyError" in err, "--debug" in err) == (1, False, True, True)
    with pytest.raises(KeyError):
        cli.main(["broken", "--debug"])
    assert run("gone") == (1, "", "")


def test_no_function_of_commands_has_a_long_list_of_parameters() -> None:
    for path in Path("mapper/commands").glob("*.py"):
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(one, ast.FunctionDef):
                assert len(one.args.args + one.args.kwonlyargs) <= 12, one.name
                assert one.args.kwarg is None, one.name


def test_an_option_by_its_old_name_says_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.RENAMED, "--samples-to-spend", "--budget")
    err = refused("search -l mlp.1 --samples-to-spend 3")
    assert err == "error: --samples-to-spend is called --budget now\n"


def test_sizes_have_a_row_a_layer_and_options_change_them() -> None:
    plain = json_of("space --network mlp")["layers"]
    fewer = json_of("space --network mlp --space tiles=divisors")["layers"]
    assert [row["layer"] for row in plain] == [layer.name for layer in layers.network("mlp")]
    for row, other in zip(plain, fewer, strict=True):
        assert other["map_space"] < row["map_space"]
    lines = {line.split()[0]: line.split() for line in printed("space").splitlines() if line}
    assert lines["linear"][-2:] == ["3.60e4", "4.66e13"]  # the paper's table
    assert lines["attention"][-2:] == ["7.20e8", "3.73e26"]
    assert lines["convolution"][-2:] == ["1.05e13", "1.18e39"]
