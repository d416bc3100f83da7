"""What training and acting cost: counted for the weights that are kept, and as executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mast.config import MastConfig
from mast.episodes import TaskShape
from mast.networks import (
    NetworkWidths,
    budgets_of,
    build,
    layer_maker,
    reads_data,
    sparse_layers,
    sparsified,
)
from sparse_training import (
    FlopColumns,
    Flops,
    SparseLinear,
    allocate,
    linear_flops,
    topology_flops,
)

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
    steps = config.batch * shape.length
    seen = config.batch * (shape.length + 1) * (shape.n_agents if config.share else 1)
    weighted = config.algorithm.endswith("w-qmix")  # its targets are the central networks' own
    mixing = 0 if weighted else {"res": 2}.get(config.algorithm, 1)
    central = 2 if config.algorithm == "cw-qmix" else 1
    return {
        "agents": Passes(seen, forward=0 if weighted else 1),
        "mixer": Passes(steps, forward=mixing),
        "central_agents": Passes(seen),
        "central_mixer": Passes(steps, forward=central),
    }


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

    def topology(self) -> FlopColumns:
        """What a topology step adds to an update."""
        rows = self.passes.rows * self.passes.trained
        size = self.shape[0] * self.shape[1]
        executed = Flops(topology=2 * size * rows) if self.packed else Flops()
        return FlopColumns(topology_flops(self.shape, self.kept, rows), executed)


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
    episodes = steps // shape.length
    first = -(-config.batch // config.update_every)
    updates = max(0, episodes // config.update_every - first + 1)
    last = config.topology_end * steps / shape.length
    moves = sum(
        episode >= config.batch and episode % config.update_every == 0 and episode < last
        for episode in range(config.topology_every, episodes + 1, config.topology_every)
    )
    return updates, moves if config.targets.kind.growth in ("set", "rigl") else 0


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
    gradients = moves if config.targets.kind.growth == "rigl" else 0
    training = summed(
        _times(cost.update(), updates).plus(_times(cost.topology(), gradients))
        for cost in layers.values()
    )
    return RunCost(sum(c.kept for c in layers.values()), training, inference_cost(layers, shape))


def inference_cost(layers: Mapping[str, LayerCost], shape: TaskShape) -> FlopColumns:
    """One step of all agents."""
    acting = {name: cost for name, cost in layers.items() if name.startswith("agents.")}
    shared = len({name.split(".")[2] for name in acting}) == 1
    rows = shape.n_agents if shared else 1
    return summed(
        FlopColumns(Flops(2 * cost.kept * rows), Flops(2 * cost.multiplied * rows))
        for cost in acting.values()
    )


def layer_costs(
    config: MastConfig, shape: TaskShape, widths: NetworkWidths
) -> dict[str, LayerCost]:
    """Every layer of a configuration as it will be, without any weights being made."""
    networks = build(config, shape, widths, layer_maker(config, None, "meta"))
    layers = sparse_layers(networks)
    passes, arm = passes_of(config, shape), config.targets
    units = _allocation(config, layers) if arm.sparse else {}
    costs = {}
    for name, layer in layers.items():
        size = layer.in_features * layer.out_features
        each = BLOCK_WEIGHTS if arm.kind.unit == "block4" else 1
        kept = min(size, each * units[name]) if name in units else size
        packed = name in units and config.backend == "compiled"
        multiplied = each * units[name] if packed else size
        use = passes[name.partition(".")[0]]
        costs[name] = LayerCost(layer.shape, kept, multiplied, packed, use, reads_data(name))
    return costs


def _allocation(config: MastConfig, layers: Mapping[str, SparseLinear]) -> dict[str, int]:
    layers = sparsified(layers, config.left_dense)
    groups = budgets_of(layers, config.budget) or {"all": list(layers)}
    units: dict[str, int] = {}
    for names in groups.values():
        shapes = [layers[name].shape for name in names]
        unit: Any = config.targets.kind.unit
        counts = allocate(shapes, config.sparsity, config.rule, unit)
        units.update(zip(names, counts, strict=True))
    return units


def sparse_counterpart(config: MastConfig) -> MastConfig:
    """The sparse configuration whose training a tiny one's must cost."""
    return replace(config, arm="mast", without=())


def summed(columns: Any) -> FlopColumns:
    """All of them added up."""
    total = FlopColumns(Flops(), Flops())
    for one in columns:
        total = total.plus(one)
    return total


def _times(columns: FlopColumns, count: int) -> FlopColumns:
    return FlopColumns(columns.theoretical * count, columns.executed * count)
