"""Sparse layers of a network: which weights they keep, and how that changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import distributed
from torch.optim import Optimizer

from marl_common import BoolArray
from sparse_training.allocation import RULES, allocate
from sparse_training.errors import SparseTrainingError, check_name, check_share, check_sparsity
from sparse_training.linear import SparseLinear
from sparse_training.optimizers import STATE, SparseAdam, move_state
from sparse_training.rules import DROP_RULES, DropRule, GrowthRule, Scores, growth_rule
from sparse_training.structure import UNITS, Degrees, Structure, Unit, unit_grid
from sparse_training.topology import GROWTH, plan_step, step_structure
from sparse_training.values import gather, unit_sums


@dataclass(frozen=True)
class SparsityConfig:
    """How sparse a network is, and how its masks change.

    Attributes:
        sparsity: Share of the weights that is left out, of [0, 1).
        rule: How layers share the budget: ``"er"`` or ``"uniform"``.
        unit: ``"free"`` or ``"block4"``.
        growth: ``"static"``, ``"set"``, ``"rigl"``, ``"mixed"``, or a rule.
        growth_ratio: With ``mixed``: units that grow by gradient for one that grows at random.
        optimizer_state: What new weights begin with (:class:`SparseAdam`).
        drop: Share of the kept units that the first topology step drops.
        every: Updates from one topology step to the next; the caller counts them.
        drop_rule: What is dropped: ``"magnitude"``, or a rule.
    """

    sparsity: float
    rule: str = "er"
    unit: Unit = "free"
    growth: str | GrowthRule = "rigl"
    growth_ratio: float = 3.0
    optimizer_state: str = "local"
    drop: float = 0.5
    every: int = 100
    drop_rule: str | DropRule = "magnitude"

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            SparseTrainingError: Names the field, what it holds and what was expected.
        """
        check_sparsity(self.sparsity)
        check_name("rule", self.rule, RULES)
        check_name("unit", self.unit, UNITS)
        if isinstance(self.growth, str):
            check_name("growth", self.growth, GROWTH)
        if isinstance(self.drop_rule, str):
            check_name("drop_rule", self.drop_rule, DROP_RULES)
        check_share("drop", self.drop)
        if self.growth_ratio < 0:
            raise SparseTrainingError(f"growth_ratio={self.growth_ratio}: expected 0 or more.")
        if self.every < 1:
            raise SparseTrainingError(f"every={self.every}: expected a whole number from 1.")
        if STATE.fullmatch(self.optimizer_state) is None:
            check_name("optimizer_state", self.optimizer_state, ("local", "reset", "keep"))

    @property
    def grows(self) -> GrowthRule:
        """The growth rule."""
        return growth_rule(self.growth, self.growth_ratio)

    @property
    def drops(self) -> DropRule:
        """The drop rule."""
        return DROP_RULES[self.drop_rule]() if isinstance(self.drop_rule, str) else self.drop_rule


@dataclass(frozen=True)
class TopologyReport:
    """What one topology step did.

    Attributes:
        dropped: Units that each layer lost.
        grown: Units that each layer gained; what was dropped and grew again is in neither.
        counts: Kept weights of each layer afterwards.
        sparsity: Share of all weights that is left out.
    """

    dropped: dict[str, int]
    grown: dict[str, int]
    counts: dict[str, int]
    sparsity: float


