"""A loop nest on a chain of levels: what the kernel counts and the simulator executes.

A chain begins below DRAM and ends above the MACs. A level has one instance for each unit of the
fan-outs up to its own. Its instances work on tiles that partition the tile of the instance around
them: along dimension ``d``, unit ``u`` of step ``i`` has ``tile[d]`` of it from
``(i * units[d] + u) * tile[d]`` on, clipped. All instances run on the counters of the first.
"""

from __future__ import annotations

from dataclasses import dataclass

from layers import DIMS, Layer

K, C, P, Q, R, S, N, G = range(len(DIMS))
"""Dimensions, in the order of ``layers.DIMS``; P and Q are output rows and columns."""
INPUT, FILTER, OUTPUT = range(3)
EACH = (True,) * len(DIMS)
ONE = (1,) * len(DIMS)


@dataclass(frozen=True)
class Port:
    """Where one instance of a level gives to, and takes from, all that lies below it.

    Args:
        read: Bits a cycle to what lies below; None for any number.
        write: Bits a cycle from it; None for any number.
        shared: Whether `read` is all there is for both directions together.
    """

    read: int | None = None
    write: int | None = None
    shared: bool = False


@dataclass(frozen=True)
class NestLevel:
    """An entry of the chain.

    Args:
        tile: What one instance works on, by dimension.
        units: Instances along each dimension, of one instance around them.
        order: Loops over the tiles of these units, outermost first.
        keeps: Whether an instance holds input, filter and output.
        multicast: By dimension, whether units along it that want the same element share one read.
        reduce: By dimension, whether sums of units along it are added on their way out.
        port: The port to what lies below; None for a fan-out alone, which is no memory.
        copies: Tiles of each tensor that it has room for (2: double-buffered).
        shared_bits: Capacity of the tensors without one of their own; None for any.
        own_bits: Capacity of each tensor; None where it shares.
        joined: Whether it is the same memory as the entry before it: capacity, port and prices are
            that one's, and what passes between them is free.
    """

    tile: tuple[int, ...]
    units: tuple[int, ...] = ONE
    order: tuple[int, ...] = tuple(range(len(DIMS)))
    keeps: tuple[bool, bool, bool] = (True, True, True)
    multicast: tuple[bool, ...] = EACH
    reduce: tuple[bool, ...] = EACH
    port: Port | None = Port()
    copies: tuple[int, int, int] = (1, 1, 1)
    shared_bits: int | None = None
    own_bits: tuple[int | None, int | None, int | None] = (None, None, None)
    joined: bool = False


@dataclass(frozen=True)
class Window:
    """How outputs and taps touch input rows (or columns): row = stride * output + dilation * tap.

    Args:
        stride: Rows between neighbouring outputs.
        dilation: Rows between neighbouring taps.
        real: The first row that is no padding, and the one behind the last; None for all rows.
            Rows outside of it count as no traffic, while buffers have room for them.
        box: Whether a tile holds the rows between its first and its last, too.
    """

    stride: int = 1
    dilation: int = 1
    real: tuple[int, int] | None = None
    box: bool = False


def windows_of(layer: Layer, box: bool, padding_free: bool) -> tuple[Window, Window]:
    """How a layer's outputs and taps touch rows, and columns.

    Args:
        layer: The layer.
        box: Whether input tiles hold what lies between the rows and columns that they touch.
        padding_free: Whether padding is no traffic.
    """
    top, bottom, left, right = layer.padding
    real = ((top, layer.Y - bottom), (left, layer.X - right)) if padding_free else (None, None)
    return (
        Window(layer.stride_y, layer.dilation_y, real[0], box),
        Window(layer.stride_x, layer.dilation_x, real[1], box),
    )


@dataclass(frozen=True)
class Lanes:
    """MACs that work below one instance of the innermost level.

    Args:
        units: MACs along each dimension.
        any: MACs that take whatever is next, each reading its own operands; then `units` is all 1.
        multicast: As `NestLevel.multicast`.
        reduce: As `NestLevel.reduce`.
    """

    units: tuple[int, ...] = ONE
    any: int = 1
    multicast: tuple[bool, ...] = EACH
    reduce: tuple[bool, ...] = EACH


@dataclass(frozen=True)
class Rules:
    """How traffic and time are counted.

    Args:
        retain: Whether an instance keeps what it holds, so that only what it lacks of its next tile
            is fetched; if not, every tile that moved is fetched in full.
        whole_tiles: Whether every distinct tile is read in full (``halo_space="tile"``): elements
            that tiles of several units share are read once for each.
        stepwise: Whether time is the sum over steps of the slowest of compute and ports; if not, it
            is the slowest of their totals.
    """

    retain: bool = True
    whole_tiles: bool = False
    stepwise: bool = True


@dataclass(frozen=True)
class Nest:
    """A layer's loop nest on a chain of levels.

    Args:
        extents: Extents of all dimensions.
        levels: The chain, outermost first, without DRAM and without the MACs.
        coupled: Dimensions of input, filter and output.
        windows: Of rows (P, R) and of columns (Q, S).
        widths: Bits of input, filter, output and partial sum.
        dram: DRAM's port.
        lanes: The MACs below an instance of the innermost level.
        rules: How it is counted.
        resident: Whether input, filter and output are in the outermost level whole, before and
            after: nothing of them crosses DRAM's boundary, and no tile takes room there.
    """

    extents: tuple[int, ...]
    levels: tuple[NestLevel, ...]
    coupled: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    windows: tuple[Window, Window] = (Window(), Window())
    widths: tuple[int, int, int, int] = (8, 8, 8, 8)
    dram: Port = Port()
    lanes: Lanes = Lanes()
    rules: Rules = Rules()
    resident: tuple[bool, bool, bool] = (False, False, False)

    @property
    def chain(self) -> tuple[NestLevel, ...]:
        """The levels with DRAM around them, and with the MACs, which keep nothing, inside."""
        lanes, none = self.lanes, (False, False, False)
        macs = NestLevel(
            ONE, lanes.units, keeps=none, multicast=lanes.multicast, reduce=lanes.reduce, port=None
        )
        return NestLevel(self.extents, port=self.dram), *self.levels, macs
