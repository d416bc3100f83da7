"""Build the assignments that ship with the package: one dendrogram a layer and accelerator.

    python benchmarks/build_assignments.py

Explores each layer with random mappings and clusters the best 15 %. None of the layers belongs to
the cases that `benchmarks/marl_cases.py` compares methods on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from maestro_env import Problem
from mapper.clustering import cluster, collect, correlate
from mapper.clustering.library import write

LAYERS = (
    "mobilenetv2.4",
    "mobilenetv2.14",
    "mobilenetv2.30",
    "resnet18.5",
    "resnet50.1",
    "resnet50.40",
    "vgg16.4",
    "alexnet.1",
    "bert_base.0",
    "mlp.0",
)
ACCELERATORS = ("edge", "archgym")
FOLDER = Path(__file__).parent.parent / "mapper" / "clustering" / "assignments"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--objective", default="edp")
    parser.add_argument("--policy", default="random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    for accelerator in ACCELERATORS:
        for layer in LAYERS:
            problem = Problem(layer, accelerator, arguments.objective)
            data = collect(problem, arguments.policy, arguments.samples, arguments.seed)
            data = data.choosing(problem.space.nvec > 1)
            tree = cluster(correlate(data.best(), data.names, data.categorical))
            write(
                arguments.out / f"{accelerator}-{layer}.yaml",
                tree,
                problem.layer,
                problem.accelerator,
                {
                    "layer": layer,
                    "accelerator": accelerator,
                    "objective": arguments.objective,
                    "cost_model": problem.cost_model.name,
                    "policy": arguments.policy,
                    "samples": arguments.samples,
                    "seed": arguments.seed,
                },
            )
            print(accelerator, layer, len(data.names), "parameters", tree.suggested(), "agents")


if __name__ == "__main__":
    main()
