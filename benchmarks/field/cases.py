"""The problems that every mapper gets, and our answers.

Layers, chips and one set of counting rules; our optimum of a case, and the least of our spaces that
has another tool's mapping.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple

import baselines
import cost_models
import layers
from baselines import ProveError, SearchResult, prove
from benchmarks.frame import Row
from cost_models import (
    Accelerator,
    Chain,
    ChainLevel,
    ChainMapping,
    Cost,
    CostModel,
    Entry,
    Mapping,
    load_chip,
    two_levels_of,
)
from layers import DIMS, Layer
from maestro_env import MapSpaceError, Problem
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

    @cached_property
    def own_chip(self) -> Accelerator | Chain:
        """The chip as our default space takes it, of two levels where it is one of these."""
        return two_levels_of(self.chip) or self.chip

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

    def cost(
        self, mapping: Mapping | ChainMapping, chip: Accelerator | Chain | None = None
    ) -> Cost:
        """What a mapping costs by our model; on the list of levels where no chip is given."""
        return self.model.evaluate(self.layer, chip or self.chip, mapping)

    def ours(
        self, mapping: Mapping | ChainMapping, chip: Accelerator | Chain | None = None
    ) -> float:
        """A mapping's value by our model."""
        cost = self.cost(mapping, chip)
        return self.value(cost.energy_nj, cost.latency_cycles)


CASES = tuple(FieldCase(*names) for names in product(LAYERS, CHIPS, OBJECTIVES))


MOST_BOXES = 20_000_000
"""Boxes after which a proof ends; the case is then open."""
SAMPLES = 300_000
"""Samples of a search of a space that is too large for a proof."""
SPACES: dict[str, Row] = {
    "default": {},
    "uneven": {"uneven": True},
    "axis_dims=3": {"axis_dims": 3},
    "axis_dims=3, uneven": {"axis_dims": 3, "uneven": True},
    "full": {"full": True},
    "axis_dims=4": {"axis_dims": 4},
    "axis_dims=4, uneven": {"axis_dims": 4, "uneven": True},
    "axis_dims=4, full": {"axis_dims": 4, "full": True},
}
"""The least first."""


class Ours(NamedTuple):
    """Our answer: its value by our model, its bound, and the processor time of the proof [s]."""

    mapping: Mapping | ChainMapping
    value: float
    bound: float
    cpu_s: float


@lru_cache(maxsize=4)
def optimum(case: FieldCase, tiles: str = "balanced") -> Ours:
    """The optimum of the default space; of windows by the rules that have a bound.

    Args:
        case: The case.
        tiles: ``divisors`` for what tools of whole factors take.
    """
    return proven(case, {} if tiles == "balanced" else {"tiles": tiles})


def proven(case: FieldCase, space: Row) -> Ours:
    """What a proof of a space ends with, or `ga` where bounds do not know it."""
    began = time.process_time()
    chip = case.chip if space else case.own_chip
    # bounds of lists of levels know no boxes
    rules = cost_models.load("exact", **PLAIN) if isinstance(chip, Chain) else case.model
    problem = Problem(case.layer, chip, case.objective, rules, space)
    try:
        proof = prove(problem, boxes=MOST_BOXES)
        mapping, bound = proof.mapping, proof.bound
    except ProveError:
        mapping, bound = _best(problem).mapping, 0.0
    assert mapping is not None
    value = case.ours(mapping, chip)
    return Ours(mapping, value, min(bound, value), time.process_time() - began)


def widened(case: FieldCase, enough: float) -> tuple[str, float]:
    """Look in larger spaces until a value is low enough; the space with the least, and the value.

    Args:
        case: The case.
        enough: The value that is looked for.
    """
    found = dict.fromkeys(SPACES, math.inf)
    for name, proves in (
        ("axis_dims=3", True),
        ("axis_dims=3, uneven", True),
        ("axis_dims=3, uneven", False),
        ("full", False),
        ("axis_dims=4, uneven", False),
    ):
        if proves:
            value = proven(case, SPACES[name]).value
        else:  # by the tools' rules
            value = _best(case.problem(SPACES[name])).best_value
        found[name] = min(found[name], value)
        if value <= enough:
            break
    least = min(found, key=found.__getitem__)
    return least, found[least]


def _best(problem: Problem) -> SearchResult:
    return baselines.load("ga").search(problem, SAMPLES, seed=0)


def space_of(case: FieldCase, mapping: ChainMapping) -> str:
    """The least of our spaces that has a mapping, at the same value; else ``none``."""
    for name, options in SPACES.items():
        problem = case.problem(options)
        written = mapping if name == "default" else expanded(case.chip, mapping)
        try:
            action = problem.action_of(written)
        except (MapSpaceError, ValueError):
            continue
        value = float(problem.evaluate(action).values[0])
        if abs(value / case.ours(mapping) - 1) < 1e-9:
            return name
    return "none"


def expanded(chip: Chain, mapping: ChainMapping) -> ChainMapping:
    """The same with as many entries for a memory as it holds tensors, as uneven spaces have them.

    Those that are added keep nothing.
    """
    found: list[Entry] = []
    for level in chip.inner:
        own = [entry for entry in mapping.entries if entry.level == level.name]
        spreads = own[-1].parallel
        own[-1] = replace(own[-1], parallel=())
        own += [replace(own[-1], keeps=frozenset())] * (sum(level.holds) - len(own))
        found += [*own[:-1], replace(own[-1], parallel=spreads)]
    return ChainMapping(tuple(found))


def choices_beyond(mapping: ChainMapping) -> str:
    """What of a mapping the default space lacks, in words."""
    return "; ".join(_beyond(mapping))


def _beyond(mapping: ChainMapping) -> Iterator[str]:
    times = Counter(entry.level for entry in mapping.entries)
    for level, count in times.items():
        own = [entry.keeps or () for entry in mapping.entries if entry.level == level]
        if count > 1:
            yield f"{level} keeps " + ", then ".join(" and ".join(sorted(one)) for one in own)
    for entry in mapping.entries:
        for axis, count in Counter(spread.axis for spread in entry.parallel).items():
            if count > 1:
                dims = [spread.dim for spread in entry.parallel if spread.axis == axis]
                yield f"{' and '.join(dims)} on axis {axis} of {entry.level}"
