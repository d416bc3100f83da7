"""A cost as tables: its figures with units, its accesses, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from cost_models import FIGURES, Accelerator, Cost, CostModel, Infeasible
from cost_models import Mapping as LoopMapping
from layers import Layer
from maestro_env import UNITS, figure_bounds
from marl_common import engineering
from marl_runs import Column, print_rows, say, tell


def cost_values(cost: Cost) -> dict[str, Any]:
    """Every figure, access and detail of a cost by name, as JSON shows it."""
    values: dict[str, Any] = {"feasible": cost.feasible}
    if cost.infeasible is not None:
        values["infeasible"] = infeasible_values(cost.infeasible)
    values |= {name: value for name in FIGURES if not isnan(value := getattr(cost, name))}
    if cost.by_level:
        values["levels"] = level_values(cost)
    values |= {"accesses": cost.accesses, "detail": cost.detail, "counts": cost.counts}
    return values


def level_values(cost: Cost) -> dict[str, Any]:
    """What a cost says of each level of a chip of any depth, as plain values."""
    return {
        name: {
            "bytes": None if isnan(level.bytes) else level.bytes,
            "capacity_bytes": level.capacity_bytes,
            "instances": level.instances,
            "accesses": level.accesses,
            "energy_nj": level.energy_nj,
            "busy_cycles": level.busy,
        }
        for name, level in cost.levels.items()
    }


def infeasible_values(reason: Infeasible) -> dict[str, Any]:
    """A reason as plain values."""
    names = ("message", "demand", "bound", "gap", "unit")
    found = {name: getattr(reason, name) for name in names}
    return {"code": reason.code.name, **found, "levers": list(reason.levers)}


TITLES = {
    "latency_cycles": "latency",
    "energy_nj": "energy",
    "energy_total_nj": "energy, all parts",
    "power_mw": "power",
    "area_um2": "area",
    "throughput_macs_per_cycle": "throughput",
    "macs": "MACs",
    "l1_bytes": "L1 of a PE",
    "l2_bytes": "L2",
    "noc_bw_req": "NoC bandwidth it asks for",
    "offchip_bw_req": "DRAM bandwidth it asks for",
    "utilized_pes": "PEs at work",
    "arithmetic_intensity": "MACs an element moved",
}
"""What tables call the figures, whose cells have the unit."""
SAYS_NOTHING = 1000
"""A bound so many times below its figure is not shown: power falls as long as a mapping slows."""


def print_costs(
    costs: Mapping[str, Cost], title: str = "Cost", bounds: Mapping[str, float] | None = None
) -> None:
    """Print costs side by side: one row per figure, one column per cost model.

    Args:
        costs: Costs by cost model.
        title: What stands above the table.
        bounds: Physical lower bounds by figure; they make sense for one cost model only.
    """
    rows: list[dict[str, Any]] = []
    for figure in FIGURES:
        unit = UNITS.get(figure, "")
        values = {name: getattr(cost, figure) for name, cost in costs.items()}
        row = {"figure": TITLES[figure]} | {
            name: engineering(v, unit) for name, v in values.items()
        }
        bound = (bounds or {}).get(figure)
        least = min(values.values())
        if bound is not None and least <= SAYS_NOTHING * bound:
            row["lower bound"] = engineering(bound, unit)
            row["x bound"] = f"{least / bound:.3f}" if bound else ""
        rows.append(row)
    columns = [Column.name("figure"), *(Column(name, keep=9) for name in costs)]
    if bounds is not None:
        columns.append(Column("lower bound", keep=1, blank=""))
        columns.append(Column("x bound", keep=2, right=True, blank=""))
    print_rows(title, rows, "", columns)
    for name, cost in costs.items():
        if cost.accesses:
            rows = [{"tensor": tensor, **kinds} for tensor, kinds in cost.accesses.items()]
            print_rows(f"\nAccesses [elements], {name}", rows, "", _kinds(cost))


def _kinds(cost: Cost) -> list[Column]:
    """The tensor, and what is read and written, the outermost memory most worth showing."""
    kinds = list(next(iter(cost.accesses.values())))
    return [Column.name("tensor"), *(Column(k, unit="", keep=i) for i, k in enumerate(kinds))]


def print_costs_of_layers(results: Sequence[tuple[str, Mapping[str, Cost]]]) -> None:
    """Print one row per layer and cost model, the sums of each model, and what is infeasible.

    Args:
        results: Names of layers, each with its costs by cost model.
    """
    rows = [
        {"layer": layer, "cost model": name, **_figures(cost)}
        for layer, costs in results
        for name, cost in costs.items()
    ]
    columns = [
        Column.name("layer"),
        Column("cost model", keep=8),
        *(Column(key, title, unit, keep=keep) for key, (title, unit, keep) in COLUMNS.items()),
        Column("reason", keep=7, blank=""),
    ]
    print_rows(f"{len(results)} layers", rows, "L1 is per PE", columns)
    for name in dict.fromkeys(name for _, costs in results for name in costs):
        done = [c[name] for _, c in results if name in c and c[name].feasible]
        cycles = engineering(sum(cost.latency_cycles for cost in done), "cycles", 4)
        energy = engineering(sum(cost.energy_nj for cost in done), "nJ", 4)
        say(
            f"{name}: {len(done)} of {len(results)} layers have a cost; one after another "
            f"{cycles}, {energy}"
        )
    for _, costs in results:
        print_infeasible(costs)


COLUMNS = {
    "latency_cycles": ("cycles", "", 9),
    "energy_nj": ("energy", "nJ", 9),
    "macs": ("MACs", "", 3),
    "l1_bytes": ("L1", "B", 5),
    "l2_bytes": ("L2", "B", 5),
    "utilized_pes": ("PEs at work", "", 4),
}
"""Title, unit and `keep` of the figures that a table of layers shows."""


def _figures(cost: Cost) -> dict[str, float | str]:
    if cost.infeasible is not None:
        return {"reason": cost.infeasible.code.name}
    return {name: getattr(cost, name) for name in COLUMNS}


def print_infeasible(costs: Mapping[str, Cost]) -> None:
    """Say on standard error why a mapping has no cost, by cost model."""
    for name, cost in costs.items():
        if not cost.feasible:
            tell(f"{name}: {cost.infeasible}")


def bounds_of(
    model: CostModel, layer: Layer, accelerator: Accelerator, mapping: LoopMapping | None
) -> dict[str, float]:
    """Physical lower bounds by figure, at the PEs that the mapping uses.

    Where the mapping has tensors bypass a level, they are those of mappings that may.
    """
    bypassed = mapping is not None and any(mapping.bypass)
    if mapping is not None and mapping.num_pes is not None:
        accelerator = replace(accelerator, num_pes=mapping.num_pes)
    return figure_bounds(model, layer, accelerator, bypass=bypassed)
