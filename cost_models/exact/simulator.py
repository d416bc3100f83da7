"""Brute-force execution of a mapping: walks every step and marks every element.

Written from the semantics in ``docs/cost-models.md`` alone. It shares no code with the closed form,
so that each can be checked against the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import product
from operator import itemgetter, or_

from cost_models.exact.two_level_nest import (
    Counters,
    Elements,
    Nest,
    P,
    Pe,
    Q,
    R,
    Range,
    S,
    Tile,
    ceil_div,
    tile_size,
)
from cost_models.exact.simulator_records import COUNTED, OuterStep, Rules, SimulatedStep, figures

Pair = tuple[int, int]
"""The outer and the inner counter of a dimension."""
_NAMES = {"input": "in", "filter": "fil", "output": "out"}


class Execution:
    """Executes one nest and counts; :meth:`run` gives the counts by name."""

    def __init__(self, nest: Nest, rules: Rules) -> None:
        self.nest = nest
        self.rules = rules
        self.counts = dict.fromkeys(COUNTED, 0)
        self.outer: list[OuterStep] = []
        self._coupled = {t: itemgetter(*dims) for t, dims in nest.coupled.items()}
        self._memo: dict[str, dict[tuple[Range, ...], Elements]] = {t: {} for t in nest.coupled}
        self._first = {t: {pe for pe in nest.pes if nest.is_first(pe, t)} for t in nest.coupled}
        self._counted = ~nest.padding_elements if rules.padding_free else ~0
        # what each PE holds of input and filter, and the output tile each is accumulating
        self._held: dict[str, dict[Pe, Elements]] = {"input": {}, "filter": {}}
        self._open: dict[Pe, Tile] = {}
        self._written: Elements = 0
        self._l2_input: Elements = 0
        self._dram_open: Elements = 0
        self._dram_written: Elements = 0

    def run(self) -> dict[str, int]:
        """Walk every step; returns the counts, the latency and its parts by name."""
        before: tuple[Pair, ...] | None = None
        before_tile: Tile | None = None
        outer_before: Counters | None = None
        outer_tile_before: Tile | None = None
        for outer in self.nest.outer_counters():
            clusters = self.nest.cluster_tiles(outer)
            self._fill_l2(outer, outer_before, clusters, outer_tile_before)
            outer_before, outer_tile_before = outer, clusters[0]
            for inner in self.nest.inner_counters(clusters[0]):
                tiles = self.nest.pe_tiles(outer, inner)
                macs = {pe: tile_size(tile) for pe, tile in tiles.items()}
                pes = {pe: tile for pe, tile in tiles.items() if macs[pe] > 0}
                if self.rules.halo_time == "retain" and len(pes) < len(tiles):
                    self._forget(tiles)
                now = tuple(zip(outer, inner, strict=True))
                self._step(now, before, pes, before_tile, sum(macs.values()))
                before, before_tile = now, pes[0, 0]
        self._drain()
        self._drain_l2()
        return figures(self.counts, self.outer, self.rules)

    def _passes(self, level: int, tensor: str) -> bool:
        """Whether a tensor passes L2 (level 0) or L1 (level 1)."""
        return tensor in self.rules.passes[level]

    # ------------------------------------------------------------------ one outer step

    def _fill_l2(
        self,
        outer: Counters,
        before: Counters | None,
        clusters: list[Tile],
        tile_before: Tile | None,
    ) -> None:
        """Bring what the outer step needs from DRAM, by the rule of the outer counters."""
        record = OuterStep()
        for tensor, dims in self.nest.coupled.items():
            if self._passes(0, tensor):
                continue
            union = self._union(tensor, [t for t in clusters if tile_size(t) > 0])
            if tensor == "input" and self.nest.box:
                union = self.nest.boxed(union)
            if before is None:
                self._take_room("l2", tensor, union)
            elif all(outer[d] == before[d] for d in dims):
                continue
            if tensor == "output":
                self._drain_l2()
                again = (union & self._dram_written).bit_count()
                self.counts["dram_out_r"] += again
                record.bits_in += again * self.rules.widths[3]
                record.out += union.bit_count()
                self._dram_open = union
                continue
            new = union
            if tensor == "input":
                retains = self.rules.halo_time == "retain"
                if retains or self._slides(clusters[0], tile_before) is not None:
                    new = union & ~self._l2_input
                self._l2_input = union
            size = self._size(tensor, new)
            self.counts[f"dram_{_NAMES[tensor]}"] += size
            record.bits_in += size * self._width(tensor)
        self.outer.append(record)

    def _drain_l2(self) -> None:
        self.counts["dram_out_w"] += self._dram_open.bit_count()
        self._dram_written |= self._dram_open

    def _take_room(self, level: str, tensor: str, elements: Elements) -> None:
        """Count what a buffer needs for a tensor; the first step's tiles are the largest."""
        copies = self.rules.copies[level == "l1"][list(_NAMES).index(tensor)]
        width = self.rules.widths[3] if tensor == "output" else self._width(tensor)
        bits = copies * width * elements.bit_count()
        self.counts[f"{level}_peak"] += elements.bit_count()
        self.counts[f"{level}_bits"] += bits
        self.counts[f"{level}_bits_{_NAMES[tensor]}"] = bits

    # ------------------------------------------------------------------ one inner step

    def _forget(self, tiles: dict[Pe, Tile]) -> None:
        """Empty the buffers of PEs that have no part of a tensor in this step.

        A PE that idles for want of another dimension has a part, and keeps what it holds.
        """
        for tensor, held in self._held.items():
            dims = self.nest.coupled[tensor]
            for pe in list(held):
                if any(tiles[pe][d][0] == tiles[pe][d][1] for d in dims):
                    del held[pe]

    def _step(
        self,
        now: tuple[Pair, ...],
        before: tuple[Pair, ...] | None,
        pes: dict[Pe, Tile],
        tile_before: Tile | None,
        macs_of_all: int,
    ) -> None:
        macs = tile_size(pes[0, 0])
        self.counts["steps"] += 1
        self.counts["active_pe_steps"] += len(pes)
        self.counts["macs"] += macs_of_all
        self.counts["compute_cycles"] += ceil_div(macs, self.rules.simd)
        record = SimulatedStep(macs)
        retains = self.rules.halo_time == "retain"
        for tensor, dims in self.nest.coupled.items():
            moved = before is None or any(now[d] != before[d] for d in dims)
            if self._passes(1, tensor):
                self._stream(tensor, pes, record)
                continue
            if before is None:
                self._take_room("l1", tensor, self._elements(tensor, pes[0, 0]))
            if not moved and (tensor == "output" or not retains):
                continue
            if tensor == "output":
                self._drain()
                self._start_output(pes, record)
                continue
            tiles = {pe: self._elements(tensor, tile) for pe, tile in pes.items()}
            held = self._held[tensor]
            fetched = tiles
            if retains or (tensor == "input" and self._credit(pes[0, 0], tile_before)):
                fetched = {pe: tile & ~held.get(pe, 0) for pe, tile in tiles.items()}
            held.update(tiles)
            self._distribute(tensor, fetched, record)
        self.outer[-1].steps.append(record)

    def _distribute(self, tensor: str, tiles: dict[Pe, Elements], record: SimulatedStep) -> None:
        """Send each PE what it lacks."""
        name = _NAMES[tensor]
        union = reduce(or_, tiles.values())
        distinct = [tiles[pe] for pe in self._distinct(tiles, tensor)]
        self.counts[f"l1w_{name}"] += sum(self._size(tensor, tile) for tile in tiles.values())
        sent = [union] if not self.rules.tile else distinct
        read = sum(self._size(tensor, part) for part in sent)
        bits = read * self._width(tensor)
        record.noc_fill += bits
        if self._passes(0, tensor):
            self.counts[f"dram_{name}"] += read
            self.counts[f"dram_{name}_direct"] += read
            record.dram_fill += bits
        else:
            self.counts[f"l2r_{name}"] += self._size(tensor, union)
            self.counts[f"l2r_{name}_tile"] += sum(self._size(tensor, part) for part in distinct)

    def _distinct(self, pes: Iterable[Pe], tensor: str) -> list[Pe]:
        """PEs with different tiles: only index 0 along what the tensor is not coupled to."""
        return [pe for pe in pes if pe in self._first[tensor]]

    def _start_output(self, pes: dict[Pe, Tile], record: SimulatedStep) -> None:
        self._open = pes
        union = self._union("output", pes.values())
        again = (union & self._written).bit_count()
        record.noc_in += again * self.rules.widths[3]
        record.noc_out += union.bit_count() * self.rules.widths[3]
        if self._passes(0, "output"):
            self.counts["dram_out_r"] += again
            self.counts["dram_out_r_direct"] += again
            record.dram_in += again * self.rules.widths[3]
            record.out += union.bit_count()
        else:
            self.counts["l2r_psum"] += again

    def _drain(self) -> None:
        """Write the open output tiles back: each PE's L1 is read, each element written once."""
        tiles = {pe: self._elements("output", tile) for pe, tile in self._open.items()}
        union = reduce(or_, tiles.values(), 0)
        self.counts["l1drain_out"] += sum(tile.bit_count() for tile in tiles.values())
        self._written |= union
        if self._passes(0, "output"):
            self.counts["dram_out_w"] += union.bit_count()
            self.counts["dram_out_w_direct"] += union.bit_count()
            return
        self.counts["l2w_out"] += union.bit_count()
        distinct = self._distinct(tiles, "output")
        self.counts["l2w_out_tile"] += sum(tiles[pe].bit_count() for pe in distinct)

    # ------------------------------------------------------------------ tensors that L1 lacks

    def _stream(self, tensor: str, pes: dict[Pe, Tile], record: SimulatedStep) -> None:
        """Serve every MAC of a step from L2; PEs do theirs in the same order, at the same time."""
        for moment in self._moments(pes):
            touched = {pe: self._elements(tensor, macs) for pe, macs in moment.items()}
            union = reduce(or_, touched.values())
            distinct = self._distinct(touched, tensor)
            if tensor == "output":
                again = (union & self._written).bit_count()
                self._written |= union
                self.counts["l2r_psum"] += again
                self.counts["l2w_out"] += union.bit_count()
                self.counts["l2w_out_tile"] += len(distinct)
                self.counts["l1drain_out"] += len(touched)
                self.counts["l1_skipped_out"] += len(touched) + again
                record.noc_in += again * self.rules.widths[3]
                record.noc_out += union.bit_count() * self.rules.widths[3]
                continue
            name, width = _NAMES[tensor], self._width(tensor)
            self.counts[f"l1_skipped_{name}"] += len(touched)
            self.counts[f"l2r_{name}"] += self._size(tensor, union)
            apart = [touched[pe] for pe in distinct]
            self.counts[f"l2r_{name}_tile"] += sum(self._size(tensor, one) for one in apart)
            sent = apart if self.rules.tile else [union]
            record.noc_in += sum(self._size(tensor, part) for part in sent) * width

    def _moments(self, pes: dict[Pe, Tile]) -> Iterator[dict[Pe, Tile]]:
        """The MACs that PEs do at the same time: at the same place of each one's tile."""
        for place in product(*(range(high - low) for low, high in pes[0, 0])):
            moment = {}
            for pe, tile in pes.items():
                starts = [low + at for (low, _), at in zip(tile, place, strict=True)]
                if all(start < high for start, (_, high) in zip(starts, tile, strict=True)):
                    moment[pe] = tuple((start, start + 1) for start in starts)
            yield moment

    # ------------------------------------------------------------------ helpers

    def _width(self, tensor: str) -> int:
        return self.rules.widths[list(_NAMES).index(tensor)]

    def _size(self, tensor: str, elements: Elements) -> int:
        """Elements that are counted: padding is not, where it is free."""
        return (elements & self._counted if tensor == "input" else elements).bit_count()

    def _elements(self, tensor: str, tile: Tile) -> Elements:
        known, ranges = self._memo[tensor], self._coupled[tensor](tile)
        if ranges not in known:
            known[ranges] = self.nest.elements(tensor, ranges)
        return known[ranges]

    def _union(self, tensor: str, tiles: Iterable[Tile]) -> Elements:
        return reduce(or_, (self._elements(tensor, tile) for tile in tiles), 0)

    def _slides(self, tile: Tile, before: Tile | None) -> int | None:
        """The axis (P or Q) along which the input tile moved on, if nothing else of it changed."""
        if before is None or self.rules.halo_time != "slide":
            return None
        changed = [d for d in self.nest.coupled["input"] if tile[d] != before[d]]
        if len(changed) != 1 or changed[0] not in (P, Q):
            return None
        return changed[0] if tile[changed[0]][0] > before[changed[0]][0] else None

    def _credit(self, tile: Tile, before: Tile | None) -> bool:
        """Whether PEs keep what they hold: the axis and its filter dim are temporal throughout."""
        axis = self._slides(tile, before)
        if axis is None:
            return False
        taps = R if axis == P else S
        return not any(d in level for d in (axis, taps) for level in self.nest.spread)


def simulate(nest: Nest, rules: Rules) -> dict[str, int]:
    """Execute a nest element by element; the counts by the names of the reference file."""
    return Execution(nest, rules).run()
