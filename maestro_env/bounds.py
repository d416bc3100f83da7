"""Physical lower bounds of a cost's figures under the laws that a cost model obeys."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from cost_models import Accelerator, Chain, CostModel, capabilities_of, physical_bounds
from layers import Layer


def figure_bounds(
    model: CostModel,
    layer: Layer,
    accelerator: Accelerator | Chain,
    min_pes: int | None = None,
    bypass: bool = False,
) -> dict[str, float]:
    """Lower bounds of the figures that have one under a cost model.

    Args:
        model: Its capabilities say which laws its figures obey; of a model that says nothing only
            the latency is bounded, by the MACs at the array's peak. Bounds of its
            own, ``lower_bounds(layer, accelerator) -> {figure: bound}``, replace these; one that
            understands ``bypass`` is asked for them with ``bypass=True`` where `bypass` is set.
        layer: The layer.
        accelerator: Unlimited bandwidths bound nothing.
        min_pes: The fewest PEs a mapping may use (co-search); None for the accelerator's.
        bypass: Whether mappings may have tensors bypass a level.

    Returns:
        Bounds by figure, in the figure's unit.
    """
    laws = capabilities_of(model).laws
    own = getattr(model, "lower_bounds", None)
    if own is not None and bypass:
        own = partial(own, bypass=True)
    of_model: dict[str, float] = {} if own is None else own(layer, accelerator)
    if laws is None or isinstance(accelerator, Chain):
        cycles = -(-layer.macs // accelerator.peak_macs_per_cycle)
        return {"latency_cycles": float(cycles), **of_model}
    all_pes = physical_bounds(layer, accelerator, laws)
    fewest = replace(accelerator, num_pes=min_pes or accelerator.num_pes)
    few_pes = physical_bounds(layer, fewest, laws)
    # fewer PEs take longer, and are smaller: each figure's bound is that of its better end
    of_hardware = ("area_um2", "power_mw")
    hardware = of_model if own is None or fewest == accelerator else own(layer, fewest)
    of_model |= {name: hardware[name] for name in of_hardware if name in hardware}
    known = ("latency_cycles",) if bypass else ("latency_cycles", "energy_nj", "energy_total_nj")
    return {
        **{name: all_pes[name] for name in known},
        **{name: few_pes[name] for name in of_hardware},
        **of_model,
    }
