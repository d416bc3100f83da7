"""The command line: ``mapper COMMAND``; a command is imported only when it is asked for."""

from __future__ import annotations

from marl_common import CommandGroup, command_of, make_app

COMMANDS = {
    # A command is one line here: its name, and module:function (or module:app, a typer.Typer with
    # commands of its own).
    "search": "mapper.commands.search:search",
    "cluster": "mapper.commands.cluster:cluster",
    "evaluate": "mapper.commands.evaluate:evaluate",
    "layers": "mapper.commands.layers:list_layers",
    "import": "mapper.commands.import_model:import_model",
    "accelerators": "mapper.commands.accelerators:list_accelerators",
    "schema": "mapper.commands.schema:schema",
    "space": "mapper.commands.space:space",
    "compare": "mapper.commands.compare:compare",
    "bench": "mapper.commands.bench:bench",
    "explore": "mapper.commands.explore:explore",
    "export": "mapper.commands.export:export",
    "report": "mapper.commands.report:report",
    "validate": "mapper.commands.validate:validate",
    "explain": "mapper.commands.explain:explain",
    "diff": "mapper.commands.diff:diff",
    "pretrain": "mapper.commands.pretrain:pretrain",
    "runs": "mapper.commands.runs:app",
}
"""Every command, in the order of ``mapper --help``."""

SUMMARIES = {
    "search": ("Find the best mapping of a layer, and prove that none is better."),
    "cluster": "Explore, correlate the best samples' parameters, and cluster them into agents.",
    "evaluate": "Print the cost of a mapping, or why it has none (exit code 1).",
    "layers": "List the networks of the zoo, or the layers of one.",
    "import": "Read a model's layers, and say what was skipped and what cannot be mapped.",
    "accelerators": (
        "List the accelerators that have a name; any other is a YAML file with the same fields."
    ),
    "schema": "Print the JSON Schema of a file: accelerator, mapping, energy, layer or assignment.",
    "space": "Print the size of the mapping space, exact and by the paper's equation 1.",
    "compare": "Compare searchers on the same problems, with the same samples and seeds.",
    "bench": "Measure a searcher's gap to the proven optima of 30 problems.",
    "explore": "Map a network on many chips, and find those that no other one beats.",
    "export": (
        "Write a mapping as a program, or with its accelerator and layer as another tool's files."
    ),
    "report": (
        "Write one HTML page that needs no other file: tables, plots, best mappings, commands."
    ),
    "validate": (
        "Evaluate stored mappings again, or check a proof or bench; exit code 1: it does not hold."
    ),
    "explain": (
        "Show how the parameters of a run's best mapping settled, or why agents propose a mapping."
    ),
    "diff": "Print what differs between two mappings of a layer, and what each difference costs.",
    "pretrain": "Train mapping policies over random layers, chips and objectives.",
    "runs": "List, show and remove the runs of a store.",
}
"""First lines of the commands' own help, so that `mapper --help` imports none of them."""

RENAMED: dict[str, str] = {}
"""Options by the name they once had, and their name now."""


class MapperGroup(CommandGroup):
    """The commands of ``mapper``."""

    lazy = COMMANDS
    summaries = SUMMARIES
    renamed = RENAMED
    packages = (
        "marl_common",
        "marl_runs",
        "layers",
        "cost_models",
        "maestro_env",
        "baselines",
        "mapper",
    )


app = make_app(MapperGroup, "mapper", "Map neural-network layers onto accelerators.")


def main(arguments: list[str] | None = None) -> None:
    """Run ``mapper`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mapper``; the process's own by default. ``--debug`` is taken
            anywhere among them.
    """
    command_of(app)(arguments, prog_name="mapper")
