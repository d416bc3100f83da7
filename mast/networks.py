"""All networks of a learner, by name, with their sparse layers and what an update asks of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from mast.agents import AGENTS
from mast.config import MastConfig
from mast.episodes import TaskShape
from mast.errors import MastError
from mast.mixers import MIXERS, CentralMixer
from mast.nets import MakeLayer, NetLayer, TeamAgents
from mast.rules import DROPS, GROWTHS
from mast.widths import NetworkWidths
from sparse_training import DropRule, GrowthRule, Sparsifier, SparsityConfig

DTYPES = {"float32": torch.float32, "float64": torch.float64}


def build(config: MastConfig, shape: TaskShape, widths: NetworkWidths, make: MakeLayer) -> Any:
    """The networks of an algorithm.

    Returns:
        A `torch.nn.ModuleDict`: ``agents`` and ``mixer``, and for WQMIX ``central_agents`` and
        ``central_mixer``.
    """

    def agents() -> TeamAgents:
        kind, hidden = AGENTS.make(config.agents, config), (widths.hidden, widths.second)
        return TeamAgents(kind, shape, hidden, config.share, make)

    mixer = MIXERS.make(config.mixer_name, config)
    made = {"agents": agents(), "mixer": mixer.build(shape, widths, make)}
    if config.kind.central:
        made["central_agents"] = agents()
        made["central_mixer"] = CentralMixer(shape.n_agents, shape.state_dim, widths.hyper, make)
    return torch.nn.ModuleDict(made)


def layer_maker(config: MastConfig, generator: torch.Generator | None, device: str) -> MakeLayer:
    """Makes the layers of a configuration, their weights drawn from one generator."""
    return partial(
        NetLayer,
        layout="columns",
        backend=config.backend if device != "meta" else "masked",
        generator=generator,
        dtype=DTYPES[config.dtype],
        device=device,
    )


def sparse_layers(networks: torch.nn.Module) -> dict[str, NetLayer]:
    """Every layer by its path, such as ``agents.nets.0.first``."""
    return {
        name: module for name, module in networks.named_modules() if isinstance(module, NetLayer)
    }


def network_of(layer: str) -> str:
    """The network that a layer is part of: ``agents.0`` or ``mixer``."""
    parts = layer.split(".")
    return f"{parts[0]}.{parts[2]}" if parts[1] == "nets" else parts[0]


def rules_of(config: MastConfig) -> tuple[GrowthRule, DropRule]:
    """The growth and the drop rule."""
    names = config.part_names()
    return GROWTHS.make(names["growth"], config), DROPS.make(names["drop_rule"], config)


def sparsifier_of(
    config: MastConfig, layers: Mapping[str, NetLayer], state: str = "local", seed: int = 0
) -> Sparsifier | None:
    """What gives the layers masks; None: the networks are dense.

    Args:
        config: What is learnt how.
        layers: By path.
        state: What the optimiser's state of born weights is.
        seed: Seeds the masks.

    Raises:
        MastError: Sparsities are not as many as agents.
    """
    kind = config.targets.kind
    if kind.growth is None:
        return None
    growth, dropping = rules_of(config)
    unit: Any = kind.unit
    sparsity = SparsityConfig(
        config.sparsity, config.rule, unit, growth, optimizer_state=state, drop=config.drop,
        drop_rule=dropping,
    )  # fmt: skip
    chosen = sparsified(layers, config.left_dense)
    budgets = budgets_of(chosen, config.budget)
    shares = sparsities_of(config, budgets)
    return Sparsifier(chosen, sparsity, budgets=budgets, sparsities=shares, seed=seed)


def sparsified(layers: Mapping[str, NetLayer], left_dense: str) -> dict[str, NetLayer]:
    """The layers that a sparse arm makes sparse.

    Args:
        layers: By path.
        left_dense: ``"agents"`` or ``"mixer"``, WQMIX's central ones too; or ``"none"``, which is
            part of no layer's path.
    """
    return {n: layer for n, layer in layers.items() if left_dense not in n.partition(".")[0]}


def budgets_of(layers: Mapping[str, NetLayer], budget: str) -> dict[str, list[str]]:
    """Which layers share a budget, by the budget's name.

    Args:
        layers: By path.
        budget: ``"network"``, ``"layer"`` or ``"all"``.
    """
    if budget == "all":
        return {"all": list(layers)}
    groups: dict[str, list[str]] = {}
    for name in layers:
        groups.setdefault(name if budget == "layer" else network_of(name), []).append(name)
    return groups


def sparsities_of(config: MastConfig, budgets: Mapping[str, Any]) -> dict[str, float]:
    """The sparsity of each budget: its agent's own, or the configuration's.

    Raises:
        MastError: There are not as many as agents.
    """
    own = config.agent_sparsities
    agents = [name for name in budgets if name.startswith("agents.")]
    if own and len(own) != len(agents):
        raise MastError(
            f"agent_sparsities={list(own)}: expected {len(agents)}, one for each agent of "
            f"task {config.task!r}."
        )
    return dict.fromkeys(budgets, config.sparsity) | {
        f"{network}.{i}": share
        for i, share in enumerate(own)
        for network in ("agents", "central_agents")
        if f"{network}.{i}" in budgets
    }
