"""What the agents see of a memory: capacity, ports, prices, and what it holds of a layer."""

from __future__ import annotations

from math import log2

from cost_models import Chain, ChainLevel, chain_prices
from layers import Layer


def features_of_levels(layer: Layer, chip: Chain) -> list[list[float]]:
    """``LEVEL_FEATURES`` logarithms, shares and flags of each memory, innermost first, and DRAM."""
    counted = [(level, count) for level, count in chip.instances() if any(level.holds)]
    prices = _prices(chip)
    return [
        [*_features(layer, chip, level), scaled_log(count), *prices.get(level.name, (0.0, 0.0))]
        for level, count in reversed(counted)
    ]


def _features(layer: Layer, chip: Chain, level: ChainLevel) -> list[float]:
    whole = level is chip.levels[0]
    widths = chip.widths.input, chip.widths.filter, chip.widths.psum
    sizes = (layer.input_size, layer.filter_size, layer.output_size)
    buffer = level.buffer
    limits = [own or buffer.capacity_bits for own in buffer.tensor_bits]
    total = None if whole else buffer.total_bits
    return [
        1.0,
        *([0.0, 1.0] if total is None else [scaled_log(total), 0.0]),
        *(float(flag) for flag in level.holds),
        *(
            scaled_log(size * bits / limit) if limit and flag and not whole else 0.0
            for size, bits, limit, flag in zip(sizes, widths, limits, level.holds, strict=True)
        ),
        *([0.0, 1.0] if level.read_bw is None else [scaled_log(level.read_bw), 0.0]),
        0.0 if level.write_bw is None else scaled_log(level.write_bw),
        float(level.shared_bw),
        scaled_log(level.fanout.units),
    ]


def _prices(chip: Chain) -> dict[str, tuple[float, float]]:
    """Energy of reading and of writing an element of the widest tensor, by level; [fJ]."""
    try:
        levels = chain_prices(chip, {}).levels
    except ValueError:  # the data do not reach the chip's node
        return {}
    return {
        name: (scaled_log(1e6 * float(max(level.read))), scaled_log(1e6 * float(max(level.write))))
        for name, level in levels.items()
    }


def scaled_log(value: float) -> float:
    """The scale of all sizes: eighths of a power of two."""
    return log2(max(value, 1e-9)) / 8
