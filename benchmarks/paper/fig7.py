"""Fig. 7: each parameter over the samples of a search, one agent and many.

python benchmarks/paper/fig7.py --out figures
"""

from __future__ import annotations

import recorded

from maestro_env import Problem
from mapper.evolution import explain
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
    arguments = parser.parse_args()
    problem = Problem(
        arguments.layer, arguments.accelerator, arguments.objective, arguments.cost_model
    )
    evolutions = {}
    for label, method in METHODS.items():
        run = recorded.record(
            label, problem, method, arguments.budget, arguments.seed, arguments.runs
        )
        assignment = resolve(1 if label == "one agent" else "auto", problem)
        evolutions[label] = explain(problem, run.actions, run.values, assignment)
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


if __name__ == "__main__":
    main()