class Sparsifier:
    """Keeps the masks of layers, and changes them at topology steps.

    Args:
        layers: The sparse layers by name, of one network or several.
        config: How sparse, and how masks change.
        budgets: Names of the layers that share a budget, by the budget's name: one for each network
            or layer; None is one over all.
        sparsities: Sparsities of budgets that have one of their own, by the budget's name.
        seed: Draws masks and random growth.

    Raises:
        SparseTrainingError: No layers, or budgets that do not hold each layer once.
    """

    def __init__(
        self,
        layers: Mapping[str, SparseLinear],
        config: SparsityConfig,
        *,
        budgets: Mapping[str, Sequence[str]] | None = None,
        sparsities: Mapping[str, float] = MappingProxyType({}),
        seed: int = 0,
    ) -> None:
        self.layers, self.config = dict(layers), config
        self.budgets = {"all": list(layers)} if budgets is None else dict(budgets)
        named = [name for names in self.budgets.values() for name in names]
        if not layers or sorted(named) != sorted(layers):
            raise SparseTrainingError(
                f"budgets of the layers {sorted(named)}; expected each of {sorted(layers)} once."
            )
        self.sparsities = {name: check_sparsity(share) for name, share in sparsities.items()}
        for name in sparsities:
            check_name("budget", name, self.budgets)
        self.steps = 0
        self._generator = np.random.Generator(np.random.PCG64(seed))

    @property
    def by_gradient(self) -> bool:
        """Whether topology steps need dense gradients (:meth:`want_gradients`)."""
        return self.config.grows.by_gradient or self.config.drops.by_gradient

    def attach(self, optimizer: Optimizer | None = None, sparsity: float | None = None) -> None:
        """Draw the first masks uniformly; other weights are 0 from now on.

        Args:
            optimizer: One that has made steps already, whose state follows.
            sparsity: Share of the weights that is left out; the configuration's where None.

        Raises:
            SparseTrainingError: The budget cannot be met (:func:`allocate`).
        """
        kept = self.allocation(self.config.sparsity if sparsity is None else sparsity)
        for name, layer in self.layers.items():
            units = int(np.prod(unit_grid(layer.shape, self.config.unit)))
            chosen = self._generator.choice(units, kept[name], replace=False, shuffle=False)
            self._set(layer, Structure(layer.shape, self.config.unit, np.sort(chosen)), optimizer)

    def allocation(self, sparsity: float) -> dict[str, int]:
        """Units that each layer keeps at a sparsity, budgets with one of their own at that."""
        kept: dict[str, int] = {}
        for budget, names in self.budgets.items():
            shapes = [self.layers[name].shape for name in names]
            share = self.sparsities.get(budget, sparsity)
            counts = allocate(shapes, share, self.config.rule, self.config.unit)
            kept.update(zip(names, counts, strict=True))
        return kept

    def want_gradients(self, on: bool = True) -> None:
        """Add dense gradients up in all backward passes from now on, until the topology step."""
        for layer in self.layers.values():
            layer.want_gradient(on)

    def step(
        self,
        drop_fraction: float,
        optimizer: Optimizer | None = None,
        sparsity: float | None = None,
    ) -> TopologyReport:
        """Drop the smallest weights of each layer, and grow others.

        Processes of one group of `torch.distributed` add their dense gradients up first, so that
        equal masks stay equal.

        Args:
            drop_fraction: Share of the kept units of each layer.
            optimizer: Any of torch; its state follows.
            sparsity: Share of the weights that is left out from now on; layers share the budget
                anew. None keeps the counts.

        Raises:
            SparseTrainingError: Not attached, a number out of range, an optimiser with another law
                of its state or one that cannot follow, or dense gradients that are missing or not
                finite.
        """
        check_share("drop_fraction", drop_fraction)
        structures = self._structures()
        law = self.config.optimizer_state.partition(":")[0]
        if isinstance(optimizer, SparseAdam) and optimizer.law != law:
            raise SparseTrainingError(
                f"optimiser with state {optimizer.law!r}; expected "
                f"{self.config.optimizer_state!r}, as the SparsityConfig says."
            )
        self._add_up()
        kept = {name: len(old.kept) for name, old in structures.items()}
        if sparsity is not None:
            kept = self.allocation(sparsity)
        new = {
            name: self._next(name, old, kept[name], drop_fraction)
            for name, old in structures.items()
        }
        dropped, grown = {}, {}
        for name, structure in new.items():
            old = structures[name]
            stay = int((structure.found_in(old) >= 0).sum())
            dropped[name], grown[name] = len(old.kept) - stay, len(structure.kept) - stay
            self._set(self.layers[name], structure, optimizer)
        self.want_gradients(False)
        self.steps += 1
        return TopologyReport(dropped, grown, self.counts(), self.sparsity())

    def _add_up(self) -> None:
        """Add the dense gradients of all processes up."""
        if distributed.is_available() and distributed.is_initialized():
            for layer in self.layers.values():
                if layer.dense_gradient is not None:
                    distributed.all_reduce(layer.dense_gradient)

    def _next(self, name: str, old: Structure, kept: int, fraction: float) -> Structure:
        growth, dropping, layer = self.config.grows, self.config.drops, self.layers[name]
        ratio = self.config.growth_ratio
        plan = plan_step(len(old.kept), kept, old.units, fraction, growth, ratio)
        weight = layer.weight.detach()
        values = weight if layer.packed else gather(weight, old)
        sizes = values.abs().reshape(len(old.kept), -1).sum(dim=1).cpu().numpy()
        grown = own = None
        if plan.by_gradient or (plan.drop and dropping.by_gradient):
            gradients = self._gradients(name, old)
            grown, own = growth.scores(old, gradients), gradients[old.kept]
        scores = dropping.scores(sizes, own) if plan.drop else sizes
        return step_structure(old, scores, grown, plan, self._generator)

    def _gradients(self, name: str, old: Structure) -> Scores:
        """``(units,)`` sums of magnitudes of a layer's dense gradient."""
        dense = self.layers[name].dense_gradient
        if dense is None:
            raise SparseTrainingError(
                f"layer {name!r} has no dense gradient, which growth {self.config.growth!r} needs; "
                "call want_gradients() before the backward passes of a topology step."
            )
        gradients: Scores = unit_sums(dense, old).cpu().numpy()
        if not np.isfinite(gradients).all():
            raise SparseTrainingError(
                f"layer {name!r}: the dense gradient is not finite; expected numbers. The loss "
                "has diverged: lower the learning rate."
            )
        return gradients

    @staticmethod
    def _set(layer: SparseLinear, structure: Structure, optimizer: Optimizer | None) -> None:
        before, after = layer.set_structure(structure)
        if optimizer is not None:
            move_state(optimizer, layer.weight, before, after)

    def units(self) -> dict[str, int]:
        """Kept units of each layer."""
        return {name: len(structure.kept) for name, structure in self._structures().items()}

    def counts(self) -> dict[str, int]:
        """Kept weights of each layer."""
        return {name: structure.weights for name, structure in self._structures().items()}

    def densities(self) -> dict[str, float]:
        """Share of the weights that each layer keeps."""
        return {name: structure.density for name, structure in self._structures().items()}

    def sparsity(self) -> float:
        """Share of the weights of all layers that is left out."""
        total = sum(layer.weight_count for layer in self.layers.values())
        return 1 - sum(self.counts().values()) / total

    def masks(self) -> dict[str, BoolArray]:
        """``(O, I)`` masks."""
        return {name: structure.mask.copy() for name, structure in self._structures().items()}

    def degrees(self) -> dict[str, Degrees]:
        """Kept weights of each output and input of each layer."""
        return {name: structure.degrees() for name, structure in self._structures().items()}

    def _structures(self) -> dict[str, Structure]:
        found = {name: layer.structure for name, layer in self.layers.items()}
        there = {name: structure for name, structure in found.items() if structure is not None}
        if len(there) < len(found):
            raise SparseTrainingError("the layers have no masks yet; call attach() first.")
        return there

    def state_dict(self) -> dict[str, Any]:
        """Masks as packed bits, the generator's state, and how many steps there were."""
        return {
            "unit": self.config.unit,
            "bits": {name: structure.bits for name, structure in self._structures().items()},
            "shapes": {name: list(layer.shape) for name, layer in self.layers.items()},
            "generator": json.dumps(self._generator.bit_generator.state),
            "steps": self.steps,
        }

    @torch.no_grad()
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Give the layers the masks of a state; then load the network's, then the optimiser's.

        Raises:
            SparseTrainingError: The state is of other layers or units.
        """
        shapes = {name: list(layer.shape) for name, layer in self.layers.items()}
        given = {name: [int(n) for n in shape] for name, shape in state["shapes"].items()}
        if given != shapes or state["unit"] != self.config.unit:
            raise SparseTrainingError(
                f"masks of {_named(given)}, unit {state['unit']!r}; expected {_named(shapes)}, "
                f"unit {self.config.unit!r}: a checkpoint of another mask set."
            )
        for name, layer in self.layers.items():
            bits = np.asarray(state["bits"][name], dtype=np.uint8)
            structure = Structure.of_bits(layer.shape, self.config.unit, bits)
            if not structure.same_as(layer.structure):
                layer.set_structure(structure)
        self.want_gradients(False)
        self._generator.bit_generator.state = json.loads(state["generator"])
        self.steps = int(state["steps"])


def _named(shapes: Mapping[str, Sequence[int]]) -> str:
    return ", ".join(f"{name} {rows} x {columns}" for name, (rows, columns) in shapes.items())
