"""The problems of the data set, and how it is split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import layers
from baselines import can_prove
from cost_models import CHAINS, load_chip
from layers import Layer
from mapper.search.problem_spec import ProblemSpec

DATA_VERSION = "1.0.0"
"""Of problems and their rules; a row of another version is solved again."""
TEST, VALIDATION, TRAIN = "test", "validation", "train"
NETWORKS = {
    **dict.fromkeys(("alexnet", "bert_base", "deepseek-v3", "gpt2", "mixtral-8x7b"), TRAIN),
    **dict.fromkeys(("mlp", "mobilenetv2", "resnet18"), TRAIN),
    **dict.fromkeys(("qwen3-8b", "vgg16"), VALIDATION),
    **dict.fromkeys(("llama-3-8b", "resnet50"), TEST),
}
"""Networks and their split; a shape of several networks belongs to the first of them."""
CHIPS = {
    **dict.fromkeys(("edge", "cloud", "nvdla-small", "gemmini-16"), TRAIN),
    "tpu-v1": VALIDATION,
    "eyeriss": TEST,
    "nvdla-full": TEST,
}
"""Chips of two levels and their split."""
DEEP = ("simba", "nvdla-cacc", "eyeriss-rs", "tpu-v1-ws")
"""Chips of three levels and more, all of split `test`."""
DEEP_NETWORKS = ("resnet18", "bert_base")
OTHER_OBJECTIVES = ("latency", "energy")
"""Objectives other than EDP, on the first chip."""
HALO_CHIPS = ("edge", "cloud", "eyeriss")
"""Chips on which windows are also counted as most tools count them."""


@dataclass(frozen=True)
class OptimaProblem:
    """One problem of the data set.

    Args:
        network: The network of its layer.
        spec: The problem.
    """

    network: str
    spec: ProblemSpec

    @property
    def halo_time(self) -> str:
        """Whether rows that the next tile needs too stay (``retain``) or not (``none``)."""
        return str(self.spec.cost_model_options.get("halo_time", "retain"))

    @property
    def id(self) -> str:
        """Such as ``resnet18.2-edge-edp-retain``; a file's name."""
        spec = self.spec
        return f"{spec.layer_name}-{spec.accelerator_name}-{spec.objective}-{self.halo_time}"

    @property
    def deep(self) -> bool:
        """Whether its chip is a list of levels."""
        return self.spec.accelerator_name in CHAINS

    @property
    def splits(self) -> dict[str, str]:
        """Its split by network and by chip."""
        chip = CHIPS.get(self.spec.accelerator_name, TEST)
        return {"split_network": NETWORKS[self.network], "split_chip": chip}


def problems() -> Iterator[OptimaProblem]:
    """All problems, those of one shape together; some have no mapping, as filters are whole."""
    for network, name, layer in shapes():
        for chip in CHIPS:
            yield _problem(network, name, layer, chip, "edp")
        for objective in OTHER_OBJECTIVES:
            yield _problem(network, name, layer, next(iter(CHIPS)), objective)
        for chip in HALO_CHIPS:
            if layer.R > 1 or layer.S > 1:  # else no two tiles share an element
                yield _problem(network, name, layer, chip, "edp", halo_time="none")
        for chip in DEEP:
            if network in DEEP_NETWORKS:
                found = _problem(network, name, layer, chip, "edp")
                if can_prove(found.spec.build()) is None:  # else its space has no bounds
                    yield found


def shapes() -> Iterator[tuple[str, str, Layer]]:
    """Every distinct shape: its first network, its name there, and the layer."""
    seen = set()
    for network in NETWORKS:
        for number, layer in enumerate(layers.network(network)):
            if layer.renamed("") not in seen:
                seen.add(layer.renamed(""))
                yield network, f"{network}.{number}", layer


def _problem(
    network: str, name: str, layer: Layer, chip: str, objective: str, **rules: str
) -> OptimaProblem:
    spec = ProblemSpec(layer, name, load_chip(chip), chip, objective, cost_model_options=rules)
    return OptimaProblem(network, spec)
