"""A cost as tables: its figures with units, its accesses, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cost_models import FIGURES, Accelerator, Cost, CostModel, Infeasible
from cost_models import Mapping as LoopMapping
from layers import Layer
from maestro_env.bounds import figure_bounds
from maestro_env.objective import UNITS
from runs import print_rows, shown


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


def print_costs(
    costs: Mapping[str, Cost], title: str = "Cost", bounds: Mapping[str, float] | None = None
) -> None:
    """Print costs side by side: a row a figure with its unit, a column a cost model.

    Args:
        costs: Costs by cost model.
        title: What stands above the table.
        bounds: Physical lower bounds by figure; they make sense for one cost model only.
    """
    rows: list[dict[str, Any]] = []
    for figure in FIGURES:
        values = {name: getattr(cost, figure) for name, cost in costs.items()}
        row = {"figure": figure, **values, "unit": UNITS.get(figure, "")}
        if bounds is not None:
            bound = bounds.get(figure)
            row["lower bound"] = "" if bound is None else shown(bound)
            row["x bound"] = f"{min(values.values()) / bound:.3f}" if bound else ""
        rows.append(row)
    print_rows(title, rows)
    for name, cost in costs.items():
        if cost.accesses:
            print_rows(f"\nAccesses [elements], {name}", access_rows(cost))


def bounds_of(
    model: CostModel, layer: Layer, accelerator: Accelerator, mapping: LoopMapping | None
) -> dict[str, float]:
    """Physical lower bounds by figure, at the PEs that the mapping uses."""
    if mapping is not None and mapping.num_pes is not None:
        accelerator = replace(accelerator, num_pes=mapping.num_pes)
    return figure_bounds(model, layer, accelerator)


def access_rows(cost: Cost) -> Sequence[dict[str, Any]]:
    """One row a tensor, one column a kind of access."""
    return [{"tensor": tensor, **kinds} for tensor, kinds in cost.accesses.items()]
