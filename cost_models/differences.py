"""Where MAESTRO's figures differ from an execution of the loop nest, for one mapping."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cost_models.accelerator import Accelerator
from cost_models.causes import Cause, causes_of
from cost_models.cost import IN_HTML, Cost
from cost_models.cost_model import CostModel, load
from cost_models.dataflow import Dataflow
from cost_models.mapping import Mapping as NestMapping
from layers import Layer
from marl_common import engineering, html_table

FIGURES = {
    "MACs": ("macs", None),
    "latency [cycles]": ("latency_cycles", None),
    "input L2 reads": ("input", "l2_read"),
    "filter L2 reads": ("filter", "l2_read"),
    "output L2 reads": ("output", "l2_read"),
    "output L2 writes": ("output", "l2_write"),
    "L1 [B]": ("l1_bytes", None),
    "L2 [B]": ("l2_bytes", None),
    "energy [nJ]": ("energy_nj", None),
}
"""What is compared: a figure of the cost, or a tensor and a kind of access."""


@dataclass(frozen=True)
class Difference:
    """A figure in which the two models differ."""

    figure: str
    exact: float
    maestro: float

    @property
    def ratio(self) -> float:
        """MAESTRO's figure over the exact one; inf where the latter is zero."""
        return self.maestro / self.exact if self.exact else math.inf


@dataclass(frozen=True)
class Comparison:
    """The costs of one mapping under several models, and why MAESTRO differs.

    Args:
        costs: By model name, each under the accelerator's limits.
        differences: Figures in which MAESTRO, unguarded, differs from the exact model; buffer
            limits are left out of account, and so is the energy where the mapping breaks them:
            it is that of the chip's buffers. Empty where one of them has no figures.
        causes: The causes that apply; empty where the mapping does not partition the layer.
        refusal: Why MAESTRO has no figures at all, or an empty text.
    """

    costs: dict[str, Cost]
    differences: tuple[Difference, ...]
    causes: tuple[Cause, ...]
    refusal: str = ""

    def lines(self) -> list[str]:
        """The comparison as text, one thing a line."""
        lines = [f"MAESTRO has no figures here: {self.refusal}"] * bool(self.refusal)
        if self.differences:
            lines.append("Figures of maestro, unguarded, against those of exact:")
        for item in self.differences:
            times = f" ({item.ratio:.2f}x)" if math.isfinite(item.ratio) else ""
            name, _, unit = item.figure.rstrip("]").partition(" [")
            maestro, exact = (_shown(value, unit) for value in (item.maestro, item.exact))
            lines.append(f"  {name}: maestro {maestro}, exact {exact}{times}")
        if self.causes:
            lines.append("Why:")
        lines += [
            f"  {place}. {cause.title}: {cause.why} (cause {cause.number} in docs/cost-models.md)"
            for place, cause in enumerate(self.causes, 1)
        ]
        return lines or ["MAESTRO agrees on this mapping."]

    def _repr_html_(self) -> str:
        rows = [
            (title, *(_in_table(cost, name, unit) for cost in self.costs.values()))
            for name, title, unit in IN_HTML
            if (name, None) in FIGURES.values()
        ]
        return html_table(("", *self.costs), rows, "\n".join(self.lines()))


def _in_table(cost: Cost, figure: str, unit: str) -> str:
    return engineering(getattr(cost, figure), unit) if cost.feasible else "infeasible"


def _shown(value: float, unit: str) -> str:
    """A figure as the tables of costs have it; whole counts with all digits."""
    return engineering(value, unit) if unit == "nJ" else f"{value:,.10g} {unit}".rstrip()


def compare(
    layer: Layer,
    accelerator: Accelerator,
    mapping: NestMapping | Dataflow,
    models: Mapping[str, CostModel] | None = None,
) -> Comparison:
    """Evaluate a mapping under several models and say where and why MAESTRO differs.

    Args:
        layer: The layer.
        accelerator: The accelerator.
        mapping: A mapping or a dataflow.
        models: By name; None for ``exact`` and the guarded ``maestro``.
    """
    model = load("exact")
    if models is None:
        models = {"exact": model, "maestro": load("maestro")}
    costs = {name: one.evaluate(layer, accelerator, mapping) for name, one in models.items()}
    roomy = accelerator.unlimited_buffers()
    on_chip = model.evaluate(layer, accelerator, mapping)
    exact = on_chip if on_chip.feasible else model.evaluate(layer, roomy, mapping)
    raw = load("maestro", guard=False).evaluate(layer, roomy, mapping)
    refusal = "" if raw.infeasible is None else raw.infeasible.message
    if not exact.feasible:
        return Comparison(costs, (), (), refusal)
    left_out = "" if on_chip.feasible else "energy_nj"  # buffers of another size cost less
    differences = () if refusal else tuple(_differences(exact, raw, left_out))
    return Comparison(costs, differences, causes_of(layer, accelerator, mapping, exact), refusal)


def _differences(exact: Cost, raw: Cost, left_out: str) -> Iterator[Difference]:
    for label, (name, kind) in FIGURES.items():
        ours, theirs = (
            cost.accesses[name][kind] if kind else getattr(cost, name) for cost in (exact, raw)
        )
        if ours != theirs and name != left_out:
            yield Difference(label, ours, theirs)
