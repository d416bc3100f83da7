"""Figures 4 to 7 of the paper, one after the other, each in the paper's mode and in marl's own.

    python benchmarks/paper/every.py --runs runs --out docs/figures --data docs/data

The same command goes on where it stopped: every finished search is a file of `--runs`. `--only
fig5,fig7` does some; `--list` prints the commands and which of them have left their table.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

COMMANDS: dict[str, list[str]] = {
    "fig4": ["fig4.py", "--budget", "20000"],
    "fig5": ["fig5.py", "--seeds", "3", "--budget", "5000", "--objectives", "latency,edp"],
    "fig5-rllib": [
        *("fig5.py", "--seeds", "3", "--budget", "1500", "--objectives", "latency"),
        *("--methods", "paper;paper, RLlib"),
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
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.only.split(","):
        table = arguments.data / f"paper-{name}.csv"
        out = arguments.out if "-" not in name else arguments.runs / name
        script, *options = COMMANDS[name]
        files = ["--runs", arguments.runs, "--out", out, "--csv", table]
        files += ["--data", arguments.data] if "-" not in name else []
        command = [sys.executable, str(HERE / script), *options, *map(str, files)]
        if arguments.list:
            print("done" if table.exists() else "open", " ".join(command[1:]))
        else:
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
