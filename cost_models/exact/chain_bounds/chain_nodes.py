"""Choices of tiles and of loop orders, from the outermost memory inwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from cost_models.exact.chain_bounds.pieces import Pieces
from marl_common import FloatArray, IntArray

Class = tuple[int, int]
"""The innermost loop that iterates, by its place among tiled dimensions, and the first loop inside
it over outputs' rows or columns, whose neighbours may share inputs; -1 for none."""
STILL: Class = (-1, -1)
"""No loop of the memory iterates."""


class TileOptions(NamedTuple):
    """ChainTiles of a memory along one dimension, given what is around it.

    Args:
        at: Their places among all tiles.
        tile: The tiles.
        many: Pieces of all instances.
        steps: Steps of the first instance.
        iterates: Whether a loop runs over them.
        share: The share of the dimension in pieces around that a loop runs over.
        runs: How many such pieces there are.
        apart: Outputs between the first tile of such a run and the last.
        turns: MAC steps at least.
        each: MAC steps of all instances at least.
        firsts: Those of `turns` in the first tile of each piece around.
        front: The share of `share` in first tiles.
        pieces: All pieces.
        lead: Those of the first instance.
    """

    at: IntArray
    tile: IntArray
    many: FloatArray
    steps: FloatArray
    iterates: Any
    share: FloatArray
    runs: FloatArray
    apart: FloatArray
    turns: FloatArray
    each: FloatArray
    firsts: FloatArray
    front: FloatArray
    pieces: list[Pieces]
    lead: list[Pieces]

    def one(self, index: int) -> TileOptions:
        """One of them."""
        return TileOptions(*(column[index : index + 1] for column in self))  # type: ignore[arg-type]


class LastMove(NamedTuple):
    """How a tensor moved when loops of its own last iterated.

    Args:
        reads: How often its keeper gives it, over all loops that do not move it.
        share: The share of it that certainly moves as often.
        fills: Pieces, by tiled dimension that it does not depend on, of those who get it.
        rows: Rows, and columns, that are read of inputs.
    """

    reads: float
    share: float
    fills: tuple[Pieces, ...]
    rows: tuple[float, float]


@dataclass(frozen=True)
class ChainNode:
    """ChainTiles of the outermost memories, and what they cost.

    Args:
        tiles: By memory, places of its tiles.
        classes: By memory, the order of its loops.
        around: The last tiles.
        pieces: Their pieces along each dimension.
        lead: Those of the first instance.
        energy: What is known to be spent [nJ].
        sums: Memory that keeps outputs, and at most how many elements leave it.
        held: How each tensor moved last.
        sure: How all of it moved at least.
        ports: Bits in and out of each memory's port, and of first tiles.
        start: Cycles, but for first tiles, of the outermost memory's first step, and of what comes
            into it afterwards.
        waits: Cycles of the last memory's steps by port that they wait for, first tiles among them.
    """

    tiles: tuple[tuple[int, ...], ...]
    classes: tuple[Class, ...]
    around: tuple[int, ...]
    pieces: tuple[Pieces, ...]
    lead: tuple[Pieces, ...]
    energy: float
    sums: tuple[int, float]
    held: tuple[LastMove, LastMove, LastMove]
    sure: tuple[LastMove, LastMove, LastMove]
    ports: tuple[tuple[float, float, float], ...]
    start: float = 0.0
    waits: tuple[float, ...] = ()

    @property
    def depth(self) -> int:
        """Memories whose tiles are chosen."""
        return len(self.tiles)


class ChainChoices(NamedTuple):
    """Choices for the next memory: their class, places of tiles, and bounds."""

    classes: IntArray
    tiles: IntArray
    bounds: FloatArray
