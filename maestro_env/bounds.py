"""Physical lower bounds of a cost's figures under the laws that a cost model obeys."""

from __future__ import annotations

from dataclasses import replace

from cost_models import Accelerator, CostModel
from cost_models.bounds import EXACT_LAWS, MAESTRO_LAWS, Laws, lower_bounds
from layers import Layer

_LAWS = {"exact": EXACT_LAWS, "maestro": MAESTRO_LAWS}


def figure_bounds(
    model: CostModel, layer: Layer, accelerator: Accelerator, min_pes: int | None = None
) -> dict[str, float]:
    """Lower bounds of the figures that have one under a cost model.

    Args:
        model: Its attribute ``laws``, if it has one, says which laws its figures obey; of a model
            that says nothing only the latency is bounded, by the peak and the NoC. Bounds of its
            own, ``lower_bounds(layer, accelerator) -> {figure: bound}``, replace these.
        layer: The layer.
        accelerator: Unlimited bandwidths bound nothing.
        min_pes: The fewest PEs a mapping may use (co-search); None for the accelerator's.

    Returns:
        Bounds by figure, in the figure's unit.
    """
    laws: Laws | None = getattr(model, "laws", None) or _LAWS.get(model.name)
    all_pes = lower_bounds(layer, accelerator, laws or MAESTRO_LAWS)
    bounds = {"latency_cycles": all_pes["latency"]}
    own = getattr(model, "lower_bounds", None)
    of_model: dict[str, float] = {} if own is None else own(layer, accelerator)
    if laws is None:
        return bounds | of_model
    fewest = replace(accelerator, num_pes=min_pes or accelerator.num_pes)
    few_pes = lower_bounds(layer, fewest, laws)
    # fewer PEs take longer, and are smaller: each figure's bound is that of its better end
    hardware = of_model if own is None or fewest == accelerator else own(layer, fewest)
    of_model |= {name: hardware[name] for name in ("area_um2", "power_mw") if name in hardware}
    return bounds | {
        "energy_nj": all_pes["energy"],
        "energy_total_nj": all_pes["energy_total"],
        "area_um2": few_pes["area"],
        "power_mw": few_pes["power"],
        **of_model,
    }
