"""What training and acting cost: counted for the weights that are kept, and as executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mast.agents import AGENTS
from mast.config import MastConfig
from mast.episodes import TaskShape
from mast.mixers import MIXERS
from mast.networks import build, layer_maker, rules_of, sparse_layers, sparsifier_of
from mast.operators import OPERATORS
from mast.parts import UpdateSize
from mast.returns import RETURNS
from mast.widths import NetworkWidths
from sparse_training import FlopColumns, Flops, linear_flops

BLOCK_WEIGHTS = 16


@dataclass(frozen=True)
class Passes:
    """What an update asks of one network.

    Attributes:
        rows: Columns of a pass.
        trained: Passes that are followed by a backward pass.
        forward: Other passes, those of its target included.
    """

    rows: int
    trained: int = 1
    forward: int = 1


def passes_of(config: MastConfig, shape: TaskShape) -> dict[str, Passes]:
    """Passes of an update, by network.

    Agents read the state after the last step too, which double Q needs; each own network sees its
    own agent's rows only.
    """
    steps, kind = config.batch * shape.length, config.kind
    seen = config.batch * (shape.length + 1) * (shape.n_agents if config.share else 1)
    return {
        "agents": Passes(seen, forward=kind.agents_forward),
        "mixer": Passes(steps, forward=kind.mixer_forward),
        "central_agents": Passes(seen),
        "central_mixer": Passes(steps, forward=kind.central_forward),
    }


def outside_layers(config: MastConfig, shape: TaskShape, widths: NetworkWidths) -> int:
    """Operations of an update outside of layers: mixing, the operator, returns, cells."""
    seen = config.batch * (shape.length + 1) * shape.n_agents
    steps, n, a = config.batch * shape.length, shape.n_agents, shape.n_actions
    size = UpdateSize(steps, seen, n, a, widths.second, widths.mixer)
    names, passes = config.part_names(), passes_of(config, shape)
    times = {name: 3 * one.trained + one.forward for name, one in passes.items()}
    return (
        times["agents"] * AGENTS.make(names["agents"], config).flops(size)
        + times["mixer"] * MIXERS.make(names["mixer"], config).flops(size)
        + OPERATORS.make(names["operator"], config).flops(size)
        + RETURNS.make(names["returns"], config).flops(size)
    )


@dataclass(frozen=True)
class LayerCost:
    """One layer and how it is used.

    Attributes:
        shape: Outputs and inputs.
        kept: Weights that are kept.
        multiplied: Weights that the backend multiplies.
        packed: Only kept weights are held.
        passes: What an update asks.
        data: Its input needs no gradient.
    """

    shape: tuple[int, int]
    kept: int
    multiplied: int
    packed: bool
    passes: Passes
    data: bool

    def update(self) -> FlopColumns:
        """Of one update."""
        return FlopColumns(self._update(self.kept), self._update(self.multiplied))

    def _update(self, weights: int) -> Flops:
        once = linear_flops(weights, self.passes.rows, reads_data=self.data)
        return once * self.passes.trained + Flops(once.forward) * self.passes.forward

    def topology(self, config: MastConfig) -> FlopColumns:
        """What a topology step adds to an update: the dense gradient, where a rule asks for it."""
        rows, size = self.passes.rows * self.passes.trained, self.shape[0] * self.shape[1]
        theoretical, executed = (
            max(rule.flops(size, kept, rows) for rule in rules_of(config))
            for kept in (self.kept, 0 if self.packed else size)
        )
        return FlopColumns(Flops(topology=theoretical), Flops(topology=executed))


@dataclass(frozen=True)
class RunCost:
    """What a run costs.

    Attributes:
        weights: Weights kept at a time, of all networks that learn.
        training: Operations of all updates, topology steps included.
        inference: Operations of one step of all agents.
    """

    weights: int
    training: FlopColumns
    inference: FlopColumns

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "weights": self.weights,
            "train_flops": self.training.theoretical.total,
            "train_flops_executed": self.training.executed.total,
            "topology_flops": self.training.theoretical.topology,
            "inference_flops": self.inference.theoretical.total,
            "inference_flops_executed": self.inference.executed.total,
        }


def count_updates(config: MastConfig, shape: TaskShape, steps: int) -> tuple[int, int]:
    """Updates and topology steps of a run whose episodes all have full length."""
    episodes, every = steps // shape.length, config.update_every
    first = -(-config.batch // every)
    updates = max(0, episodes // every - first + 1)
    last = config.topology_end * steps / shape.length
    if config.counted == "updates":
        moves = sum(
            (first - 1 + update) * every < last
            for update in range(config.topology_every, updates + 1, config.topology_every)
        )
    else:
        moves = sum(
            episode >= config.batch and episode % every == 0 and episode < last
            for episode in range(config.topology_every, episodes + 1, config.topology_every)
        )
    return updates, moves if config.targets.sparse and rules_of(config)[0].moves else 0


def run_cost(
    config: MastConfig, shape: TaskShape, steps: int, widths: NetworkWidths | None = None
) -> RunCost:
    """Count a whole run.

    Args:
        config: What is learnt how; of tiny arms the widths must be given.
        shape: The task's.
        steps: Steps of the environment.
        widths: Other widths than the configuration's.
    """
    layers = layer_costs(config, shape, widths or NetworkWidths.of(config))
    updates, moves = count_updates(config, shape, steps)
    each = (cost.update() * updates + cost.topology(config) * moves for cost in layers.values())
    training = sum(each, FlopColumns())
    return RunCost(sum(c.kept for c in layers.values()), training, inference_cost(layers, shape))


def inference_cost(layers: Mapping[str, LayerCost], shape: TaskShape) -> FlopColumns:
    """One step of all agents."""
    acting = {name: cost for name, cost in layers.items() if name.startswith("agents.")}
    shared = len({name.split(".")[2] for name in acting}) == 1
    rows = shape.n_agents if shared else 1
    each = (
        FlopColumns(Flops(2 * cost.kept), Flops(2 * cost.multiplied)) for cost in acting.values()
    )
    return sum(each, FlopColumns()) * rows


def layer_costs(
    config: MastConfig, shape: TaskShape, widths: NetworkWidths
) -> dict[str, LayerCost]:
    """Every layer of a configuration as it will be, without any weights being made."""
    networks = build(config, shape, widths, layer_maker(config, None, "meta"))
    layers = sparse_layers(networks)
    passes, masks = passes_of(config, shape), sparsifier_of(config, layers)
    units = {} if masks is None else masks.allocation(config.sparsity)
    each = BLOCK_WEIGHTS if config.targets.kind.unit == "block4" else 1
    costs = {}
    for name, layer in layers.items():
        size = layer.weight_count
        kept = min(size, each * units[name]) if name in units else size
        packed = name in units and config.backend == "compiled"
        multiplied = each * units[name] if packed else size
        use = passes[name.partition(".")[0]]
        costs[name] = LayerCost(layer.shape, kept, multiplied, packed, use, layer.reads_data)
    return costs


def sparse_counterpart(config: MastConfig) -> MastConfig:
    """The sparse configuration whose training a tiny one's must cost."""
    return replace(config, arm="mast", without=(), growth=None)
