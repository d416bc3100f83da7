"""All layers of a network, or of a comparison, at a glance: totals, bars and the roofline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from mapper.explaining.token_figures import TokenFigures
from mapper.explore.design_figures import figures_of
from mapper.explore.explore_file import ExploredDesigns
from mapper.explore.mapping_pool import NetworkPoint
from mapper.report.best_mapping import WHOLE, BestMapping
from mapper.report.fronts import FrontView
from mapper.report.networks import NetworkShapes
from mapper.report.roofline import roofline
from marl_common import engineering

PARTS = ("MAC", "L1", "NoC", "L2", "L3", "L4", "L5", "DRAM", "leakage", WHOLE)
"""Parts of the machine in the order in which bars stack them."""


@dataclass(frozen=True)
class ChartRow:
    """One row of a chart.

    Args:
        name: The layer.
        count: How many layers of this shape.
        limited_by: See :class:`BestMapping`.
        parts: Part of the machine and its width, in percent of the chart.
        text: The value that the whole bar stands for.
    """

    name: str
    count: int
    limited_by: str
    parts: tuple[tuple[str, float], ...]
    text: str


@dataclass(frozen=True)
class Chart:
    """Bars below a title; `legend` names the parts that occur."""

    title: str
    note: str
    bars: tuple[ChartRow, ...]

    @property
    def legend(self) -> list[str]:
        """Parts that occur, in the order of the bars."""
        seen = {part for bar in self.bars for part, _ in bar.parts}
        return [part for part in PARTS if part in seen and part != WHOLE]


class Overview:
    """The best mappings of one objective.

    Args:
        shapes: What the layers are together.
        objective: What was minimised.
        layers: The best mappings.
        missing: Names of layers without one.
        explored: Explorations of the network.
    """

    def __init__(
        self,
        shapes: NetworkShapes,
        objective: str,
        layers: Sequence[BestMapping],
        missing: Sequence[str],
        explored: Sequence[ExploredDesigns] = (),
    ) -> None:
        self.network, self.objective, self._shapes = shapes.name, objective, shapes
        self.layers, self.missing = list(layers), list(missing)
        self.fronts = [FrontView(designs, self._figures()) for designs in explored]

    def _figures(self) -> dict[str, float]:
        """What designs are compared by, of the network on this chip; empty if a layer is missing.

        Only where its area is the chip's, not the mapping's own.
        """
        areas = {one.cost.area_um2 for one in self.layers}
        if self.missing or len(areas) != 1:
            return {}
        point = NetworkPoint(
            self._sum(lambda one: one.cost.latency_cycles),
            self._sum(lambda one: one.cost.energy_nj),
            (),
        )
        return figures_of(self.layers[0].accelerator, areas.pop(), point)

    def part_name(self, part: str) -> str:
        """What a part of the machine is called on this chip."""
        return self.layers[0].part_names.get(part, part)

    def short(self, name: str) -> str:
        """A layer's name without that of the network."""
        return name.removeprefix(f"{self.network}.") if self.network else name

    @property
    def count(self) -> int:
        """Layers, each shape as often as it occurs."""
        return sum(one.count for one in self.layers)

    def _sum(self, figure: Callable[[BestMapping], float]) -> float:
        return sum(one.count * figure(one) for one in self.layers)

    @cached_property
    def totals(self) -> list[tuple[str, str]]:
        """Sums over all layers, one after another: names and values with units."""
        of_passes = self._shapes.pass_cycles, self._shapes.pass_energy_nj
        cycles = self._sum(lambda one: one.cost.latency_cycles) + of_passes[0]
        energy = self._sum(lambda one: one.cost.energy_nj) + of_passes[1]
        macs = self._sum(lambda one: one.layer.macs)
        chip = self.layers[0].accelerator
        time = None if chip.clock_mhz is None else engineering(cycles / chip.clock_mhz, "us")
        gaps = [one.gap for one in self.layers]
        optimal = sum(gap == 0 for gap in gaps)
        shapes = len(self.layers)
        found = [
            ("layers" if self.count == shapes else f"layers, {shapes} shapes", f"{self.count}"),
            ("MACs", engineering(macs)),
            ("latency", engineering(cycles, "cycles") + (f" ({time})" if time else "")),
            ("energy", engineering(energy, "nJ")),
            ("energy-delay product", engineering(cycles * energy, "nJ * cycles")),
            ("of the PEs' peak", f"{macs / (cycles * chip.peak_macs_per_cycle):.0%}"),
        ]
        if any(of_passes):
            taken = engineering(of_passes[0], "cycles"), engineering(of_passes[1], "nJ")
            found.append(("in nodes without MACs", " and ".join(taken)))
        if optimal:
            found.append(("proven optimal", f"{optimal} of {shapes}"))
        if self._shapes.tokens and not self.missing:
            by_token = TokenFigures.of(self._shapes.tokens, chip, cycles, energy)
            found += [("tokens a second", by_token.speed), ("energy of a token", by_token.energy)]
        return found

    @cached_property
    def charts(self) -> list[Chart]:
        """Latency, energy and utilisation of every layer."""
        times = " (all layers of a shape together)" if self.count > len(self.layers) else ""
        latency = _stacked(self.layers, lambda one: one.latency_parts, "cycles")
        energy = _stacked(self.layers, lambda one: one.energy_parts, "nJ")
        return [
            Chart("Latency" + times, "cycles in which this part is waited for", latency),
            Chart("Energy" + times, "", energy),
            Chart(
                "Utilisation and gap to the optimum",
                "MACs done, of those that all PEs could have done meanwhile",
                tuple(
                    ChartRow(
                        one.name,
                        one.count,
                        one.limited_by,
                        ((one.limited_by, 100 * min(1.0, one.utilisation)),),
                        f"{one.utilisation:.0%}, {one.gap_text}",
                    )
                    for one in self.layers
                ),
            ),
        ]

    @property
    def limits(self) -> list[tuple[str, str]]:
        """What limits how many layers, and their share of the latency."""
        whole = self._sum(lambda one: one.cost.latency_cycles) + self._shapes.pass_cycles
        found = []
        for part in PARTS:
            mine = [one for one in self.layers if one.limited_by == part]
            if mine and part != WHOLE:
                share = sum(one.count * one.cost.latency_cycles for one in mine) / whole
                shapes = f"{len(mine)} {'shape' if len(mine) == 1 else 'shapes'}"
                found.append((part, f"limits {shapes}, {share:.0%} of the cycles"))
        return found

    @cached_property
    def roofline(self) -> str:
        """The roofline as SVG, marked as markup; empty where DRAM's bandwidth is not limited."""
        from markupsafe import Markup

        return Markup(roofline(self.layers))


def _stacked(
    layers: Sequence[BestMapping], parts_of: Callable[[BestMapping], dict[str, float]], unit: str
) -> tuple[ChartRow, ...]:
    """Bars whose longest fills the chart."""
    rows = [(one, parts_of(one)) for one in layers]
    longest = max(one.count * sum(parts.values()) for one, parts in rows)
    bars = []
    for one, parts in rows:
        widths = [
            (part, 100 * one.count * parts[part] / longest)
            for part in PARTS
            if parts.get(part, 0) > 0
        ]
        total = engineering(one.count * sum(parts.values()), unit)
        bars.append(ChartRow(one.name, one.count, one.limited_by, tuple(widths), total))
    return tuple(bars)
