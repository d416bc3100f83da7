"""Section VI-E: what the dataset behind the agents costs, and what it is worth.

python benchmarks/paper/dataset_cost.py
"""

from __future__ import annotations

import numpy as np
import recorded

from maestro_env import Problem

METHODS = {
    "stored assignment": "marl",
    "own dataset, not counted": "marl:dataset={dataset}",
    "own dataset, counted": "marl:dataset={dataset}:count_dataset=true",
}


def main() -> None:
    parser = recorded.parser(__doc__)
    parser.add_argument("--layers", default="mobilenetv2.2,vgg16.1")
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--dataset", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    rows = []
    for layer in arguments.layers.split(","):
        problem = Problem(layer, arguments.accelerator, arguments.objective, arguments.cost_model)
        every = {
            label: [
                recorded.record(
                    label,
                    problem,
                    method.format(dataset=arguments.dataset),
                    arguments.budget,
                    arguments.seed + seed,
                )
                for seed in range(arguments.seeds)
            ]
            for label, method in METHODS.items()
        }
        reference = min(run.best for runs in every.values() for run in runs)
        for label, runs in every.items():
            rows.append(
                {
                    "layer": layer,
                    "agents from": label,
                    "median best / best of all": float(
                        np.median([run.best for run in runs]) / reference
                    ),
                    "median samples to 5 %": float(
                        np.median([recorded.arrival_of_best(r, 1.05 * reference) for r in runs])
                    ),
                    "cpu_s": float(np.mean([run.seconds for run in runs])),
                }
            )
    recorded.show(rows, arguments.json)


if __name__ == "__main__":
    main()
