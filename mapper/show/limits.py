"""What limits a mapping: the slowest part of its latency, idle PEs, and how full buffers are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cost_models import Accelerator, Cost, Mapping
from layers import Layer
from marl_runs import shown

PARTS = {
    "compute_cycles": "compute",
    "noc_in_cycles": "the NoC to the PEs",
    "noc_out_cycles": "the NoC from the PEs",
    "dram_in_cycles": "DRAM reads",
    "dram_out_cycles": "DRAM writes",
}
"""Parts of the exact model's latency that run side by side, by name of its counts."""


def latency_parts(cost: Cost) -> dict[str, int]:
    """Cycles of the parts of a latency that run side by side; empty where a model has none."""
    return {PARTS[name]: cycles for name, cycles in cost.counts.items() if name in PARTS}


def slowest_part(cost: Cost) -> str | None:
    """What limits a mapping's latency, one of `PARTS`; None where the model does not say."""
    parts = latency_parts(cost)
    return max(parts, key=lambda part: parts[part]) if parts else None


def limit_line(cost: Cost) -> str | None:
    """What limits a mapping's latency in one sentence; None where the model does not say."""
    slowest = slowest_part(cost)
    if slowest is None:
        return None
    cycles = latency_parts(cost)[slowest]
    return (
        f"limited by {slowest}: {shown(cycles)} of {shown(cost.latency_cycles)} cycles "
        f"({cycles / cost.latency_cycles:.0%})"
    )


def what_limits(
    cost: Cost, layer: Layer, accelerator: Accelerator, mapping: Mapping | None
) -> Iterator[str]:
    """Say in a few lines what stands between a mapping and a better one.

    Args:
        cost: A feasible cost.
        layer: The layer.
        accelerator: The accelerator.
        mapping: The mapping, whose own PE count replaces the accelerator's; None for directives
            that are no two-level mapping.

    Yields:
        Sentences for a person.
    """
    chosen = None if mapping is None else mapping.num_pes
    pes = chosen or accelerator.num_pes
    parts = latency_parts(cost)
    slowest, line = slowest_part(cost), limit_line(cost)
    if line is not None:
        others = ", ".join(f"{k} {shown(v)}" for k, v in parts.items() if k != slowest)
        yield f"{line}; {others}"
    least = replace(accelerator, num_pes=pes).compute_bound(layer.macs)
    yield (
        f"PEs at work: {shown(round(cost.utilized_pes, 1))} of {pes} "
        f"({cost.utilized_pes / pes:.0%}); with all of them busy all the time: "
        f"{shown(least)} cycles"
    )
    sizes = accelerator.totals()
    for name, used, size in (
        ("L1 of a PE", cost.l1_bytes, sizes["l1_bytes"]),
        ("L2", cost.l2_bytes, sizes["l2_bytes"]),
    ):
        room = "unlimited" if size is None else f"{shown(size)} B ({used / size:.0%} full)"
        yield f"{name}: {shown(used)} B of {room}"
