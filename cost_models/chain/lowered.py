"""The loop nest of a mapping on a chain."""

from __future__ import annotations

from cost_models.chain.chip import Chain, ChainLevel
from cost_models.chain.entries import ChainMapping, Entry
from cost_models.exact.nest import EACH, ONE, Lanes, Nest, NestLevel, Port, Rules, Window
from layers import DIMS, TENSORS, Layer

Units = tuple[int, ...]
Flags = tuple[bool, ...]


def nest_of(
    layer: Layer,
    chip: Chain,
    mapping: ChainMapping,
    rules: Rules,
    *,
    windows: tuple[Window, Window],
    doubled: bool,
) -> Nest:
    """The nest of a mapping; tiles are clipped to the tiles around them.

    Args:
        layer: The layer.
        chip: The chip.
        mapping: The mapping.
        rules: How it is counted.
        windows: How outputs and taps touch rows and columns.
        doubled: Whether memories hold twice what the chip can hold twice.

    Raises:
        MappingError: The mapping is not one of the chip.
    """
    levels = []
    tile: tuple[int, ...] = layer.extents
    units, multicast, reduce = ONE, EACH, EACH
    entries = mapping.resolved(chip)
    for entry, level, joined in entries:
        tile = tuple(
            min(entry.tiles.get(d, -(-n // u)), n)
            for d, n, u in zip(DIMS, tile, units, strict=True)
        )
        a, b, c = (tensor in (entry.keeps or ()) for tensor in TENSORS)
        buffer = level.buffer
        levels.append(
            NestLevel(
                tile,
                units,
                tuple(DIMS.index(d) for d in entry.order),
                (a, b, c),
                multicast,
                reduce,
                port_of(level) if level.is_memory else None,
                buffer.copies if doubled else (1, 1, 1),
                buffer.capacity_bits,
                buffer.tensor_bits,
                joined,
            )
        )
        units, multicast, reduce = _spread(entry, level)
    widths = chip.widths
    return Nest(
        extents=layer.extents,
        levels=tuple(levels),
        coupled=layer.coupled_dims,
        windows=windows,
        widths=(widths.input, widths.filter, widths.output, widths.psum),
        dram=port_of(chip.levels[0]),
        lanes=Lanes(units, chip.lanes, multicast, reduce),
        rules=rules,
    )


def port_of(level: ChainLevel) -> Port:
    """The port of one instance of a level to what lies below it."""
    return Port(level.read_bw, level.write_bw, level.shared_bw)


def _spread(entry: Entry, level: ChainLevel) -> tuple[Units, Flags, Flags]:
    """Units of the next level along each dimension, and whether they share reads and sums."""
    units, multicast, reduce = list(ONE), list(EACH), list(EACH)
    for spread in entry.parallel:
        d, axis = DIMS.index(spread.dim), level.fanout.axes[spread.axis]
        units[d] *= spread.units or 1
        multicast[d], reduce[d] = axis.multicast, axis.reduce
    return tuple(units), tuple(multicast), tuple(reduce)
