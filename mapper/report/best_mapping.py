"""The best mapping of a layer, looked at again: all that the page shows of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cost_models import (
    Accelerator,
    Chain,
    Cost,
    hierarchy,
    loop_nest,
    nest_of_loops,
)
from layers import Layer
from maestro_env import LevelPicture, level_pictures
from mapper.compare.entry import ComparedCase
from mapper.compare.summary import Summary
from mapper.report.sources import Source
from mapper.search.problem_spec import ProblemSpec
from mapper.show.chain import what_limits as chain_limits
from mapper.show.limits import slowest_part, what_limits
from marl_common import engineering
from marl_runs import StoredRun

Names = tuple[str, ...]
LATENCY: dict[str, Names] = {
    "MAC": ("share_compute",),
    "NoC": ("share_noc_in", "share_noc_out"),
    "DRAM": ("share_dram",),
}
"""Parts of a latency, each a sum of shares among a cost's details."""
ENERGY: dict[str, Names] = {
    "MAC": ("energy_mac_nj",),
    "L1": ("energy_l1_nj",),
    "NoC": ("energy_noc_nj",),
    "L2": ("energy_l2_nj",),
    "DRAM": ("energy_dram_nj",),
    "leakage": ("energy_leakage_nj",),
}
"""Parts of an energy, likewise [nJ]."""
WHOLE = "all"
"""The only part of a figure that a model does not take apart."""
LIMITS = {
    "compute": "MAC",
    "the NoC to the PEs": "NoC",
    "the NoC from the PEs": "NoC",
    "DRAM reads": "DRAM",
    "DRAM writes": "DRAM",
}
"""Part of the machine that a slowest part of the latency belongs to."""
MEMORIES = ("L1", "L2", "L3", "L4", "L5")
"""Parts that stand for the memories of a chip of any depth, from the innermost one outwards."""
FIGURES = {
    "latency_cycles": ("latency", "cycles"),
    "energy_nj": ("energy", "nJ"),
    "power_mw": ("power", "mW"),
    "area_um2": ("area", "um^2"),
    "utilized_pes": ("PEs at work", ""),
    "l1_bytes": ("L1 of a PE", "B"),
    "l2_bytes": ("L2", "B"),
}


