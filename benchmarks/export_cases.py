"""Drawn mappings of whole factors on chips of two and three levels, for exports to other tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import cost_models
import layers
from cost_models import Accelerator, Chain, ChainMapping, Cost, Entry, Mapping, Spread
from layers import DIMS, TENSORS, Layer
from maestro_env.parameters import divisors
from mapper.export.loop_nest import LoopNest, loop_nest

LAYERS = (
    "conv:K=8,C=4,Y=14,X=14,R=3,S=3",
    "conv:K=16,C=8,Y=9,X=9,R=1,S=1",
    "conv:K=4,C=6,Y=13,X=13,R=3,S=3,stride=2",
    "gemm:M=16,N=24,K=12",
    "dsconv:C=8,Y=10,X=10,R=3,S=3",
)
CHIPS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("export_chips.yaml").read_text(encoding="utf-8")
)
"""Levels of chips of three inside DRAM."""
ZOO = (
    "resnet18.conv2_1a", "mobilenetv2.2", "alexnet.1", "mlp.1", "bert_base.0", "mobilenetv2.1",
    "vgg16.5", "resnet18.6", "gpt2.0", "resnet50.3",
)  # fmt: skip
MORE = (
    "resnet18.3", "resnet18.10", "mobilenetv2.4", "mobilenetv2.7", "vgg16.2", "vgg16.8",
    "alexnet.3", "bert_base.2", "resnet50.6", "mlp.0",
)  # fmt: skip
"""Layers of chips of three levels besides."""
TWO = ("edge", "cloud", "archgym", "eyeriss", "gemmini-16", "nvdla-small")
DRAWS = (1, 30)
"""Every other mapping is the best of so many draws."""
PASSES = 0.15
"""How often a tensor passes a level that could keep it."""
TRIES = 3000


def chip_of(name: str) -> Chain:
    """A chip of `CHIPS`."""
    return Chain.from_dict({"name": name, "levels": CHIPS[name]})


def primes(n: int) -> list[int]:
    """Prime factors, smallest first."""
    for p in range(2, n + 1):
        if n % p == 0:
            return [p, *primes(n // p)]
    return []


def random_mapping(layer: Layer, chip: Chain, rng: np.random.Generator) -> ChainMapping:
    """A mapping of whole factors: every prime of an extent is in some loop or axis."""
    levels = chip.inner
    time = [dict.fromkeys(DIMS, 1) for _ in range(len(levels) + 1)]
    space: dict[tuple[int, int, str], int] = {}
    for dim, extent in zip(DIMS, layer.extents, strict=True):
        for prime in primes(extent):
            slots: list[tuple[int, int | None]] = [(m, None) for m in range(len(levels) + 1)]
            for m, level in enumerate(levels):
                for axis, found in enumerate(() if level.fanout.any else level.fanout.axes):
                    used = prod(n for (at, on, _), n in space.items() if (at, on) == (m, axis))
                    if dim in found.dims and used * prime <= found.units:
                        slots.append((m, axis))
            m, on = slots[int(rng.integers(len(slots)))]
            if on is None:
                time[m][dim] *= prime
            else:
                space[m, on, dim] = space.get((m, on, dim), 1) * prime
    entries, keeps = [], _kept(chip, rng)
    for m, level in enumerate(levels):
        tiles = {
            dim: prod(part[dim] for part in time[m + 1 :])
            * prod(n for (at, _, d), n in space.items() if at >= m and d == dim)
            for dim in DIMS
        }
        spreads = tuple(Spread(d, n, axis) for (at, axis, d), n in space.items() if at == m)
        order = "".join(rng.permutation(list("KCYXRS")))
        entries.append(Entry(level.name, tiles, order, spreads, keeps[m]))
    return ChainMapping(tuple(entries))


def _kept(chip: Chain, rng: np.random.Generator) -> list[frozenset[str]]:
    """What each level keeps: some tensors pass a level, each is kept in one at least."""
    held = [
        {t for t, holds in zip(TENSORS, level.holds, strict=True) if holds} for level in chip.inner
    ]
    found = [{t for t in sorted(some) if rng.random() >= PASSES} for some in held]
    for tensor in TENSORS:
        if not any(tensor in some for some in found):
            next(kept for kept, some in zip(found, held, strict=True) if tensor in some).add(tensor)
    return [frozenset(some) for some in found]


@dataclass(frozen=True)
class Case:
    """A mapping that is exported.

    Args:
        layer: The layer.
        chip: The chip.
        mapping: The mapping.
    """

    layer: Layer
    chip: Any
    mapping: Any

    @cached_property
    def nest(self) -> LoopNest:
        """As whole factors."""
        return loop_nest(self.layer, self.chip, self.mapping)

    def cost(self, **options: Any) -> Cost:
        """By the exact model, which counts whole tiles here, as the tools do."""
        model = cost_models.load("exact", **{"halo_time": "none"} | options)
        return model.evaluate(self.layer, self.chip, self.mapping)

    def counts(self, **options: Any) -> dict[tuple[str, str, str], int]:
        """Elements by memory, tensor and ``read`` or ``write``, by the same model."""
        return {
            (name, tensor, way): round(level.accesses[tensor][way])
            for name, level in self.cost(**options).levels.items()
            for tensor in self.nest.kept(name)
            for way in ("read", "write")
        }


def drawn(layer: Layer, chip: Chain | Accelerator, rng: np.random.Generator) -> Iterator[Case]:
    """Mappings that fit, of as many as `TRIES`."""
    draw = random_mapping if isinstance(chip, Chain) else mapping_of_two
    for _ in range(TRIES):
        case = Case(layer, chip, draw(layer, chip, rng))
        if case.cost().feasible:
            yield case


def cases(count: int, seed: int) -> Iterator[Case]:
    """Mappings of the layers and chips in turn."""
    rng = np.random.default_rng(seed)
    for place in range(count):
        layer = layers.parse(LAYERS[place % len(LAYERS)])
        chip = chip_of([*CHIPS][place // len(LAYERS) % len(CHIPS)])
        yield next(drawn(layer, chip, rng))


def mapping_of_two(layer: Layer, chip: Accelerator, rng: np.random.Generator) -> Mapping:
    """A mapping of two levels whose tiles and units all divide."""
    num_pes = chip.num_pes
    coupled = [d for i, d in enumerate(DIMS) if any(row[i] for row in layer.coupling)]
    extents = dict(zip(DIMS, layer.extents, strict=True))
    outer_dim, inner_dim = rng.choice([d for d in coupled if extents[d] > 1], 2)
    pes = int(rng.choice([k for k in divisors(num_pes) if k <= extents[inner_dim]]))
    clusters = num_pes // pes
    tiles: tuple[dict[str, int], dict[str, int]] = {}, {}
    for dim in coupled:
        size = extents[dim]
        for tile, units in zip(
            tiles, (clusters ** (dim == outer_dim), pes ** (dim == inner_dim)), strict=True
        ):
            fitting = [t for t in divisors(size) if size % (t * units) == 0]
            size = tile[dim] = int(rng.choice(fitting or [size]))
    orders = ["".join(rng.permutation(list("KCYXRS"))) for _ in range(2)]
    return Mapping((orders[0], orders[1]), (outer_dim, inner_dim), tiles, pes)


def exports(count: int, seed: int, levels: int) -> Iterator[Case]:
    """Layers times chips, each with a mapping of whole factors that fits."""
    rng = np.random.default_rng(seed)
    names, some = ((*ZOO, *MORE), [*CHIPS]) if levels == 3 else (ZOO, TWO)
    for place in range(count):
        layer, name = layers.get(names[place % len(names)]), some[place // len(names) % len(some)]
        chip = chip_of(name) if levels == 3 else Accelerator.load(name)
        found = list(islice(drawn(layer, chip, rng), DRAWS[place % 2]))
        if found:
            costs = [case.cost() for case in found]
            edp = [cost.latency_cycles * cost.energy_nj for cost in costs]
            yield found[int(np.argmin(edp))]
