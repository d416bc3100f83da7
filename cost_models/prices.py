"""What every event on a chip costs, from the capacities, widths and node that it is built with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cost_models.accelerator import Accelerator
from cost_models.buffers import TENSORS, Buffer, Level, Widths
from cost_models.physical import EnergyTable
from cost_models.technology import REFERENCE_NM, dram_pj, mac, sram, sram_reach

if TYPE_CHECKING:
    from cost_models.chain.chip import Chain

PARTS: Final = ("input", "filter", "output", "psum")
"""What moves: the tensors, with finished outputs and partial sums apart."""
CLOCK_MHZ: Final = 1000.0
"""Clock of a chip that gives none [MHz]; only leakage and power depend on it."""
PJ_PER_NJ: Final = 1000.0
UW_PER_MW: Final = 1000.0
PROVISIONED: Final = "provisioned"
"""A level is priced at the capacity it has."""
REQUIRED: Final = "required"
"""A level without a capacity is priced at what the mapping asks of it."""
OUTSIDE: Final = "outside the data"

Four = tuple[Any, Any, Any, Any]


@dataclass(frozen=True)
class LevelPrices:
    """What a level costs; numbers, or arrays where it is priced at what each mapping requires.

    Args:
        read: Energy of reading one element of each of `PARTS` [nJ].
        write: Energy of writing one element of each of `PARTS` [nJ].
        leakage_uw: Leakage of one instance of the level [uW].
        area_um2: Area of one instance of the level [um^2].
    """

    read: Four
    write: Four
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
        noc: Energy of one element delivered to a PE, or drained from one, of each of `PARTS` [nJ].
    """

    mac_nj: float
    mac_area_um2: float
    levels: tuple[LevelPrices, LevelPrices, LevelPrices]
    clock_mhz: float = CLOCK_MHZ
    noc: Four = (0.0, 0.0, 0.0, 0.0)

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
        """Area of PEs with their L1, and of L2 [um^2]; wires and control are not counted."""
        pe = lanes * self.mac_area_um2 + self.levels[2].area_um2
        return num_pes * pe + self.levels[1].area_um2


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
    energy, area = mac(widths.psum, widths.input, widths.filter, node)
    return ChipPrices(
        mac_nj=(energy if accelerator.mac_pj is None else accelerator.mac_pj) / PJ_PER_NJ,
        mac_area_um2=area if accelerator.mac_area_um2 is None else accelerator.mac_area_um2,
        levels=(
            dram_prices(accelerator.levels[0], widths),
            buffer_prices(l2, accelerator.levels[1], widths, node, l2_bytes),
            buffer_prices(l1, accelerator.levels[2], widths, node, l1_bytes),
        ),
        clock_mhz=clock_of(accelerator),
    )


def clock_of(accelerator: Accelerator | Chain) -> float:
    """Clock of a chip [MHz]."""
    return accelerator.clock_mhz or CLOCK_MHZ


def table_prices(table: EnergyTable, widths: Widths) -> ChipPrices:
    """A table of one price a level, for elements of other widths than the table is for."""

    def level(price: float) -> Four:
        bits = [1.0] * 4 if table.bits is None else [b / table.bits for b in widths]
        a, b, c, d = (table.unit_nj * (price * share) for share in bits)
        return a, b, c, d

    return ChipPrices(
        mac_nj=table.unit_nj * table.mac,
        mac_area_um2=0.0,
        levels=(
            LevelPrices(level(table.dram), level(table.dram)),
            LevelPrices(level(table.l2), level(table.l2)),
            LevelPrices(level(table.l1), level(table.l1)),
        ),
        noc=level(table.noc),
    )


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


def mark(buffer: Buffer, level: Level) -> str:
    """How a buffer is priced: `PROVISIONED` or `REQUIRED`.

    Where the data on SRAM do not reach its capacity, that is said too.
    """
    low, high = sram_reach()
    text = REQUIRED if is_open(buffer, level) else PROVISIONED
    if any(size is not None and not low <= size <= high for size in _sizes(buffer)):
        text += f", {OUTSIDE}"
    return text


def _sizes(buffer: Buffer) -> list[float | None]:
    """The capacities that the buffer is made of [B]; None for one that is not limited."""
    sizes = {
        position: own
        for position, own in enumerate(buffer.tensor_bits)
        if own is not None and buffer.holds[position]
    }
    found: list[float | None] = [bits / 8 for bits in sizes.values()]
    if any(buffer.sharing):
        found.append(None if buffer.capacity_bits is None else buffer.capacity_bits / 8)
    return found


def dram_prices(level: Level, widths: Widths) -> LevelPrices:
    """The prices of DRAM, by its kind where it gives none."""
    default = dram_pj(level.kind)
    read = default if level.read_pj is None else level.read_pj
    write = default if level.write_pj is None else level.write_pj
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
    shared = buffer.capacity_bits
    size = (1.0 if required is None else required) if shared is None else shared / 8
    memories = [sram(size if own is None else own / 8, node) for own in buffer.tensor_bits]
    parts = [memories[TENSORS.index("output" if part == "psum" else part)] for part in PARTS]
    built = [
        memory
        for memory, own, held in zip(memories, buffer.tensor_bits, buffer.holds, strict=True)
        if own is not None and held
    ]
    if any(buffer.sharing):
        built.append(sram(size, node))
    return LevelPrices(
        read=_by_width([_given(level.read_pj, memory.read_pj) for memory in parts], widths),
        write=_by_width([_given(level.write_pj, memory.write_pj) for memory in parts], widths),
        leakage_uw=_given(level.leakage_uw, sum(memory.leakage_uw for memory in built)),
        area_um2=_given(level.area_um2, sum(memory.area_um2 for memory in built)),
    )


def _given(own: float | None, found: Any) -> Any:
    return found if own is None else own


def _by_width(pj_per_byte: list[Any], widths: Widths) -> Four:
    """Prices of a byte [pJ] as prices of an element [nJ]."""
    a, b, c, d = (
        price * (bits / 8) / PJ_PER_NJ for price, bits in zip(pj_per_byte, widths, strict=True)
    )
    return a, b, c, d
