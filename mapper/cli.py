"""The command line: ``mapper COMMAND``; a command is imported only when it is asked for."""

from __future__ import annotations

import importlib
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS = {
    # A command is one line here: its name, module:function (or module:app, a typer.Typer with
    # commands of its own), and its line in `mapper --help`.
    "search": ("mapper.commands.search:search", "Search a mapping of a layer."),
    "cluster": (
        "mapper.commands.cluster:cluster",
        "Find which parameters belong to one agent.",
    ),
    "evaluate": ("mapper.commands.evaluate:evaluate", "Print the cost of a mapping."),
    "layers": ("mapper.commands.layers:list_layers", "List networks and their layers."),
    "accelerators": ("mapper.commands.accelerators:list_accelerators", "List the presets."),
    "space": ("mapper.commands.space:space", "Print how many mappings a layer has."),
    "compare": ("mapper.commands.compare:compare", "Compare searchers under equal budgets."),
    "report": ("mapper.commands.report:report", "Write stored results as one HTML page."),
    "validate": ("mapper.commands.validate:validate", "Check that stored results hold."),
    "explain": (
        "mapper.commands.explain:explain",
        "Show how a search's parameters evolved.",
    ),
    "pretrain": ("mapper.commands.pretrain:pretrain", "Train agents that map unseen layers."),
    "runs": ("mapper.commands.runs:app", "List, show and remove the runs of a store."),
}
"""Every command, in the order of ``mapper --help``."""

OK, FAILED, USAGE = 0, 1, 2
"""Exit codes: done; ran, but gave no result; the command or its input is wrong."""

PROJECT = ("common", "runs", "layers", "cost_models", "maestro_env", "baselines", "mapper")


class LazyGroup(TyperGroup):
    """A group of `COMMANDS` that imports a command's module only to run it."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A stand-in with the command's name and line of help, or None."""
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command to run; the base class names the nearest ones from `commands`."""
        self.commands = {name: TyperCommand(name) for name in COMMANDS}
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else _imported(name), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error becomes one line and an exit code."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, SystemExit, BrokenPipeError):
            raise
        except Exception as error:
            code = _exit_code(error)
            if code is None or ctx.params.get("debug"):
                raise
            typer.echo(f"error: {_message(error)}", err=True)
            raise typer.Exit(code) from error


def _imported(name: str) -> Any:
    module, _, attribute = COMMANDS[name][0].partition(":")
    target = getattr(importlib.import_module(module), attribute)
    if not isinstance(target, typer.Typer):
        function, target = target, typer.Typer(add_completion=False)
        target.command(name)(function)
    command = typer.main.get_command(target)
    command.name = name
    return command


def _exit_code(error: Exception) -> int | None:
    """The exit code of an error; None for the parser's own errors, which print themselves."""
    module = type(error).__module__.partition(".")[0]
    if module in ("typer", "click"):
        return None
    if isinstance(error, ValueError) and module in PROJECT:
        return USAGE
    return FAILED


def _message(error: Exception) -> str:
    """One line a person can act on; an error nobody foresaw is named with its place."""
    if type(error).__module__.partition(".")[0] in PROJECT:
        return str(error)
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename or 'output'}: {error.strerror}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{type(error).__name__}: {error} ({frame.name}, line {frame.lineno}); "
        "this is a fault of mapper: run it again with --debug and report what it prints"
    )


app = typer.Typer(
    cls=LazyGroup,
    name="mapper",
    help="Map neural-network layers onto accelerators.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"mapper {version('marl-mapper')}")
        raise typer.Exit


@app.callback()
def _root(
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
    version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=_print_version
    ),
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run ``mapper`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mapper``; the process's own by default. ``--debug`` is taken
            anywhere among them.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "--debug" in words:
        words = ["--debug", *(word for word in words if word != "--debug")]
    try:
        app(words)
    except BrokenPipeError:  # the reader, such as `head`, has gone: nothing left to tell it
        sys.stderr.close()
        raise SystemExit(FAILED) from None
