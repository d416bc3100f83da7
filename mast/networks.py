"""All networks of a learner, by name, with their sparse layers and what an update asks of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from mast.agents import MakeLayer, TeamAgents
from mast.config import MastConfig
from mast.episodes import TaskShape
from mast.mixers import CentralMixer, QmixMixer, VdnMixer
from sparse_training import SparseLinear

DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True)
class NetworkWidths:
    """NetworkWidths of all networks.

    Attributes:
        hidden: Of the agents' first hidden layer.
        second: Of the agents' second hidden layer, or of what they remember.
        mixer: Of the mixing layer.
        hyper: Of the hypernetworks' hidden layers, and of the central mixer's.
    """

    hidden: int
    second: int
    mixer: int
    hyper: int

    @classmethod
    def of(cls, config: MastConfig) -> NetworkWidths:
        """Those that a configuration names."""
        return cls(config.hidden, config.hidden, config.mixer_width, config.hyper_width)


def build(config: MastConfig, shape: TaskShape, widths: NetworkWidths, make: MakeLayer) -> Any:
    """The networks of an algorithm.

    Returns:
        A `torch.nn.ModuleDict`: ``agents`` and ``mixer``, and for WQMIX ``central_agents`` and
        ``central_mixer``.
    """
    n, s = shape.n_agents, shape.state_dim

    def agents() -> TeamAgents:
        hidden = (widths.hidden, widths.second)
        return TeamAgents(config.agents, shape, hidden, config.share, make)

    made: dict[str, torch.nn.Module] = {"agents": agents()}
    if config.algorithm == "vdn":
        made["mixer"] = VdnMixer()
    else:
        made["mixer"] = QmixMixer(n, s, widths.mixer, widths.hyper, make)
    if config.algorithm.endswith("w-qmix"):
        made["central_agents"] = agents()
        made["central_mixer"] = CentralMixer(n, s, widths.hyper, make)
    return torch.nn.ModuleDict(made)


def layer_maker(config: MastConfig, generator: torch.Generator | None, device: str) -> MakeLayer:
    """Makes the layers of a configuration, their weights drawn from one generator."""
    return partial(
        SparseLinear,
        layout="columns",
        backend=config.backend if device != "meta" else "masked",  # type: ignore[arg-type]
        generator=generator,
        dtype=DTYPES[config.dtype],
        device=device,
    )


def sparse_layers(networks: torch.nn.Module) -> dict[str, SparseLinear]:
    """Every layer by its path, such as ``agents.nets.0.first``."""
    return {
        name: module
        for name, module in networks.named_modules()
        if isinstance(module, SparseLinear)
    }


def network_of(layer: str) -> str:
    """The network that a layer is part of: ``agents.0`` or ``mixer``."""
    parts = layer.split(".")
    return f"{parts[0]}.{parts[2]}" if parts[1] == "nets" else parts[0]


def sparsified(layers: Mapping[str, SparseLinear], left_dense: str) -> dict[str, SparseLinear]:
    """The layers that a sparse arm makes sparse.

    Args:
        layers: By path.
        left_dense: ``"agents"`` or ``"mixer"``, WQMIX's central ones too; or ``"none"``, which is
            part of no layer's path.
    """
    return {n: layer for n, layer in layers.items() if left_dense not in n.partition(".")[0]}


def budgets_of(layers: Mapping[str, SparseLinear], budget: str) -> dict[str, list[str]] | None:
    """Which layers share a budget.

    Args:
        layers: By path.
        budget: ``"network"``, ``"layer"`` or ``"all"``.
    """
    if budget == "all":
        return None
    groups: dict[str, list[str]] = {}
    for name in layers:
        groups.setdefault(name if budget == "layer" else network_of(name), []).append(name)
    return groups


def reads_data(layer: str) -> bool:
    """Whether what a layer reads needs no gradient: observations or states."""
    network, _, own = layer.partition(".")
    if network.endswith("agents"):
        return own.endswith(".first")
    return network == "mixer" and own in ("hidden", "bias")
