"""What a mapping of a chain costs, from its counts: plain numbers, or arrays of many mappings.

Both take the same floating-point operations in the same order, so that figures of a batch equal
single ones bit for bit.
"""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from cost_models.buffers import BYTE
from cost_models.chain.chip import Chain, ChainLevel
from cost_models.chain.level_prices import mac_nj, prices_of
from cost_models.chain.moves import At, EntryMoves, NestStructure
from cost_models.chain.wires import Areas, built_um2, delivery_nj
from cost_models.cost import FIGURES, Cost, LevelCost
from cost_models.exact.nest import OUTPUT, Nest
from cost_models.prices import (
    UW_PER_MW,
    LevelPrices,
    clock_of,
    mark,
)
from layers import TENSORS


def cost_of(chip: Chain, nest: Nest, names: tuple[str, ...], at: At) -> Cost:
    """The cost of a nest that was counted.

    Args:
        chip: The chip.
        nest: The nest.
        names: The level of each entry of the nest.
        at: Its counts.
    """
    structure = NestStructure(nest)
    latency, macs = at("latency"), at("macs")
    held = dict.fromkeys(names, 0.0)
    for m, name in enumerate(names, 1):
        held[name] += _bits(nest, at, m) / BYTE
    levels: dict[str, LevelCost] = {}
    leakage_uw, areas = 0.0, dict[str, Any]()
    for level, count in chip.instances():
        places = [m for m, name in enumerate(("DRAM", *names)) if name == level.name]
        if not level.is_memory:
            continue
        prices = prices_of(chip, level, held.get(level.name, 0.0))
        levels[level.name] = _level_cost(level, structure, at, places, prices, held, count)
        leakage_uw += count * prices.leakage_uw
        areas[level.name] = prices.area_um2
    network = _network_nj(chip, structure, at, names, areas)
    leakage = leakage_uw / UW_PER_MW * (latency / clock_of(chip))
    parts = {"energy_mac_nj": macs * mac_nj(chip)}
    parts |= {f"energy_{name.lower()}_nj": cost.energy_nj for name, cost in levels.items()}
    parts |= {"energy_network_nj": network, "energy_leakage_nj": leakage}
    energy = sum(parts.values())
    dram = levels["DRAM"].total
    figures: dict[str, Any] = dict.fromkeys(FIGURES, nan)
    figures |= {
        "latency_cycles": _real(latency),
        "energy_nj": energy,
        "energy_total_nj": energy,
        "power_mw": energy * clock_of(chip) / latency,
        "area_um2": built_um2(chip, areas),
        "throughput_macs_per_cycle": _real(macs) / _real(latency),
        "macs": _real(macs),
        "offchip_bw_req": -(-dram // at("compute")),
        "utilized_pes": _real(at("active", structure.innermost))
        / _real(at("steps", structure.innermost)),
        "arithmetic_intensity": macs / dram if np.any(dram) else np.inf,
    }
    figures |= {f"{n.lower()}_bytes": held[n] for n in ("L2", "L1") if n in held}
    return Cost(
        infeasible=None,
        **figures,
        accesses={
            tensor: {
                f"{name.lower()}_{way}": count
                for name, cost in levels.items()
                for way, count in cost.accesses[tensor].items()
            }
            for tensor in TENSORS
        },
        detail=parts | _shares(chip, names, at, latency),
        counts={"latency": latency, "macs": macs, "compute_cycles": at("compute")},
        priced={level.name: mark(level.buffer, level) for level in chip.memories},
        by_level=levels,
    )


def _bits(nest: Nest, at: At, m: int) -> int:
    """What the first tiles of an entry take of one instance; outputs as partial sums."""
    level = nest.levels[m - 1]
    inputs, filters, _, psum = nest.widths
    widths = (inputs, filters, psum)
    kept = (t for t in range(len(TENSORS)) if level.keeps[t])
    return sum(at("peak", t, m) * widths[t] * level.copies[t] for t in kept)


def _level_cost(
    level: ChainLevel,
    structure: NestStructure,
    at: At,
    places: list[int],
    prices: LevelPrices,
    held: dict[str, float],
    count: int,
) -> LevelCost:
    reads = _added([structure.reads(at, q) for q in places])
    writes = _added([structure.writes(at, q) for q in places])
    energy = sum(n * price for n, price in zip(reads, prices.read, strict=True))
    energy += sum(n * price for n, price in zip(writes, prices.write, strict=True))
    bits = level.buffer.total_bits
    return LevelCost(
        bytes=held.get(level.name, nan),
        capacity_bytes=None if bits is None or level.name == "DRAM" else bits / BYTE,
        instances=count,
        accesses={
            tensor: {"read": _of(reads, place), "write": _of(writes, place)}
            for place, tensor in enumerate(TENSORS)
        },
        energy_nj=energy,
        busy={
            "read": sum(at("busy", q, "in") for q in places),
            "write": sum(at("busy", q, "out") for q in places),
        },
    )


def _real(count: Any) -> Any:
    return count.astype(np.float64) if isinstance(count, np.ndarray) else float(count)


def _of(moves: EntryMoves, tensor: int) -> Any:
    return _real(moves.output + moves.psum if tensor == OUTPUT else moves[tensor])


def _added(moves: list[EntryMoves]) -> EntryMoves:
    if len(moves) == 1:
        return moves[0]
    return EntryMoves(*(sum(column) for column in zip(*moves, strict=True)))


def _network_nj(
    chip: Chain, structure: NestStructure, at: At, names: tuple[str, ...], areas: Areas
) -> Any:
    """Energy of what fan-outs deliver to their units, and take from them [nJ]."""
    total: Any = 0.0
    for m, name in enumerate((*names, "")[1:], 2):
        outside = names[m - 2]
        place = chip.position(outside)
        if any(chip.levels[place].network) and name != outside:
            moves = structure.delivered(at, m)
            bits = sum(n * width for n, width in zip(moves, chip.widths, strict=True))
            total = total + delivery_nj(chip, place, areas) * bits
    return total


def _shares(chip: Chain, names: tuple[str, ...], at: At, latency: int) -> dict[str, float]:
    """Shares of the latency by what binds: compute, or a port in a direction."""
    found = {"share_compute": _real(at("bind", "compute")) / _real(latency)}
    for level in chip.levels:
        if level.is_memory:
            places = [m for m, name in enumerate(("DRAM", *names)) if name == level.name]
            for way, side in (("read", "in"), ("write", "out")):
                bound = sum(at("bind", q, side) for q in places)
                found[f"share_{level.name}.{way}"] = _real(bound) / _real(latency)
    return found
