"""The rows (or columns) of a chain of layers, cut into fused tiles.

Fused tiles are cut from the outputs of the last layer, one after another. What a tile needs of the
tensor before follows from the filter's reach, and so on up to the first layer. Neighbouring tiles
need some rows both: with their halo kept, a layer computes only what no tile before it computed;
otherwise it computes all that the tile needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple


class AxisLayer(NamedTuple):
    """A layer along one axis.

    Args:
        outputs: Rows that it computes.
        inputs: Rows of its input, without padding.
        stride: Rows from one output's first tap to the next one's.
        reach: Rows from an output's first tap to its last one.
        before: Rows of padding before the first input row.
    """

    outputs: int
    inputs: int
    stride: int
    reach: int
    before: int

    def window(self, first: int, end: int) -> tuple[int, int]:
        """The input rows of some output rows, those of padding among them."""
        first, last = self.stride * first, self.stride * (end - 1)
        return first - self.before, last - self.before + self.reach


class Piece(NamedTuple):
    """What a layer computes in a fused tile, and the rows of padding before and behind it."""

    outputs: int
    low: int
    high: int


class ComputedPiece(NamedTuple):
    """A piece, and the input rows that it reads: from `first` on, below `end`."""

    piece: Piece
    first: int
    end: int


@dataclass(frozen=True)
class AxisPlan:
    """An axis cut into fused tiles.

    Args:
        tile: Rows of the last layer's output in a tile.
        keep: Whether halos are kept.
        tiles: Number of tiles.
        pieces: Of each layer, its pieces and how often each occurs; tiles in which it has nothing
            to compute have none.
        held: Of each tensor between two layers, the most rows that a tile reads.
        kept: Of each, the most rows that the next tile reads again and does not compute.
    """

    tile: int
    keep: bool
    tiles: int
    pieces: tuple[Counter[Piece], ...]
    held: tuple[int, ...]
    kept: tuple[int, ...]

    @property
    def halo(self) -> str:
        """Whether rows that two tiles need are computed ``again``, or ``kept``."""
        return "kept" if self.keep else "again"


def balanced_tiles(extent: int) -> list[int]:
    """Sizes of the largest of 1, 2, ... nearly equal parts of an extent, each once."""
    return sorted({-(-extent // parts) for parts in range(1, extent + 1)})


def axis_tiles(
    chain: Sequence[AxisLayer], tile: int, keep: bool
) -> Iterator[dict[int, ComputedPiece]]:
    """Tile by tile, what each layer that has something to compute does; as :func:`axis_plan`."""
    done = [0] * len(chain)
    for start in range(0, chain[-1].outputs, tile):
        layers = {}
        first, end = start, min(start + tile, chain[-1].outputs)
        for place in range(len(chain) - 1, -1, -1):
            if first >= end:
                break
            layer = chain[place]
            low, high = layer.window(first, end)
            piece = Piece(end - first, max(0, -low), max(0, high - layer.inputs))
            first, end = max(low, 0), min(high, layer.inputs)
            layers[place] = ComputedPiece(piece, first, end)
            if keep and place:
                first, done[place] = max(first, done[place]), max(end, done[place])
        yield layers


def axis_plan(chain: Sequence[AxisLayer], tile: int, keep: bool) -> AxisPlan:
    """Cut an axis of a chain of layers.

    Args:
        chain: The layers, first to last; each reads what the one before writes.
        tile: Rows of the last one's output in a fused tile.
        keep: Whether rows that the next tile needs, too, are kept; else they are computed anew.
    """
    pieces: list[Counter[Piece]] = [Counter() for _ in chain]
    reads: list[list[tuple[int, int]]] = [[] for _ in chain]
    tiles = list(axis_tiles(chain, tile, keep))
    for layers in tiles:
        for place, one in layers.items():
            pieces[place][one.piece] += 1
            reads[place].append((one.first, one.end))
    return AxisPlan(
        tile,
        keep,
        len(tiles),
        tuple(pieces),
        tuple(max(end - first for first, end in some) for some in reads[1:]),
        tuple(max(_kept(some), default=0) if keep else 0 for some in reads[1:]),
    )


def _kept(reads: Sequence[tuple[int, int]]) -> list[int]:
    return [max(0, before[1] - after[0]) for before, after in pairwise(reads)]


def axis_plans(chain: Sequence[AxisLayer]) -> list[AxisPlan]:
    """An axis cut into tiles of every balanced size; with halos kept, too, where there are any."""
    found = []
    for tile in balanced_tiles(chain[-1].outputs):
        again, kept = (axis_plan(chain, tile, keep) for keep in (False, True))
        found += [again] if again.pieces == kept.pieces else [again, kept]
    return found
