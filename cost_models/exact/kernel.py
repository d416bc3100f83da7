"""The compiled entry points: counts of nests, and of mappings of two levels.

A mapping of two levels becomes the nest ``L2 -> clusters -> L1``, and its counts get their names.
"""

from __future__ import annotations

from cost_models.exact.counting import count, find_keepers
from cost_models.exact.records import (
    CLUSTERS,
    COUNTED,
    DIMS,
    FILTER,
    INPUT,
    L1,
    L2,
    MACS,
    MALFORMED,
    OUTPUT,
    TENSORS,
    TOO_LARGE_TILES,
    CountRow,
    Counts,
    MappingRow,
    Nest,
    Work,
)
from cost_models.infeasible import ReasonCode
from marl_common import Int8Array, IntArray, address, entry, part


@part
def evaluate_row(work: Work, chip: Nest, mapping: MappingRow, row: CountRow) -> int:
    """Count a mapping into a row; returns the reason code, MALFORMED where it is none.

    Args:
        work: The work space; its nest is the chip's.
        chip: The nest of a chip, for what it keeps.
        mapping: The mapping.
        row: Filled where the mapping is feasible.
    """
    if not well_formed(mapping):
        return MALFORMED
    reason = take_mapping(work, chip, mapping)
    if reason != ReasonCode.FEASIBLE:
        return reason
    status = count(work)
    if status == TOO_LARGE_TILES:
        return ReasonCode.L2_CAPACITY if work.full == L2 else ReasonCode.L1_CAPACITY
    if status != COUNTED:
        return ReasonCode.TOO_LARGE
    fill_row(work, row)
    return ReasonCode.FEASIBLE


@part
def well_formed(mapping: MappingRow) -> bool:
    """Whether a row can be a mapping: orders of eight loops, dimensions, numbers of at least 1."""
    for level in range(2):
        seen = 0
        for d in range(DIMS):
            place = mapping.orders[level][d]
            if mapping.tiles[level][d] < 1 or place < 0 or place >= DIMS:
                return False
            seen |= 1 << place
        first, second = mapping.parallel[level], mapping.parallel2[level]
        if seen != (1 << DIMS) - 1 or first < 0 or first >= DIMS or second >= DIMS:
            return False
        if second >= 0 and (second == first or mapping.units[level] < 1):
            return False
    return mapping.cluster_size >= 1 and mapping.num_pes >= 1


@part
def take_mapping(work: Work, chip: Nest, mapping: MappingRow) -> int:
    """Write a mapping into the nest of the work space; returns a reason code."""
    count = mapping.num_pes // mapping.cluster_size
    pes = int(mapping.cluster_size)
    if count < 1 or too_many_units(mapping, 0, count) or too_many_units(mapping, 1, pes):
        return ReasonCode.PE_COUNT
    l2, l1 = address(work.nest.levels[L2]), address(work.nest.levels[L1])
    clusters = address(work.nest.levels[CLUSTERS])
    l2.keeps = kept(chip.levels[L2].keeps, mapping, 0)
    l1.keeps = kept(chip.levels[L1].keeps, mapping, 1)
    if l2.keeps == 0 or l1.keeps == 0 or l2.keeps | l1.keeps != (1 << TENSORS) - 1:
        return ReasonCode.REFUSED
    if chip.resident & ~l2.keeps:
        return ReasonCode.REFUSED
    for d in range(DIMS):
        n = work.nest.extents[d]
        clusters.tile[d] = min(int(mapping.tiles[0][d]), n)
        clusters.units[d] = units_along(mapping, 0, d, count)
        l2.tile[d] = min(clusters.tile[d] * clusters.units[d], n)
        l2.order[d] = mapping.orders[0][d]
        l1.tile[d] = min(int(mapping.tiles[1][d]), clusters.tile[d])
        l1.units[d] = units_along(mapping, 1, d, pes)
        l1.order[d] = mapping.orders[1][d]
    return ReasonCode.FEASIBLE


@part
def too_many_units(mapping: MappingRow, level: int, count: int) -> bool:
    """Whether a mapping takes more units of a level than there are."""
    return mapping.parallel2[level] >= 0 and mapping.units[level] > count


@part
def kept(holds: int, mapping: MappingRow, level: int) -> int:
    """Tensors that a chip's level holds and a mapping keeps there."""
    for tensor in range(TENSORS):
        if mapping.bypass[level][tensor]:
            holds &= ~(1 << tensor)
    return holds


@part
def units_along(mapping: MappingRow, level: int, d: int, count: int) -> int:
    """Units of a level along a dimension; spare ones idle."""
    second = mapping.parallel2[level]
    if mapping.parallel[level] == d:
        return int(mapping.units[level]) if second >= 0 else count
    return count // mapping.units[level] if second == d else 1


