"""Floating-point operations of a run: what the masks in force need, and what is computed.

A multiplication and an addition are two. A linear layer with k weights needs 2 k R forward for R
tokens, and twice that backward; attention 4 dh for each pair of query and key that the pattern has,
and twice that backward; a topology step that looks at dense gradients 2 (n - k) R more. Look-ups,
norms, activations and the optimiser are not counted. Attention, growth and schedules count their
own: :meth:`mst.attention.Pattern.flops`, :meth:`sparse_training.GrowthRule.flops`,
:meth:`mst.phases.PhaseSchedule.flops`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from mst.attention import DENSE, Attention
from mst.config import HEAD, PretrainConfig, SparseSettings
from mst.phases import Phase, PhaseSchedule
from mst.rules import GROWTH, SCORES
from mst.work import Counted, Work
from sparse_training import allocate, linear_flops, topology_flops

if TYPE_CHECKING:
    from sparse_training import Unit

Above = tuple[tuple[str, float], ...]


@lru_cache(maxsize=4096)
def kept_weights(
    shapes: tuple[tuple[int, int], ...], density: float, rule: str, unit: Unit
) -> tuple[int, ...]:
    """Weights that each layer of these outputs and inputs keeps at a density of all of them."""
    sizes = [rows * columns for rows, columns in shapes]
    if density >= 1:
        return tuple(sizes)
    each = 16 if unit == "block4" else 1
    counts = allocate(shapes, 1 - density, rule, unit)
    return tuple(min(each * count, size) for count, size in zip(counts, sizes, strict=True))


class _Sizes(NamedTuple):
    """Weights of a model at a density.

    Attributes:
        blocks: Kept weights of the blocks.
        head: Kept weights of the head.
        masked: Weights of the layers that have masks.
        others: Those of them that are not kept.
        multiplied: Weights of the blocks that the backend multiplies.
        packed: Weights of layers of which the backend holds the kept ones alone.
    """

    blocks: int
    head: int
    masked: int
    others: int
    multiplied: int
    packed: int


@lru_cache(maxsize=8192)
def _sizes(config: PretrainConfig, density: float, above: Above) -> _Sizes:
    sparse, compiled = config.sparse, config.backend == "compiled"
    shapes = config.shape.masked_shapes(sparse.mask_head)
    whole = [rows * columns for rows, columns in shapes.values()]
    kept = kept_weights(tuple(shapes.values()), density, sparse.rule, sparse.unit)
    limits = dict(above)
    blocks = [
        (k, size, compiled and k < limits.get(name, 1.0) * size)
        for name, k, size in zip(shapes, kept, whole, strict=True)
        if name != HEAD
    ]
    return _Sizes(
        blocks=sum(k for k, _, _ in blocks),
        head=kept[-1] if sparse.mask_head else config.shape.vocabulary * config.shape.width,
        masked=sum(whole),
        others=sum(whole) - sum(kept),
        multiplied=sum(k if packed else size for k, size, packed in blocks),
        packed=sum(size for _, size, packed in blocks if packed),
    )


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
    rows, sizes = config.tokens_per_update, _sizes(config, density, above)
    needed, executed = _attention(config, phase)
    grown = _topology(config.sparse, sizes, rows) if topology else (0, 0)
    head = config.shape.vocabulary * config.shape.width
    return Counted(
        Work(
            linear=linear_flops(sizes.blocks, rows).total,
            head=linear_flops(sizes.head, rows).total,
            attention=needed,
            topology=grown[0],
        ),
        Work(
            linear=linear_flops(sizes.multiplied, rows).total,
            head=linear_flops(head, rows).total,
            attention=executed,
            topology=grown[1],
        ),
    )


def _topology(sparse: SparseSettings, sizes: _Sizes, rows: int) -> tuple[int, int]:
    """Operations of a topology step, needed and executed.

    Both rules share one dense gradient, which a packed layer computes beside that of the kept
    weights.
    """
    kept = sizes.masked - sizes.others
    rules = GROWTH.make(sparse.growth), SCORES.make(sparse.score)
    looks = any(rule.by_gradient for rule in rules)
    dense = topology_flops((sizes.packed, 1), 0, rows).total if looks else 0
    return max(rule.flops(sizes.masked, kept, rows) for rule in rules), dense


@lru_cache(maxsize=256)
def _attention(config: PretrainConfig, phase: Phase | None) -> tuple[int, int]:
    """Operations of an update's attention, needed and executed."""
    shape, each = config.shape, config.batch * config.shape.layers
    device = "compiled" if config.compile else config.device
    found = attention_of(config.sparse, phase).flops(shape.width, shape.context, device)
    return each * found.needed, each * found.executed


def attention_of(sparse: SparseSettings, phase: Phase | None) -> Attention:
    """The attention of a phase; dense where there is none."""
    pattern = DENSE if phase is None else phase.pattern(sparse.pattern)
    return Attention(pattern, sparse.window, sparse.stride)


def schedule_of(config: PretrainConfig, updates: int) -> PhaseSchedule:
    """The schedule of a run of so many updates."""
    s = config.sparse
    return PhaseSchedule(s.phases, s.sparsity, updates, s.every, s.moves, s.drop)


@lru_cache(maxsize=256)
def planned(config: PretrainConfig, updates: int, above: Above = ()) -> Counted:
    """Work of a whole run, known before it begins."""
    schedule = schedule_of(config, updates)
    return schedule.flops(lambda *key: update_work(config, *key, above), Counted())
