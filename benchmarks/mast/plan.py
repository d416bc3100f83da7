"""Runs of the sparse-learning tables, each a file: done once, in any number of processes.

A table's script lists its runs; `--list` prints a command a run, `--shard I/N` does every N-th of
them here, and without either all are done and the table is printed from the files.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import atomic_write

RUN = [sys.executable, "-m", "mast"]
SEEDS = range(5)


@dataclass(frozen=True)
class Cell:
    """One run of a table.

    Attributes:
        task: Its task.
        arm: Its arm.
        sparsity: Share of the weights that is left out; of dense arms 0.
        seed: Its seed.
        algorithm: Its algorithm.
        options: Other options of ``mast train``.
    """

    task: str
    arm: str
    sparsity: float
    seed: int
    algorithm: str = "qmix"
    options: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The arm as the tables call it."""
        shown = f" {self.sparsity:g}" if self.sparsity else ""
        return f"{self.arm}{shown}{''.join(f' {word}' for word in self.options)}"

    @property
    def file(self) -> str:
        """What its file is called."""
        text = f"{self.task} {self.algorithm} {self.label} seed{self.seed}"
        return "".join(c if c.isalnum() or c in ".+" else "_" for c in text) + ".json"

    def words(self, folder: Path, steps: int) -> list[str]:
        """The words after ``mast`` of its command."""
        kept = ["--sparsity", f"{self.sparsity:g}"] if self.sparsity else []
        packed = (
            self.sparsity and not self.arm.startswith("tiny") and "--backend" not in self.options
        )
        backend = ["--backend", "compiled"] if packed else []
        path = folder / self.file
        return [
            "train", "--task", self.task, "--algo", self.algorithm, "--arm", self.arm, *kept,
            *backend, *self.options, "--seed", str(self.seed), "--steps", str(steps),
            "--store", str(path.with_suffix(".db")), "--out", str(path),
        ]  # fmt: skip


def run_table(
    text: str | None,
    cells: Sequence[Cell],
    table: Callable[..., None],
    steps: int = 300_000,
    metrics: Sequence[str] = (),
) -> None:
    """Read the command line and do what it says.

    Args:
        text: What the script is for.
        cells: Its runs.
        table: Prints the table of the results.
        steps: Steps of a run.
        metrics: What ``--metric`` may choose, handed to the table.
    """
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--folder", type=Path, default=Path("mast-runs"), help="files of the runs")
    parser.add_argument("--list", action="store_true", help="print a command a run")
    parser.add_argument("--shard", default="0/1", help="do every N-th run from the I-th: I/N")
    parser.add_argument("--collect", action="store_true", help="do no run, print what is there")
    parser.add_argument("--task", action="append", help="only this task; repeatable")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--csv", type=Path, help="also write the table to this file")
    parser.add_argument("--runs-csv", type=Path, help="write a row a run to this file, and end")
    if metrics:
        parser.add_argument("--metric", choices=metrics, default=metrics[0])
    args = parser.parse_args()
    chosen = [cell for cell in cells if not args.task or cell.task in args.task]
    if args.list:
        for cell in chosen:
            print(shlex.join(["mast", *cell.words(args.folder, args.steps)]))
        return
    first, _, count = args.shard.partition("/")
    for cell in [] if args.collect else chosen[int(first) :: int(count)]:
        if not (args.folder / cell.file).exists():
            subprocess.run([*RUN, *cell.words(args.folder, args.steps)], check=True)
    rows = collected(chosen, args.folder)
    if args.runs_csv is not None:
        write_csv(args.runs_csv, [run_row(row) for row in rows])
        return
    more = {"metric": args.metric} if metrics else {}
    table(rows, args.csv, **more)


def run_row(row: dict[str, Any]) -> dict[str, Any]:
    """A run by itself: no score, so it says something of tasks without a run of dense+, too."""
    cell = row["cell"]
    return {
        "task": row["task"], "algorithm": cell.algorithm, "arm": row["arm"], "seed": cell.seed,
        "return": row["return"], "highest": max(row["returns"]), "q_gap": row["q_gap"],
        "train_flops": row["train_flops"], "cpu_s": row["cpu_s"],
    }  # fmt: skip


def write_csv(path: Path | None, rows: Sequence[dict[str, Any]]) -> None:
    """Write a table where a file was named; figures have six digits."""
    if path is None or not rows:
        return
    with atomic_write(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def collected(cells: Sequence[Cell], folder: Path) -> list[dict[str, Any]]:
    """Results of the runs that have a file, each with its cell."""
    found = []
    for cell in cells:
        path = folder / cell.file
        if path.exists():
            (result,) = json.loads(path.read_text(encoding="utf-8"))
            if result["status"] == "finished":
                found.append({**result, "cell": cell, "task": cell.task, "arm": cell.label})
    return found
