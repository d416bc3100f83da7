"""A cost as tables: its figures with units, its accesses, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cost_models import FIGURES, Cost, Infeasible
from maestro_env.objective import UNITS
from mapper.show.tables import print_rows


def cost_values(cost: Cost) -> dict[str, Any]:
    """Every figure, access and detail of a cost by name, as JSON shows it."""
    values: dict[str, Any] = {"feasible": cost.feasible}
    if cost.infeasible is not None:
        values["infeasible"] = infeasible_values(cost.infeasible)
    values |= {figure: getattr(cost, figure) for figure in FIGURES}
    values |= {"accesses": cost.accesses, "detail": cost.detail, "counts": cost.counts}
    return values


def infeasible_values(reason: Infeasible) -> dict[str, Any]:
    """A reason as plain values."""
    return {
        "code": reason.code.name,
        "message": reason.message,
        "demand": reason.demand,
        "bound": reason.bound,
        "gap": reason.gap,
        "unit": reason.unit,
        "levers": list(reason.levers),
    }


def print_costs(costs: Mapping[str, Cost], title: str = "Cost") -> None:
    """Print costs side by side, a column each, a row a figure with its unit."""
    rows: list[dict[str, Any]] = []
    for figure in FIGURES:
        row: dict[str, Any] = {"figure": figure}
        row |= {name: getattr(cost, figure) for name, cost in costs.items()}
        rows.append({**row, "unit": UNITS.get(figure, "")})
    print_rows(title, rows)
    for name, cost in costs.items():
        if cost.accesses:
            print_rows(f"Accesses [elements], {name}", access_rows(cost))


def access_rows(cost: Cost) -> Sequence[dict[str, Any]]:
    """One row a tensor, one column a kind of access."""
    return [{"tensor": tensor, **kinds} for tensor, kinds in cost.accesses.items()]