@dataclass(frozen=True)
class BestMapping:
    """The best mapping of a case.

    Args:
        name: The layer's.
        count: How many layers of the network have this shape.
        layer: The layer.
        accelerator: The accelerator.
        method: Who found it.
        seed: With which seed.
        value: The objective.
        unit: Its unit.
        gap: How far `value` may be above the optimum, as a share; None where nothing is proven.
        bound_ratio: `value` over the physical bound; None where there is none.
        cost: The cost, by the model of the search.
        nest: The loop nest.
        limits: What stands between it and a better one, sentence by sentence.
        pictures: What the buffers hold at its first step.
    """

    name: str
    count: int
    layer: Layer
    accelerator: Accelerator | Chain
    method: str
    seed: int
    value: float
    unit: str
    gap: float | None
    bound_ratio: float | None
    cost: Cost
    nest: str
    limits: tuple[str, ...]
    pictures: tuple[LevelPicture, ...]

    @property
    def limited_by(self) -> str:
        """The part of the machine that is waited for longest; `WHOLE` if the model does not say."""
        if self.cost.by_level:
            return max(self.latency_parts, key=self.latency_parts.__getitem__)
        slowest = slowest_part(self.cost)
        return WHOLE if slowest is None else LIMITS[slowest]

    @property
    def latency_parts(self) -> dict[str, float]:
        """Cycles of one layer in which MACs, the NoC or DRAM are what is waited for."""
        named = LATENCY
        if self.cost.by_level:
            named = {"MAC": LATENCY["MAC"]}
            for part, level in self._memories():
                named[part] = (f"share_{level}.read", f"share_{level}.write")
        cycles = self.cost.latency_cycles
        shares = _parts(named, self.cost.detail)
        return {part: share * cycles for part, share in shares.items()} or {WHOLE: cycles}

    @property
    def energy_parts(self) -> dict[str, float]:
        """Energy of one layer by part of the machine [nJ]."""
        named = ENERGY
        if self.cost.by_level:
            named = {name: ENERGY[name] for name in ("MAC", "leakage")}
            named["NoC"] = ("energy_network_nj",)
            for part, level in self._memories():
                named[part] = (f"energy_{level.lower()}_nj",)
        return _parts(named, self.cost.detail) or {WHOLE: self.cost.energy_nj}

    @property
    def part_names(self) -> dict[str, str]:
        """What the parts of the machine are called on this chip, where not by their own names."""
        names = dict(self._memories())
        return names | {"NoC": "networks"} if names else names

    def _memories(self) -> Iterator[tuple[str, str]]:
        """The memories of a chip of any depth, each with the part that stands for it."""
        inner = [level for level in self.cost.by_level if level != "DRAM"]
        yield from zip(MEMORIES, reversed(inner), strict=False)
        if inner:
            yield "DRAM", "DRAM"

    @property
    def utilisation(self) -> float:
        """Share of the MACs that all PEs could have done meanwhile."""
        return self.layer.macs / (self.cost.latency_cycles * self.accelerator.peak_macs_per_cycle)

    @property
    def value_text(self) -> str:
        """The objective with its unit."""
        return engineering(self.value, self.unit, digits=4)

    @property
    def gap_text(self) -> str:
        """What is proven of it."""
        if self.gap is None:
            return "not proven"
        return "optimal" if self.gap == 0 else f"within {self.gap:.2%}"

    @property
    def cells(self) -> list[str]:
        """A row of the table of all layers, from its MACs on."""
        part = self.limited_by
        return [
            engineering(self.layer.macs),
            engineering(self.cost.latency_cycles, "cycles"),
            engineering(self.cost.energy_nj, "nJ"),
            self.value_text,
            "" if self.bound_ratio is None else f"{self.bound_ratio:.3f}",
            self.gap_text,
            "" if part == WHOLE else self.part_names.get(part, part),
            f"{self.utilisation:.0%}",
        ]

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Names and values with units."""
        return [
            (label, engineering(getattr(self.cost, name), unit))
            for name, (label, unit) in FIGURES.items()
            if not math.isnan(getattr(self.cost, name))
        ] + [
            (f"{name} (one)", engineering(level.bytes, "B"))
            for name, level in self.cost.by_level.items()
            if not math.isnan(level.bytes)
        ]


def best_mappings(
    summary: Summary, source: Source, counts: dict[str, int]
) -> dict[str, list[BestMapping]]:
    """The best mapping of every case of a board, by objective.

    Args:
        summary: The board's searches.
        source: All searches.
        counts: How many layers of a network have the shape of the layer of that name.
    """
    best: dict[ComparedCase, StoredRun] = {}
    for run, entry in zip(source.runs, source.entries, strict=True):
        if entry.board != summary.board or not entry.finished or entry.best is None:
            continue
        leader = best.get(entry.case)
        if leader is None or entry.best < (leader.best_value or math.inf):
            best[entry.case] = run
    found: dict[str, list[BestMapping]] = {}
    for case, run in best.items():
        one = _looked_at(case, run, summary, counts.get(case.layer, 1))
        found.setdefault(case.objective, []).append(one)
    return found


def _looked_at(case: ComparedCase, run: StoredRun, summary: Summary, count: int) -> BestMapping:
    """Evaluated again, so that the page shows what the mapping costs now."""
    problem = ProblemSpec.from_dict(run.spec["problem"]).build()
    looked = problem.look(np.array([(run.result or {})["best_action"]]))
    mapping, cost, value = looked.mappings[0], looked.costs[0], float(looked.values[0])
    nest, limits, pictures = _told(problem.layer, problem.accelerator, mapping, cost)
    return BestMapping(
        name=case.layer,
        count=count,
        layer=problem.layer,
        accelerator=problem.accelerator,
        method=run.spec["label"],
        seed=run.seed,
        value=value,
        unit=problem.objective.unit,
        gap=_gap(case, run, summary, value),
        bound_ratio=value / problem.bound if problem.bound else None,
        cost=cost,
        nest=nest,
        limits=limits,
        pictures=pictures,
    )


def _told(
    layer: Layer, chip: Accelerator | Chain, mapping: Any, cost: Cost
) -> tuple[str, tuple[str, ...], tuple[LevelPicture, ...]]:
    """The nest, what limits it, and pictures of what L2 and L1 hold."""
    if isinstance(chip, Chain):
        nest = f"{hierarchy(chip)}\n\n{nest_of_loops(mapping.loops(layer, chip))}"
        least = -(-layer.macs // chip.peak_macs_per_cycle)
        return nest, tuple(chain_limits(cost, chip, least)), ()
    return (
        loop_nest(mapping, layer, chip.num_pes),
        tuple(what_limits(cost, layer, chip, mapping)),
        level_pictures(layer, chip, mapping),
    )


def _gap(case: ComparedCase, run: StoredRun, summary: Summary, value: float) -> float | None:
    """From the search's own proof, or from an optimum that is known."""
    proof: dict[str, Any] | None = (run.result or {}).get("proof")
    floor = summary.floor(case)
    if floor is not None and floor[1] == "optimum":
        return _rounded(value / floor[0] - 1)
    return None if proof is None or not proof["bound"] > 0 else _rounded(value / proof["bound"] - 1)


def _rounded(gap: float) -> float:
    """Values that differ by less than a billionth are equal to a proof."""
    return 0.0 if gap < 1e-9 else gap


def _parts(parts: Mapping[str, tuple[str, ...]], detail: Mapping[str, float]) -> dict[str, float]:
    known = {part: [detail[n] for n in names if n in detail] for part, names in parts.items()}
    return {part: sum(values) for part, values in known.items() if values}
