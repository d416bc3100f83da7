"""Figures 4 to 7 of the paper, one after the other, each in the paper's mode and in marl's own.

    python benchmarks/paper/every.py --runs runs --out docs/figures --data docs/data

The same command goes on where it stopped: every finished search is a file of `--runs`. With
`--cost-model maestro` tables are named after it. `--only fig5,fig7` does some; `--list` prints the
commands and which of them have left their table.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

COMMANDS: dict[str, list[str]] = {
    "fig4": ["fig4.py", "--budget", "20000"],
    "fig5": [
        *("fig5.py", "--seeds", "3", "--budget", "5000", "--objectives", "latency,edp"),
        *("--methods", "marl;paper;paper, one agent;ppo-matched;ppo;paper, RLlib"),
    ],
    "fig6": ["fig6.py", "--seeds", "3", "--budget", "5000"],
    "fig7": ["fig7.py", "--budget", "5000"],
}
"""Each figure's script and what it is told; the tables are `paper-FIGURE.csv`."""
HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("paper-runs"))
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    parser.add_argument("--data", type=Path, default=Path("docs/data"))
    parser.add_argument("--only", default=",".join(COMMANDS))
    parser.add_argument("--cost-model", default="exact")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.only.split(","):
        command = [sys.executable, *command_of(name, arguments)]
        if arguments.list:
            done = table_of(name, arguments).exists()
            print("done" if done else "open", " ".join(command[1:]))
        else:
            subprocess.run(command, check=True)


def table_of(name: str, arguments: argparse.Namespace, more: str = "") -> Path:
    """The table of a figure; those of `exact` go without the model's name."""
    model = "" if arguments.cost_model == "exact" else f"-{arguments.cost_model}"
    return Path(arguments.data / f"paper-{name}{more}{model}.csv")


def command_of(name: str, arguments: argparse.Namespace) -> list[str]:
    """A figure's script and all that it is told; pictures are kept of `exact` alone."""
    script, *options = COMMANDS[name]
    exact = arguments.cost_model == "exact"
    out = arguments.out if exact else arguments.runs / arguments.cost_model
    files = ["--runs", arguments.runs, "--out", out, "--csv", table_of(name, arguments)]
    files += ["--data", arguments.data] if exact else []
    files += ["--of-seeds", table_of(name, arguments, "-seeds")] if name == "fig7" else []
    return [str(HERE / script), *options, "--cost-model", arguments.cost_model, *map(str, files)]


if __name__ == "__main__":
    main()
