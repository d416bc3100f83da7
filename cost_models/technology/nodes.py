"""Scaling of logic between technology nodes."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from cost_models.technology.data_files import table

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
    rows = np.sort(table("nodes.csv"), order="node_nm")
    volts = rows["vdd_v"]
    energy = rows["a"] * volts**2 + rows["b"] * volts + rows["c"]

    def at(size: float) -> NDArray[np.float64]:
        sizes, logs = np.log(rows["node_nm"]), np.log([energy, rows["area"]])
        return np.array([np.interp(np.log(size), sizes, values) for values in logs])

    scale = np.exp(at(check_node(node_nm)) - at(REFERENCE_NM))
    return float(scale[0]), float(scale[1])
