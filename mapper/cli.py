"""The command line: ``mapper COMMAND``; a command is imported only when it is asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from common import CommandGroup, version_option

COMMANDS = {
    # A command is one line here: its name, and module:function (or module:app, a typer.Typer with
    # commands of its own). Its line in `mapper --help` is the first one of its docstring.
    "search": "mapper.commands.search:search",
    "cluster": "mapper.commands.cluster:cluster",
    "evaluate": "mapper.commands.evaluate:evaluate",
    "layers": "mapper.commands.layers:list_layers",
    "import": "mapper.commands.import_model:import_model",
    "accelerators": "mapper.commands.accelerators:list_accelerators",
    "schema": "mapper.commands.schema:schema",
    "space": "mapper.commands.space:space",
    "compare": "mapper.commands.compare:compare",
    "report": "mapper.commands.report:report",
    "validate": "mapper.commands.validate:validate",
    "explain": "mapper.commands.explain:explain",
    "pretrain": "mapper.commands.pretrain:pretrain",
    "runs": "mapper.commands.runs:app",
}
"""Every command, in the order of ``mapper --help``."""

RENAMED: dict[str, str] = {}
"""Options by the name they once had, and their name now."""


class MapperGroup(CommandGroup):
    """The commands of ``mapper``."""

    lazy = COMMANDS
    renamed = RENAMED
    packages = ("common", "runs", "layers", "cost_models", "maestro_env", "baselines", "mapper")


app = typer.Typer(
    cls=MapperGroup,
    name="mapper",
    help="Map neural-network layers onto accelerators.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback()
def _root(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[bool, version_option("mapper")] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run ``mapper`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mapper``; the process's own by default. ``--debug`` is taken
            anywhere among them.
    """
    app(arguments, prog_name="mapper")
