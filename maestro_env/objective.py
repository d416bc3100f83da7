"""What a search minimises: one figure of a cost, or a product of several, under limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cost_models import FIGURES, Accelerator, Chain, CostBatch, Infeasible, ReasonCode
from marl_common import FloatArray, brief, suggest

OBJECTIVES: dict[str, tuple[str, ...]] = {
    "latency": ("latency_cycles",),
    "energy": ("energy_nj",),
    "edp": ("latency_cycles", "energy_nj"),
    "area": ("area_um2",),
    "power": ("power_mw",),
    "energy_total": ("energy_total_nj",),
    "edp_total": ("latency_cycles", "energy_total_nj"),
}
"""Objectives by name: the figures whose product is minimised."""

UNITS = {
    "latency_cycles": "cycles",
    "energy_nj": "nJ",
    "energy_total_nj": "nJ",
    "power_mw": "mW",
    "area_um2": "um^2",
    "l1_bytes": "B",
    "l2_bytes": "B",
    "utilized_pes": "PEs",
    "macs": "MACs",
    "noc_bw_req": "elements/cycle",
    "offchip_bw_req": "elements/cycle",
    "throughput_macs_per_cycle": "MACs/cycle",
    "arithmetic_intensity": "MACs/element",
}


LARGEST_LIMIT = 1e300
OF_TWO_LEVELS = ("l1_bytes", "l2_bytes", "noc_bw_req")
"""Figures that chips of two levels alone have."""


def unit_of(figure: str) -> str:
    """Unit of a figure, or of what an instance of a level must hold, ``bytes.LEVEL``."""
    return "B" if figure.startswith("bytes.") else UNITS[figure]


def beyond(
    name: str, demand: float, limit: float, message: str, levers: tuple[str, ...]
) -> Infeasible:
    """The report on a limit such as ``max_energy_nj`` that a demand is beyond."""
    unit = unit_of(name.removeprefix("max_"))
    return Infeasible(ReasonCode.LIMIT, message, demand, limit, unit, levers)


class ObjectiveError(ValueError):
    """An objective or limit that is not known."""


@dataclass(frozen=True)
class Objective:
    """A product of figures, to be minimised.

    Args:
        name: As given, such as ``"edp"`` or ``"latency*area"``.
        figures: Names of `FIGURES`; one that is there twice counts squared.
    """

    name: str
    figures: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Objective:
        """An objective by name, or a product of names joined by ``*``.

        Raises:
            ObjectiveError: A name is not one of `OBJECTIVES`.
        """
        if not isinstance(text, str):
            raise ObjectiveError(f"objective: got {text!r}, expected a name such as 'edp'")
        figures: list[str] = []
        for part in text.split("*"):
            name = part.strip()
            if name not in OBJECTIVES:
                hint = suggest(name, OBJECTIVES)
                raise ObjectiveError(
                    f"objective: got {text!r}, expected one of {', '.join(OBJECTIVES)}, or a "
                    f"product such as 'latency*area'.{hint}"
                )
            figures += OBJECTIVES[name]
        return cls("*".join(part.strip() for part in text.split("*")), tuple(figures))

    @property
    def unit(self) -> str:
        """Unit of the objective's value."""
        return " * ".join(UNITS[figure] for figure in self.figures)

    def values(self, costs: CostBatch) -> FloatArray:
        """``(B,)`` values to minimise; inf where a mapping is infeasible."""
        product = np.ones(len(costs))
        for figure in self.figures:
            product = product * getattr(costs, figure)
        product[~costs.feasible] = np.inf
        return product

    def bound(self, figures: Mapping[str, float]) -> float | None:
        """Lower bound from the bounds of the figures; None where one has none."""
        bound = 1.0
        for figure in self.figures:
            if figure not in figures:
                return None
            bound *= figures[figure]
        return bound


_OF_L2_AND_L1 = {f"max_{name.lower()}_bytes": f"max_bytes.{name}" for name in ("L2", "L1")}


def checked_limits(
    limits: Mapping[str, float] | None, chip: Accelerator | Chain | None = None
) -> dict[str, float]:
    """Limits such as ``{"max_latency_cycles": 1e6}``, checked.

    Args:
        limits: The limits.
        chip: A chip that is a list of levels has ``max_bytes.LEVEL`` for each memory.

    Raises:
        ObjectiveError: They are no dict, a name is not ``max_`` and a figure, or a value is no
            positive number.
    """
    known = [f"max_{figure}" for figure in FIGURES]
    if isinstance(chip, Chain):
        known = [name for name in known if name.removeprefix("max_") not in OF_TWO_LEVELS]
        known += [f"max_bytes.{level.name}" for level in chip.memories]
    checked: dict[str, float] = {}
    if limits is not None and not isinstance(limits, Mapping):
        raise ObjectiveError(
            f"limits: got {brief(limits)}, expected a dict such as {{'max_latency_cycles': 1e6}}, "
            "or None"
        )
    for given, value in (limits or {}).items():
        path = _OF_L2_AND_L1.get(given, given)  # on a list of levels that are L2 and L1
        name = path if path in known else given
        if name not in known:
            hint = suggest(str(name), known)
            if given in _OF_L2_AND_L1:
                hint = " Levels go by their names here."
            raise ObjectiveError(
                f"limits.{name}: unknown limit; expected one of {', '.join(known)}.{hint}"
            )
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not 0 < value < LARGEST_LIMIT:
            raise ObjectiveError(
                f"limits.{name}: got {brief(value)}, expected a number above 0 (and below 1e300)"
            )
        checked[name] = float(value)
    return checked
