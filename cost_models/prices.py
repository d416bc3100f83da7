"""What every event on a chip costs, from the capacities, widths and node that it is built with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from cost_models.accelerator import Accelerator
from cost_models.buffers import Buffer, Chip, Level, Widths, Wires, given
from cost_models.chain.chip import Chain
from cost_models.energy_tables import EnergyTable
from cost_models.technology.parts import REFERENCE_NM, dram_pj, mac, sram, sram_reach, wires

CLOCK_MHZ: Final = 1000.0
"""Clock of a chip that gives none [MHz]; only leakage and power depend on it."""
PJ_PER_NJ: Final = 1000.0
UW_PER_MW: Final = 1000.0
UM_PER_MM: Final = 1000.0
PROVISIONED: Final = "provisioned"
"""A level is priced at the capacity it has."""
REQUIRED: Final = "required"
"""A level without a capacity is priced at what the mapping asks of it."""
OUTSIDE: Final = "outside the data"


class ByPart(NamedTuple):
    """What an element of each costs: of the tensors, with outputs and partial sums apart."""

    input: Any = 0.0
    filter: Any = 0.0
    output: Any = 0.0
    psum: Any = 0.0


_NOTHING = ByPart()


@dataclass(frozen=True)
class LevelPrices:
    """What a level costs; numbers, or arrays where it is priced at what each mapping requires.

    Args:
        read: Energy of reading one element of each part [nJ].
        write: Energy of writing one element of each part [nJ].
        leakage_uw: Leakage of one instance of the level [uW].
        area_um2: Area of one instance of the level [um^2].
    """

    read: ByPart
    write: ByPart
    leakage_uw: Any = 0.0
    area_um2: Any = 0.0


@dataclass(frozen=True)
class ChipPrices:
    """What every event on a chip costs.

    Args:
        mac_nj: Energy of one multiply-accumulate [nJ].
        mac_area_um2: Area of one multiply-accumulate unit [um^2].
        levels: DRAM, L2, and the L1 of one PE.
        clock_mhz: Clock [MHz].
        noc: Energy of one element delivered to a PE, or drained from one, of each part [nJ].
        wires_um2: Area of ports and wires: of the chip, and at each PE [um^2].
    """

    mac_nj: float
    mac_area_um2: float
    levels: tuple[LevelPrices, LevelPrices, LevelPrices]
    clock_mhz: float = CLOCK_MHZ
    noc: ByPart = _NOTHING
    wires_um2: tuple[float, float] = (0.0, 0.0)

    def leakage_nj(self, num_pes: Any, cycles: Any) -> Any:
        """Energy that all buffers leak in a number of cycles [nJ]."""
        return self.leakage_mw(num_pes) * (cycles / self.clock_mhz)

    def pe_leakage_nj(self, pe_cycles: Any) -> Any:
        """Energy that the L1 of one PE leaks in a number of cycles [nJ]."""
        return self.levels[2].leakage_uw / UW_PER_MW * (pe_cycles / self.clock_mhz)

    def leakage_mw(self, num_pes: Any) -> Any:
        """Leakage of all buffers [mW], which is nJ in a cycle of 1 MHz."""
        return (self.levels[1].leakage_uw + num_pes * self.levels[2].leakage_uw) / UW_PER_MW

    def area_um2(self, num_pes: Any, lanes: int) -> Any:
        """Area of PEs with their L1, of L2, and of priced wires [um^2]; control is not counted."""
        chip, each = self.wires_um2
        pe = lanes * self.mac_area_um2 + self.levels[2].area_um2
        return num_pes * (pe + each) + self.levels[1].area_um2 + chip


def chip_prices(accelerator: Accelerator, l2_bytes: Any = None, l1_bytes: Any = None) -> ChipPrices:
    """The prices of a chip.

    Args:
        accelerator: The chip.
        l2_bytes: What mappings require of L2 [B], which prices it where it has no capacity.
        l1_bytes: What they require of the L1 of a PE [B], likewise.

    Raises:
        TechnologyError: The data do not reach the chip's node.
    """
    node = accelerator.node_nm or REFERENCE_NM
    widths = accelerator.widths
    l2, l1 = accelerator.buffers()
    energy, area = mac(widths, node, accelerator.mac_kind)
    area = given(accelerator.mac_area_um2, area)
    dram, outer, inner = accelerator.levels
    of_pe = buffer_prices(l1, inner, widths, node, l1_bytes)
    wide, width = ((bw.read_bw or 0) + (bw.write_bw or 0) for bw in (l2, l1))
    fed = accelerator.num_pes * (accelerator.simd_lanes * area + of_pe.area_um2)
    bit_nj = wire_nj(outer.network, fed)
    return ChipPrices(
        given(accelerator.mac_pj, energy) / PJ_PER_NJ,
        area,
        (dram_prices(dram, widths), buffer_prices(l2, outer, widths, node, l2_bytes), of_pe),
        clock_of(accelerator),
        ByPart(*(bit_nj * bits for bits in widths)),
        (
            dram.port_um2_per_bit * wide + outer.port_um2_per_bit * width,
            outer.network.um2_per_bit * width,
        ),
    )


def wire_nj(network: Wires, fed_um2: Any) -> Any:
    """Energy of a bit on its way to a unit, or back [nJ].

    Args:
        network: The wires.
        fed_um2: Area that they feed [um^2]; a bit goes half the side of its square.
    """
    distance = fed_um2**0.5 / 2 / UM_PER_MM
    return (network.pj_per_bit + network.pj_per_bit_mm * distance) / PJ_PER_NJ


def wires_um2(level: Level, width: int, units: int) -> float:
    """Area of the ports of one instance of a level, and of its wires at all units [um^2].

    Args:
        level: The level.
        width: Bits a cycle of its ports, both directions together.
        units: Units that it feeds.
    """
    return width * (level.port_um2_per_bit + units * level.network.um2_per_bit)


def clock_of(chip: Chip) -> float:
    """Clock of a chip [MHz]."""
    return chip.clock_mhz or CLOCK_MHZ


def table_prices(table: EnergyTable, widths: Widths) -> ChipPrices:
    """A table of one price a level, for elements of other widths than the table is for."""
    shares = [1.0 if table.bits is None else bits / table.bits for bits in widths]
    noc, *levels = (
        ByPart(*(table.unit_nj * (price * share) for share in shares))
        for price in (table.noc, table.dram, table.l2, table.l1)
    )
    dram, l2, l1 = (LevelPrices(read=level, write=level) for level in levels)
    return ChipPrices(table.unit_nj * table.mac, 0.0, (dram, l2, l1), noc=noc)


def open_levels(accelerator: Accelerator) -> tuple[str, ...]:
    """The levels that have no capacity and so no price of their own."""
    pairs = zip(accelerator.buffers(), accelerator.levels[1:], strict=True)
    return tuple(buffer.name for buffer, level in pairs if is_open(buffer, level))


def is_open(buffer: Buffer, level: Level) -> bool:
    """Whether a buffer has no capacity and so no price of its own.

    One that gives its energies, leakage and area itself needs no capacity.
    """
    own = (level.read_pj, level.write_pj, level.leakage_uw, level.area_um2)
    return buffer.total_bits is None and None in own


def marks(accelerator: Accelerator) -> dict[str, str]:
    """How each buffer is priced, by level; see :func:`mark`."""
    pairs = zip(accelerator.buffers(), accelerator.levels[1:], strict=True)
    return {buffer.name: mark(buffer, level) for buffer, level in pairs}


@lru_cache(maxsize=256)
def mark(buffer: Buffer, level: Level) -> str:
    """How a buffer is priced: `PROVISIONED` or `REQUIRED`.

    Where the data on SRAM do not reach its capacity, that is said too.
    """
    low, high = sram_reach()
    own = zip(buffer.tensor_bits, buffer.holds, strict=True)
    bits = [size for size, held in own if held] + [buffer.capacity_bits] * any(buffer.sharing)
    text = REQUIRED if is_open(buffer, level) else PROVISIONED
    if any(size is not None and not low <= size / 8 <= high for size in bits):
        text += f", {OUTSIDE}"
    return text


def dram_prices(level: Level, widths: Widths) -> LevelPrices:
    """The prices of DRAM, by its kind where it gives none."""
    default = dram_pj(level.kind)
    read, write = given(level.read_pj, default), given(level.write_pj, default)
    return LevelPrices(_by_width([read] * 4, widths), _by_width([write] * 4, widths))


def buffer_prices(
    buffer: Buffer, level: Level, widths: Widths, node: float, required: Any
) -> LevelPrices:
    """The prices of a buffer, by capacity and node where it gives none.

    Args:
        buffer: The buffer.
        level: The prices that it gives.
        widths: Bits of each tensor.
        node: Technology node [nm].
        required: What mappings require of it [B], which prices it where it has no capacity.
    """
    size = given(required, 1.0) if buffer.capacity_bits is None else buffer.capacity_bits / 8
    shared = sram(size, node, level.kind)
    own = [
        None if bits is None else sram(bits / 8, node, level.kind) for bits in buffer.tensor_bits
    ]
    by_tensor = [memory or shared for memory in own]
    parts = [*by_tensor, by_tensor[-1]]
    built = [memory for memory, held in zip(own, buffer.holds, strict=True) if memory and held]
    built += [shared] * any(buffer.sharing)
    return LevelPrices(
        read=_by_width([given(level.read_pj, memory.read_pj) for memory in parts], widths),
        write=_by_width([given(level.write_pj, memory.write_pj) for memory in parts], widths),
        leakage_uw=given(level.leakage_uw, sum(memory.leakage_uw for memory in built)),
        area_um2=given(level.area_um2, sum(memory.area_um2 for memory in built)),
    )


def _by_width(pj_per_byte: list[Any], widths: Widths) -> ByPart:
    """Prices of a byte [pJ] as prices of an element [nJ]."""
    pairs = zip(pj_per_byte, widths, strict=True)
    return ByPart(*(price * (bits / 8) / PJ_PER_NJ for price, bits in pairs))


def prices_wires(chip: Accelerator | Chain) -> bool:
    """Whether a chip's file prices any wires or ports."""
    return any(any(level.network) or level.port_um2_per_bit for level in chip.levels)


def with_wires(chip: Accelerator | Chain) -> Accelerator | Chain:
    """A chip whose wires and ports cost what they do at its node; as it is if it prices any.

    Wires are those that lead to other memories: what goes on between a memory and its MACs is not
    priced, nor is the chip's side of DRAM's port, of which no figure was at hand.

    Raises:
        TechnologyError: The data do not reach the chip's node.
    """
    if prices_wires(chip):
        return chip
    network, port = wires(chip.node_nm or REFERENCE_NM)

    if isinstance(chip, Accelerator):
        dram, l2, l1 = chip.levels
        l2 = replace(l2, network=network, port_um2_per_bit=port)
        return replace(chip, levels=(dram, l2, l1))
    levels = list(chip.levels)
    for place, level in enumerate(chip.levels[1:], 1):
        if level.is_memory:
            levels[place] = replace(levels[place], port_um2_per_bit=port)
        if level.fanout.axes and any(one.is_memory for one in chip.levels[place + 1 :]):
            levels[place] = replace(levels[place], network=network)
    return replace(chip, levels=tuple(levels))
