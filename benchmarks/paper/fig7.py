"""Fig. 7: each parameter over the samples of a search, one agent and many.

    python benchmarks/paper/fig7.py --out figures --csv FIRST.csv --of-seeds SEEDS.csv

The picture and the first table are of the first seed; the second table has every seed: the sample
from which on half of the parameters never changed again, and the share of parameters that ended
where one agent's did.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import recorded

from maestro_env import Problem
from mapper.evolution import Evolution, explain
from mapper.marl.agents import resolve

METHODS = {
    "many agents": recorded.PAPER,
    "one agent": recorded.PAPER + ":agents=1",
    "marl": "marl",
}


def main() -> None:
    parser = recorded.parser(__doc__)
    parser.add_argument("--layer", default="mobilenetv2.2")
    parser.add_argument("--objective", default="latency")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--of-seeds", type=Path, help="write the table of all seeds there")
    arguments = parser.parse_args()
    problem = Problem(
        arguments.layer, arguments.accelerator, arguments.objective, arguments.cost_model
    )
    first = arguments.seed
    seeds = range(first, first + (arguments.seeds if arguments.of_seeds else 1))
    found = {seed: evolutions_of(arguments, problem, seed) for seed in seeds}
    evolutions = found[first]
    rows = []
    for column, name in enumerate(evolutions["marl"].names):
        row = {"agent": int(evolutions["marl"].agents[column]), "parameter": name}
        for label, evolution in evolutions.items():
            choice = int(evolution.best[-1, column])
            row[f"{label}: last"] = evolution.values[column][choice]
            row[f"{label}: settled"] = int(evolution.settled[column])
        rows.append(row)
    curves = {
        name: {label: (one.steps, one.typical[:, column]) for label, one in evolutions.items()}
        for column, name in enumerate(evolutions["marl"].names)
    }
    if arguments.data:
        recorded.keep_curves(curves, arguments.data / "paper-fig7-curves.csv")
    recorded.draw(curves, arguments.out / "fig7.png", recorded.CHOICE, 4, recorded.SMALL_IN)
    recorded.show(rows, arguments.json, arguments.csv)
    if arguments.of_seeds:
        told = [row for seed, one in found.items() for row in of_seed(one, seed)]
        recorded.show(told, arguments.json, arguments.of_seeds)


def evolutions_of(
    arguments: argparse.Namespace, problem: Problem, seed: int
) -> dict[str, Evolution]:
    """How the parameters of each method's search settled."""
    found = {}
    for label, method in METHODS.items():
        run = recorded.record(label, problem, method, arguments.budget, seed, arguments.runs)
        assignment = resolve(1 if label == "one agent" else "auto", problem)
        found[label] = explain(problem, run.actions, run.values, assignment)
    return found


def of_seed(evolutions: dict[str, Evolution], seed: int) -> list[dict[str, Any]]:
    """A row a method."""
    single = evolutions["one agent"].best[-1]
    return [
        {
            "method": label,
            "seed": seed,
            "settled": float(np.median(one.settled)),
            "same as one agent": float((one.best[-1] == single).mean()),
        }
        for label, one in evolutions.items()
    ]


if __name__ == "__main__":
    main()