@part
def fill_row(work: Work, row: CountRow) -> None:
    """Write counts under their names."""
    counts = address(work.counts)
    row.macs, row.compute_cycles, row.latency = counts.macs, counts.compute, counts.latency
    row.steps, row.outer_steps = counts.steps[L1], counts.steps[L2]
    row.active_pe_steps = counts.active[L1]
    row.l2_peak, row.l1_peak = all_peaks(work, L2), all_peaks(work, L1)
    row.l2_bits, row.l1_bits = counts.bits[L2], counts.bits[L1]
    noc, dram = address(counts.port[L2]), address(counts.port[0])
    row.noc_in_cycles, row.noc_out_cycles = noc.busy_in, noc.busy_out
    row.dram_in_cycles, row.dram_out_cycles = dram.busy_in, dram.busy_out
    row.bound_compute = counts.bind_compute
    row.bound_noc_in, row.bound_noc_out = noc.bind_in, noc.bind_out
    row.bound_dram = dram.bind_in + dram.bind_out
    row.dram_in_direct, row.dram_fil_direct = past_l2(work, INPUT), past_l2(work, FILTER)
    row.dram_in = row.dram_in_direct + counts.read[INPUT][L2][0]
    row.dram_fil = row.dram_fil_direct + counts.read[FILTER][L2][0]
    row.l2r_in, row.l2r_in_tile = from_l2(work, INPUT)
    row.l2r_fil, row.l2r_fil_tile = from_l2(work, FILTER)
    row.l1w_in, row.l1w_fil = counts.fill[INPUT][L1], counts.fill[FILTER][L1]
    row.l1_skipped_in, row.l1_skipped_fil = past_l1(work, INPUT), past_l1(work, FILTER)
    fill_outputs(work, row)
    if work.nest.resident & 1:
        row.dram_in = 0
    if work.nest.resident & 2:
        row.dram_fil = 0
    if work.nest.resident & 4:
        row.dram_out_w, row.dram_out_r = 0, 0


@part
def all_peaks(work: Work, level: int) -> int:
    """Elements of all tensors in a level's first tile."""
    found = 0
    for tensor in range(TENSORS):
        found += work.counts.peak[tensor][level]
    return found


@part
def past_l2(work: Work, tensor: int) -> int:
    """Elements that go from DRAM to the PEs without being held in L2."""
    if work.keeper[tensor][L1] == L2:
        return 0
    if work.nest.whole_tiles:
        return work.counts.tiles[tensor][L1]
    return work.counts.read[tensor][L1][0]


@part
def from_l2(work: Work, tensor: int) -> tuple[int, int]:
    """Elements read from L2: distinct ones, and those of all distinct tiles."""
    if work.keeper[tensor][L1] != L2:
        return 0, 0
    below = L1 if work.keeper[tensor][MACS] == L1 else MACS
    return work.counts.read[tensor][below][L2], work.counts.tiles[tensor][below]


@part
def past_l1(work: Work, tensor: int) -> int:
    """L1 reads that bypass removes: one a MAC."""
    return 0 if work.keeper[tensor][MACS] == L1 else work.counts.macs


@part
def fill_outputs(work: Work, row: CountRow) -> None:
    """Write the counts of outputs."""
    counts = address(work.counts)
    in_l2 = work.keeper[OUTPUT][L1] == L2
    below = L1 if work.keeper[OUTPUT][MACS] == L1 else MACS
    row.dram_out_w_direct = 0 if in_l2 else counts.write[L1][0]
    row.dram_out_r_direct = 0 if in_l2 else counts.refill[L1][0]
    row.dram_out_w = row.dram_out_w_direct + counts.write[L2][0]
    row.dram_out_r = row.dram_out_r_direct + counts.refill[L2][0]
    row.l2w_out = counts.write[below][L2] if in_l2 else 0
    row.l2w_out_tile = counts.tiles[OUTPUT][below] if in_l2 else 0
    row.l2r_psum = counts.refill[below][L2] if in_l2 else 0
    row.l1drain_out = counts.drain[below]
    row.l1_skipped_out = 0
    if below == MACS:
        row.l1_skipped_out = counts.drain[MACS] + counts.refill[MACS][L2]


@entry
def count_nests(works: Work, nests: Nest, counts: Counts, status: IntArray, size: int) -> None:
    """Count nests, the first `size` of some.

    Args:
        works: ``(1,)`` work space.
        nests: ``(B,)`` nests.
        counts: ``(B,)``, filled where the nest was counted.
        status: ``(B,)``: COUNTED, or why there are no counts.
        size: How many.
    """
    work = address(works[0])
    for row in range(size):
        work.nest = nests[row]
        work.known = -1
        status[row] = count(work)
        if status[row] == COUNTED:
            counts[row] = work.counts


@entry
def evaluate_rows(
    works: Work, chips: Nest, mappings: MappingRow, rows: CountRow, reasons: Int8Array, size: int
) -> None:
    """Count mappings of two levels.

    Args:
        works: ``(1,)`` work space.
        chips: ``(1,)``: a layer on a chip, with a nest of two levels.
        mappings: ``(B,)``.
        rows: ``(B,)``, filled where a mapping is feasible.
        reasons: ``(B,)`` reason codes; MALFORMED where a row is no mapping at all.
        size: How many.
    """
    work = address(works[0])
    work.nest = chips[0]
    work.known = -1
    for i in range(size):
        reasons[i] = evaluate_row(work, address(chips[0]), address(mappings[i]), address(rows[i]))


@entry
def name_counts(works: Work, nests: Nest, counts: Counts, rows: CountRow) -> None:
    """Give the counts of a nest of two levels the names that costs have; all are ``(1,)``."""
    work = address(works[0])
    work.nest = nests[0]
    work.known = -1
    find_keepers(work)
    work.counts = counts[0]
    fill_row(work, address(rows[0]))
