"""The problems on chains that there are bounds for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cost_models.buffers import BYTE
from cost_models.chain.chip import Chain
from cost_models.exact.chain_bounds.facts import ChainFacts
from cost_models.exact.options import ExactOptions
from layers import Layer

CHAIN_BOUNDED = ("latency_cycles", "energy_nj", "energy_total_nj")
"""Figures that have bounds on a chain."""


def chain_facts_of(
    model: Any, layer: Layer, chip: Chain, limits: Mapping[str, float]
) -> ChainFacts | str:
    """What bounds need to know of a problem; why there are none, where a model has none.

    Args:
        model: The cost model.
        layer: The layer.
        chip: The chip.
        limits: Largest figures, of which ``max_bytes.LEVEL`` [B] is known here.
    """
    if not isinstance(model, ExactOptions) or model.name != "exact":
        return f"cost model {model.name!r} has no bounds on a chip that is a list of levels"
    unknown = {
        "halo_space": model.halo_space != "union",
        "padding": model.padding == "free" and any(layer.padding),
        "window": model.window == "box" and not _is_dense(layer),
    }
    for name, differs in unknown.items():
        if differs:
            return (
                f"{name}={getattr(model, name)} has no bounds on a chip that is a list of levels; "
                "leave it out"
            )
    start = "max_bytes."
    most = {
        name.removeprefix(start): BYTE * value
        for name, value in limits.items()
        if name.startswith(start)
    }
    return ChainFacts(
        layer,
        chip,
        model.double_buffer,
        model.halo_time == "retain",
        model.latency == "stepwise",
        most,
        residents=model.residents,
    )


def _is_dense(layer: Layer) -> bool:
    """Whether windows touch all rows and columns between their first and their last."""
    strides = ((layer.stride_y, layer.R), (layer.stride_x, layer.S))
    return layer.dilation_y == layer.dilation_x == 1 and all(s <= max(r, 1) for s, r in strides)
