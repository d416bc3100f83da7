"""Brute-force execution of a mapping: walks every step and marks every element.

Written from the semantics in ``docs/cost-models.md`` alone. It shares no code with the closed form,
so that each can be checked against the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cost_models.exact.nest import Element, Nest, P, Q, R, S, Tile, ceil_div, tile_size

Pe = tuple[int, int]
"""A PE: its cluster, and its place in it."""


@dataclass(frozen=True)
class Rules:
    """How the figures are counted; see :class:`cost_models.exact.ExactModel`."""

    halo_time: str = "retain"
    tile: bool = False
    bound: bool = False
    simd: int = 1
    noc_bw: int = 1 << 30
    offchip_bw: int = 1 << 30


@dataclass
class SimulatedStep:
    """One inner step: PE (0, 0)'s MACs, and elements over the NoC in each direction."""

    macs: int
    noc_in: int
    noc_out: int


@dataclass
class OuterStep:
    """One outer step: elements over the DRAM boundary, and its inner steps."""

    dram_in: int
    dram_out: int
    steps: list[SimulatedStep] = field(default_factory=list)


class Execution:
    """Executes one nest and counts; :meth:`run` gives the counts by name."""

    def __init__(self, nest: Nest, rules: Rules) -> None:
        self.nest = nest
        self.rules = rules
        self.counts = dict.fromkeys(_SUMS, 0)
        self.outer: list[OuterStep] = []
        self._memo: dict[tuple[str, Tile], frozenset[Element]] = {}
        # what each PE holds of input and filter, and the output tile each is accumulating
        self._held: dict[str, dict[Pe, frozenset[Element]]] = {"input": {}, "filter": {}}
        self._open: dict[Pe, Tile] = {}
        self._written: set[Element] = set()
        self._l2_input: frozenset[Element] = frozenset()
        self._dram_open: frozenset[Element] = frozenset()
        self._dram_written: set[Element] = set()

    def run(self) -> dict[str, int]:
        """Walk every step; returns the counts, the latency and its parts by name."""
        before: dict[int, tuple[int, int]] | None = None
        before_tile: Tile | None = None
        outer_before: dict[int, int] | None = None
        outer_tile_before: Tile | None = None
        for outer in self.nest.outer_counters():
            clusters = [self.nest.cluster_tile(outer, c) for c in range(self.nest.clusters)]
            self._fill_l2(outer, outer_before, clusters, outer_tile_before)
            outer_before, outer_tile_before = outer, clusters[0]
            for inner in self.nest.inner_counters(clusters[0]):
                tiles = self.nest.pe_tiles(clusters, inner)
                pes = {pe: tile for pe, tile in tiles.items() if tile_size(tile) > 0}
                if self.rules.halo_time == "retain":
                    self._forget(tiles)
                now = {d: (outer[d], inner[d]) for d in range(len(outer))}
                self._step(now, before, pes, before_tile)
                before, before_tile = now, pes[0, 0]
        self._drain()
        self._drain_l2()
        return self._figures()

    # ------------------------------------------------------------------ one outer step

    def _fill_l2(
        self,
        outer: dict[int, int],
        before: dict[int, int] | None,
        clusters: list[Tile],
        tile_before: Tile | None,
    ) -> None:
        """Bring what the outer step needs from DRAM, by the rule of the outer counters."""
        record = OuterStep(0, 0)
        held = {}
        for tensor, dims in self.nest.coupled.items():
            union = self._union(tensor, [t for t in clusters if tile_size(t) > 0])
            held[tensor] = union
            if before is not None and all(outer[d] == before[d] for d in dims):
                continue
            if tensor == "output":
                self._drain_l2()
                again = len(union & self._dram_written)
                self.counts["dram_out_r"] += again
                record.dram_in += again
                record.dram_out += len(union)
                self._dram_open = union
            else:
                new = union
                if tensor == "input":
                    retains = self.rules.halo_time == "retain"
                    if retains or self._slides(clusters[0], tile_before) is not None:
                        new = union - self._l2_input
                    self._l2_input = union
                self.counts["dram_in" if tensor == "input" else "dram_fil"] += len(new)
                record.dram_in += len(new)
        if before is None:
            self.counts["l2_peak"] = sum(len(elements) for elements in held.values())
        self.outer.append(record)

    def _drain_l2(self) -> None:
        self.counts["dram_out_w"] += len(self._dram_open)
        self._dram_written |= self._dram_open

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
        now: dict[int, tuple[int, int]],
        before: dict[int, tuple[int, int]] | None,
        pes: dict[Pe, Tile],
        tile_before: Tile | None,
    ) -> None:
        macs = tile_size(pes[0, 0])
        self.counts["steps"] += 1
        self.counts["active_pe_steps"] += len(pes)
        self.counts["macs"] += sum(tile_size(tile) for tile in pes.values())
        self.counts["compute_cycles"] += ceil_div(macs, self.rules.simd)
        record = SimulatedStep(macs, 0, 0)
        retains = self.rules.halo_time == "retain"
        for tensor, dims in self.nest.coupled.items():
            moved = before is None or any(now[d] != before[d] for d in dims)
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
                nothing: frozenset[Element] = frozenset()
                fetched = {pe: tile - held.get(pe, nothing) for pe, tile in tiles.items()}
            held.update(tiles)
            record.noc_in += self._distribute(tensor, fetched, dims)
        if before is None:
            self.counts["l1_peak"] = sum(
                len(self._elements(tensor, pes[0, 0])) for tensor in self.nest.coupled
            )
        self.outer[-1].steps.append(record)

    def _distribute(
        self, tensor: str, tiles: dict[Pe, frozenset[Element]], dims: tuple[int, ...]
    ) -> int:
        """Send each PE what it lacks; returns the elements that cross the NoC."""
        name = {"input": "in", "filter": "fil"}[tensor]
        union = len(frozenset().union(*tiles.values()))
        distinct = sum(len(tiles[pe]) for pe in self._distinct(tiles, dims))
        self.counts[f"l2r_{name}"] += union
        self.counts[f"l2r_{name}_tile"] += distinct
        self.counts[f"l1w_{name}"] += sum(len(tile) for tile in tiles.values())
        return distinct if self.rules.tile else union

    def _distinct(self, pes: dict[Pe, frozenset[Element]], dims: tuple[int, ...]) -> list[Pe]:
        """PEs with different tiles: only index 0 of a level the tensor is not coupled to."""
        outer, inner = self.nest.spatial
        return [(c, p) for c, p in pes if (c == 0 or outer in dims) and (p == 0 or inner in dims)]

    def _start_output(self, pes: dict[Pe, Tile], record: SimulatedStep) -> None:
        self._open = pes
        union = self._union("output", list(pes.values()))
        again = len(union & self._written)
        self.counts["l2r_psum"] += again
        record.noc_in += again
        record.noc_out += len(union)

    def _drain(self) -> None:
        """Write the open output tiles back: each PE's L1 is read, each element written once."""
        tiles = {pe: self._elements("output", tile) for pe, tile in self._open.items()}
        union = frozenset().union(*tiles.values())
        self.counts["l1drain_out"] += sum(len(tile) for tile in tiles.values())
        self.counts["l2w_out"] += len(union)
        distinct = self._distinct(tiles, self.nest.coupled["output"])
        self.counts["l2w_out_tile"] += sum(len(tiles[pe]) for pe in distinct)
        self._written |= union

    # ------------------------------------------------------------------ helpers

    def _elements(self, tensor: str, tile: Tile) -> frozenset[Element]:
        key = (tensor, tile)
        if key not in self._memo:
            self._memo[key] = self.nest.elements(tensor, tile)
        return self._memo[key]

    def _union(self, tensor: str, tiles: list[Tile]) -> frozenset[Element]:
        return frozenset().union(*(self._elements(tensor, tile) for tile in tiles))

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
        return axis not in self.nest.spatial and taps not in self.nest.spatial

    # ------------------------------------------------------------------ the figures

    def _figures(self) -> dict[str, int]:
        rules, counts = self.rules, dict(self.counts)
        counts["outer_steps"] = len(self.outer)
        steps = [step for outer in self.outer for step in outer.steps]
        parts = {
            "noc_in_cycles": ([s.noc_in for s in steps], rules.noc_bw),
            "noc_out_cycles": ([s.noc_out for s in steps], rules.noc_bw),
            "dram_in_cycles": ([o.dram_in for o in self.outer], rules.offchip_bw),
            "dram_out_cycles": ([o.dram_out for o in self.outer], rules.offchip_bw),
        }
        for name, (elements, bandwidth) in parts.items():
            if rules.bound:
                counts[name] = ceil_div(sum(elements), bandwidth)
            else:
                counts[name] = sum(ceil_div(e, bandwidth) for e in elements)
        counts |= self._bound(counts) if rules.bound else self._stepwise()
        return counts

    def _bound(self, counts: dict[str, int]) -> dict[str, int]:
        return _shares(
            [
                (
                    counts["compute_cycles"],
                    counts["noc_in_cycles"],
                    counts["noc_out_cycles"],
                    max(counts["dram_in_cycles"], counts["dram_out_cycles"]),
                )
            ]
        )

    def _stepwise(self) -> dict[str, int]:
        rules = self.rules
        parts = [
            (0, 0, 0, ceil_div(self.outer[0].dram_in, rules.offchip_bw)),
            (0, ceil_div(self.outer[0].steps[0].noc_in, rules.noc_bw), 0, 0),
        ]
        for number, outer in enumerate(self.outer):
            inner = []
            for place, step in enumerate(outer.steps):
                fill = number == 0 and place == 0
                noc_in = 0 if fill else ceil_div(step.noc_in, rules.noc_bw)
                noc_out = ceil_div(step.noc_out, rules.noc_bw)
                inner.append((ceil_div(step.macs, rules.simd), noc_in, noc_out, 0))
            dram_in = 0 if number == 0 else ceil_div(outer.dram_in, rules.offchip_bw)
            dram = max(dram_in, ceil_div(outer.dram_out, rules.offchip_bw))
            if dram > sum(max(step) for step in inner):
                parts.append((0, 0, 0, dram))
            else:
                parts.extend(inner)
        return _shares(parts)


_SUMS = (
    *("macs", "steps", "active_pe_steps", "compute_cycles", "l1_peak", "l2_peak"),
    *("dram_in", "dram_fil", "dram_out_w", "dram_out_r"),
    *("l2r_in", "l2r_in_tile", "l1w_in", "l2r_fil", "l2r_fil_tile", "l1w_fil"),
    *("l2w_out", "l2w_out_tile", "l1drain_out", "l2r_psum"),
)


def _shares(parts: list[tuple[int, int, int, int]]) -> dict[str, int]:
    """The latency, and its cycles by what binds each part: compute, NoC in, NoC out, DRAM.

    The first of equals binds.
    """
    names = ("bound_compute", "bound_noc_in", "bound_noc_out", "bound_dram")
    shares = dict.fromkeys(names, 0)
    for cycles in parts:
        longest = max(cycles)
        shares[names[cycles.index(longest)]] += longest
    return {"latency": sum(shares.values())} | shares


def simulate(nest: Nest, rules: Rules) -> dict[str, int]:
    """Execute a nest element by element; the counts by the names of the reference file."""
    return Execution(nest, rules).run()
