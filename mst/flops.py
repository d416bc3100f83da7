"""Floating-point operations of a run: what the masks in force need, and what is computed.

A multiplication and an addition are two. A linear layer with k weights needs 2 k R forward for R
tokens, and twice that backward; attention 4 dh for each pair of query and key that the pattern has,
and twice that backward; a topology step that looks at dense gradients 2 (n - k) R more. Look-ups,
norms, activations and the optimiser are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache

from mst.attention import DENSE, Attention, visible_pairs
from mst.config import GptShape, PretrainConfig, SparseSettings
from mst.model import HEAD
from mst.phases import Phase, PhaseSchedule
from sparse_training import allocate, linear_flops, topology_flops

BACK = 2
"""A backward pass has so many times the products of a forward pass."""
Above = tuple[tuple[str, float], ...]
BY_GRADIENT = ("rigl", "mixed")
"""Growth that needs dense gradients."""


@dataclass(frozen=True)
class Work:
    """Operations by what they are for.

    Attributes:
        linear: Linear layers of the blocks.
        head: The tied head.
        attention: Scores and mixing of values.
        topology: Dense gradients of topology steps.
    """

    linear: int = 0
    head: int = 0
    attention: int = 0
    topology: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return sum(getattr(self, part.name) for part in fields(self))

    def __add__(self, other: Work) -> Work:
        return Work(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __mul__(self, times: int) -> Work:
        return Work(*(getattr(self, f.name) * times for f in fields(self)))


@dataclass(frozen=True)
class Counted:
    """The same work, counted twice.

    Attributes:
        theory: What the masks and patterns in force need.
        executed: What the backend computes.
    """

    theory: Work = Work()
    executed: Work = Work()

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.theory + other.theory, self.executed + other.executed)

    def __mul__(self, times: int) -> Counted:
        return Counted(self.theory * times, self.executed * times)


def masked_shapes(shape: GptShape, mask_head: bool) -> dict[str, tuple[int, int]]:
    """Name -> outputs, inputs of every layer that has a mask."""
    head = {HEAD: (shape.vocabulary, shape.width)} if mask_head else {}
    return {**shape.linear_shapes(), **head}


@lru_cache(maxsize=512)
def kept_weights(shape: GptShape, sparse: SparseSettings, density: float) -> Mapping[str, int]:
    """Name -> weights that a masked layer keeps at a density of all of them."""
    shapes = masked_shapes(shape, sparse.mask_head)
    sizes = {name: rows * columns for name, (rows, columns) in shapes.items()}
    if density >= 1:
        return sizes
    counts = allocate(list(shapes.values()), 1 - density, sparse.rule, sparse.unit)
    each = 16 if sparse.unit == "block4" else 1
    return {
        name: min(each * count, sizes[name]) for (name, count) in zip(shapes, counts, strict=True)
    }


@lru_cache(maxsize=4096)
def update_work(
    config: PretrainConfig,
    density: float,
    phase: Phase | None,
    topology: bool,
    above: Above = (),
) -> Counted:
    """Work of one update.

    Args:
        config: The run's settings.
        density: Density in force.
        phase: Its phase; None in a dense run.
        topology: Whether a topology step comes with it.
        above: Layers, and the density from which on the compiled backend multiplies each dense;
            others change over when full.
    """
    shape, sparse = config.shape, config.sparse
    kept = kept_weights(shape, sparse, density)
    sizes = kept_weights(shape, sparse, 1.0)
    rows = config.tokens_per_update
    compiled, limits = config.backend == "compiled", dict(above)

    def packed(name: str) -> bool:
        return compiled and name != HEAD and kept[name] < limits.get(name, 1.0) * sizes[name]

    def linear(weights: int) -> int:
        return linear_flops(weights, rows).total

    looks = topology and sparse.growth in BY_GRADIENT
    head = shape.vocabulary * shape.width
    blocks = [name for name in kept if name != HEAD]
    pattern = attention_of(sparse, phase)
    return Counted(
        Work(
            linear=linear(sum(kept[name] for name in blocks)),
            head=linear(kept.get(HEAD, head)),
            attention=_attention(config, pairs_needed(pattern, shape.context)),
            topology=looks * _topology(sum(sizes[name] - kept[name] for name in kept), rows),
        ),
        Work(
            linear=linear(sum((kept if packed(n) else sizes)[n] for n in blocks)),
            head=linear(head),
            attention=_attention(config, pairs_computed(pattern, shape.context, config.device)),
            topology=looks * _topology(sum(sizes[n] for n in blocks if packed(n)), rows),
        ),
    )


def attention_of(sparse: SparseSettings, phase: Phase | None) -> Attention:
    """The attention of a phase; dense where there is none."""
    pattern = DENSE if phase is None else phase.pattern(sparse.pattern)
    return Attention(pattern, sparse.window, sparse.stride)


def pairs_needed(attention: Attention, context: int) -> int:
    """Pairs of query and key of a window that the pattern has."""
    return visible_pairs(attention.pattern, context, attention.window, attention.stride)


def pairs_computed(attention: Attention, context: int, device: str) -> int:
    """Pairs that are computed: the causal half when dense, all of them under a mask."""
    if attention.pattern == DENSE:
        return pairs_needed(attention, context)
    if attention.skips(context, device):
        return attention.computed_pairs(context)
    return context**2


def _topology(others: int, rows: int) -> int:
    """Work of the gradients of so many weights that are not kept."""
    return topology_flops((others, 1), 0, rows).total


def _attention(config: PretrainConfig, pairs: int) -> int:
    """Work of attention with so many pairs a window and head."""
    return (1 + BACK) * 4 * config.shape.width * pairs * config.batch * config.shape.layers


def schedule_of(config: PretrainConfig, updates: int) -> PhaseSchedule:
    """The schedule of a run of so many updates."""
    s = config.sparse
    return PhaseSchedule(s.phases, s.sparsity, updates, s.every, s.moves, s.drop)


def planned(config: PretrainConfig, updates: int, above: Above = ()) -> Counted:
    """Work of a whole run, known before it begins."""
    alike: Counter[tuple[float, Phase | None, bool]] = Counter()
    for span in schedule_of(config, updates).spans():
        alike[span.density, span.phase, False] += span.updates - span.topology
        alike[span.density, span.phase, True] += span.topology
    total = Counted()
    for (density, phase, topology), count in alike.items():
        total += update_work(config, density, phase, topology, above) * count
    return total
