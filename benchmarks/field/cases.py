"""The problems that every mapper gets: layers, chips, and one set of counting rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import cost_models
import layers
from cost_models import Chain, ChainLevel, ChainMapping, Cost, CostModel, Entry, load_chip
from layers import DIMS, Layer
from maestro_env import Problem
from mapper.export.loop_nest import LoopNest, loop_nest

LAYERS = (
    "bert_base.0", "bert_base.4", "llama-3-8b.0", "gemm:M=1,N=4096,K=4096", "mobilenetv2.2",
    "mobilenetv2.1", "resnet18.7", "resnet18.2",
)  # fmt: skip
"""Products first, of Llama's prefill and decode too; then convolutions of 1 x 1 and 3 x 3 taps."""
CHIPS = ("edge", "simba", "eyeriss-rs", "tpu-v1-ws")
OBJECTIVES = ("energy", "edp", "latency")
PLAIN = {"halo_time": "none"}
"""Tiles that move are brought whole."""
BOXES = PLAIN | {"halo_space": "tile", "window": "box"}
"""Besides, each unit brings the box around what its tile touches."""


@dataclass(frozen=True)
class FieldCase:
    """A layer on a chip, and what is least.

    Args:
        layer_name: The layer, as ``layers.parse`` reads it.
        chip_name: The chip of the library.
        objective: One of `OBJECTIVES`.
    """

    layer_name: str
    chip_name: str
    objective: str = "energy"

    @property
    def name(self) -> str:
        """Chip, layer and objective, as ``--cases`` takes them."""
        return f"{self.chip_name}/{self.layer_name}/{self.objective}"

    def value(self, energy_nj: float, cycles: float) -> float:
        """What is least: energy [nJ], latency [cycles], or their product."""
        return {"energy": energy_nj, "latency": cycles, "edp": energy_nj * cycles}[self.objective]

    @cached_property
    def layer(self) -> Layer:
        """The layer."""
        return layers.parse(self.layer_name)

    @cached_property
    def chip(self) -> Chain:
        """The chip as tools can state it.

        A tile is held once, outputs have the width of partial sums everywhere, and wires are free.
        """
        found = load_chip(self.chip_name)
        chain = found if isinstance(found, Chain) else found.to_levels()
        free = ChainLevel(name="").network
        once = tuple(replace(one, double_buffer=(False,) * 3, network=free) for one in chain.levels)
        widths = chain.widths._replace(output=chain.widths.psum)
        return replace(chain, levels=once, widths=widths, name=self.chip_name)

    @property
    def windowed(self) -> bool:
        """Whether tiles of the input overlap."""
        return self.layer.R > 1 or self.layer.S > 1

    @cached_property
    def model(self) -> CostModel:
        """The exact model by the tools' rules of windows."""
        return cost_models.load("exact", **(BOXES if self.windowed else PLAIN))

    @cached_property
    def statement(self) -> LoopNest:
        """The chip with all of its memories; the mapping is one of tiles of 1."""
        ones = dict.fromkeys(DIMS, 1)
        entries = (Entry(one.name, ones if one.is_memory else {}) for one in self.chip.inner)
        return loop_nest(self.layer, self.chip, ChainMapping(tuple(entries)))

    def problem(self, space: dict[str, Any], model: CostModel | None = None) -> Problem:
        """The problem in a space; by the tools' rules where no model is given."""
        return Problem(self.layer, self.chip, self.objective, model or self.model, space)

    def cost(self, mapping: ChainMapping) -> Cost:
        """What a mapping costs by our model."""
        return self.model.evaluate(self.layer, self.chip, mapping)

    def ours(self, mapping: ChainMapping) -> float:
        """A mapping's value by our model."""
        cost = self.cost(mapping)
        return self.value(cost.energy_nj, cost.latency_cycles)


CASES = tuple(FieldCase(*names) for names in product(LAYERS, CHIPS, OBJECTIVES))
