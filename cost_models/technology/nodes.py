"""Scaling of logic between technology nodes."""

from __future__ import annotations

from functools import cache

import numpy as np

from cost_models.technology.data_files import column, table

REFERENCE_NM = 45.0
"""Node that a chip has where it says none [nm]: that of most of the data."""
NODES_NM = (7.0, 90.0)
"""Smallest and largest node that the data reach [nm]."""


class TechnologyError(ValueError):
    """A technology that the data do not reach."""


def check_node(node_nm: float) -> float:
    """The node, where the data reach it.

    Raises:
        TechnologyError: They do not.
    """
    low, high = NODES_NM
    if not low <= node_nm <= high:
        raise TechnologyError(
            f"accelerator.node_nm: got {node_nm:g}, expected {low:g} to {high:g}, which the data "
            "on SRAM and logic reach; choose another energy table, or leave it out for 45 nm"
        )
    return node_nm


@cache
def logic_scale(node_nm: float) -> tuple[float, float]:
    """Energy and area of logic at a node, relative to 45 nm; log-log between the nodes known."""
    rows = table("nodes.csv")
    sizes = np.log(column(rows, "node_nm"))
    volts, a, b, c = (np.array(column(rows, name)) for name in ("vdd_v", "a", "b", "c"))
    energy = np.log(a * volts**2 + b * volts + c)
    area = np.log(column(rows, "area"))
    order = np.argsort(sizes)

    def at(values: np.ndarray, size: float) -> float:
        return float(np.interp(size, sizes[order], values[order]))

    here, reference = np.log(check_node(node_nm)), np.log(REFERENCE_NM)
    return (
        float(np.exp(at(energy, here) - at(energy, reference))),
        float(np.exp(at(area, here) - at(area, reference))),
    )
