"""Build the assignments that ship with the package: one dendrogram a layer and accelerator.

    python -m benchmarks build_assignments

Explores each layer with random mappings and clusters the best 15 %. None of the layers belongs to
the cases that `marl_cases` compares methods on.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

from benchmarks.frame import asked
from maestro_env import Problem
from mapper.clustering.correlation import correlate
from mapper.clustering.dataset import collect
from mapper.clustering.library import write
from mapper.clustering.tree import cluster

LAYERS = (
    *("mobilenetv2.4", "mobilenetv2.14", "mobilenetv2.30", "resnet18.5", "resnet50.1"),
    *("resnet50.40", "vgg16.4", "alexnet.1", "bert_base.0", "mlp.0"),
)
ACCELERATORS = ("edge", "archgym")
HOW = {
    "objective": "edp", "cost_model": "exact", "policy": "random", "samples": 20_000, "seed": 0,
}  # fmt: skip
FOLDER = Path(__file__).parent.parent / "mapper" / "clustering" / "assignments"


def main() -> None:
    given = asked(__doc__, out=FOLDER)
    for accelerator, layer in product(ACCELERATORS, LAYERS):
        problem = Problem(layer, accelerator, HOW["objective"])
        data = collect(problem, HOW["policy"], HOW["samples"], HOW["seed"])
        data = data.choosing(problem.space.nvec > 1)
        tree = cluster(correlate(data.best(), data.names, data.categorical))
        told = {"layer": layer, "accelerator": accelerator} | HOW
        path = given.out / f"{accelerator}-{layer}.yaml"
        write(path, tree, problem.layer, problem.accelerator, told)
        print(accelerator, layer, len(data.names), "parameters", tree.suggested(), "agents")
