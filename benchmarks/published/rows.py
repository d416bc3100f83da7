"""A published figure beside ours, and what explains the difference."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from cost_models import Chain, ChainMapping, Cost, CostModel
from layers import Layer

COLUMNS = (
    *("chip", "layer", "quantity", "published", "read", "ours", "ratio", "causes", "left_over"),
)
"""`read`: where the figure was read; or that it is remembered from the publication, unchecked."""
HERE = Path(__file__).parent
Figures = dict[str, Any]
"""Published figures, by name."""


class Row(NamedTuple):
    """One figure.

    Args:
        chip: The chip of the library.
        layer: The layer, or what the figure is of.
        quantity: What is compared, with its unit.
        published: The publication's figure.
        ours: The exact model's.
        causes: By name, by what factor each cause makes ours larger than the published figure.
        read: Where the published figure was read; empty where it is only remembered.
    """

    chip: str
    layer: str
    quantity: str
    published: float
    ours: float
    causes: dict[str, float]
    read: str = ""

    @property
    def ratio(self) -> float:
        """Ours over the published figure."""
        return self.ours / self.published

    @property
    def left_over(self) -> float:
        """The ratio that the causes leave unexplained."""
        return self.ratio / math.prod(self.causes.values())


def chain_of(*steps: tuple[str, float]) -> dict[str, float]:
    """Causes as factors, from a figure that one cause after another is taken off.

    Args:
        steps: First any name with the figure as it is, then each cause with what is left.
    """
    pairs = zip(steps[1:], steps, strict=False)
    found = {name: before / after for (name, after), (_, before) in pairs}
    return {name: factor for name, factor in found.items() if abs(factor - 1) > 5e-4}


def fitting(model: CostModel, layer: Layer, chip: Chain, mapping: ChainMapping) -> Cost:
    """The cost of a mapping.

    Raises:
        ValueError: The mapping does not fit.
    """
    cost = model.evaluate(layer, chip, mapping)
    if not cost.feasible:
        raise ValueError(f"{layer.name}: {cost.infeasible}")
    return cost


def given(name: str) -> Figures:
    """The published figures of a chip, from the file beside this module."""
    found: Figures = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    return found


def shown(row: Row) -> dict[str, str]:
    """The row as it stands in the file."""
    return {
        **{name: getattr(row, name) for name in ("chip", "layer", "quantity")},
        "published": f"{row.published:.6g}",
        "read": row.read or "remembered, not checked",
        "ours": f"{row.ours:.0f}" if row.ours > 1e4 else f"{row.ours:.5g}",
        "ratio": f"{row.ratio:.3f}",
        "causes": "; ".join(f"{name} x{factor:.3f}" for name, factor in row.causes.items()),
        "left_over": f"{row.left_over:.3f}",
    }
