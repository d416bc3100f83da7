"""SRAM by capacity and node, and DRAM by kind."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.technology.data_files import table
from cost_models.technology.nodes import REFERENCE_NM, check_node

DEFAULT_DRAM = "LPDDR4"
"""Kind of DRAM of a chip that names none."""
FINFET_LEAKAGE = 0.79
"""Leakage below the smallest node of the data, where transistors are FinFETs (Parvais et al., VLSI
Technology 2009), besides what the node does."""
_FAR_BYTES = 2.0**50


class Sram(NamedTuple):
    """What an SRAM costs; numbers, or arrays where its capacity is one.

    Args:
        read_pj: Energy of reading one byte [pJ].
        write_pj: Energy of writing one byte [pJ].
        area_um2: Area of the whole [um^2].
        leakage_uw: Leakage of the whole [uW].
    """

    read_pj: Any
    write_pj: Any
    area_um2: Any
    leakage_uw: Any


_POWERS = {"read_pj": 0.5, "write_pj": 0.5, "area_um2": 1.0, "leakage_uw": 0.5}


def sram(capacity_bytes: Any, node_nm: float = REFERENCE_NM) -> Sram:
    """An SRAM of a capacity at a node.

    Log-log between the points of the data. A capacity below the smallest point (64 B) has the
    energy and area a byte of that point; one above the largest (32 MiB) lies on the line of the
    last two. Below 22 nm energy and leakage follow the square root of the node, and area the node
    (as hwcomponents-cacti does, after IRDS 2022).

    Args:
        capacity_bytes: Capacity [B]; a number or an array.
        node_nm: Technology node [nm].

    Raises:
        TechnologyError: The data do not reach the node.
    """
    nodes = np.unique(table("sram.csv")["node_nm"])
    size = np.log(np.asarray(capacity_bytes, dtype=np.float64))
    inside = max(check_node(node_nm), nodes[0])
    above, below = nodes[nodes >= inside].min(), nodes[nodes <= inside].max()
    share = 0.0 if above == below else np.log(inside / below) / np.log(above / below)
    found = {}
    for name, power in _POWERS.items():
        near, far = (np.interp(size, *_points(float(node), name)) for node in (below, above))
        found[name] = np.exp(near + share * (far - near)) * min(1.0, node_nm / nodes[0]) ** power
    if node_nm < nodes[0]:
        found["leakage_uw"] *= FINFET_LEAKAGE
    found["area_um2"] = found["area_um2"] * capacity_bytes
    if np.ndim(capacity_bytes) == 0:
        found = {name: float(value) for name, value in found.items()}
    return Sram(**found)


def sram_reach() -> tuple[float, float]:
    """Smallest and largest capacity of the data on SRAM [B]."""
    sizes = table("sram.csv")["capacity_bytes"]
    return float(sizes.min()), float(sizes.max())


@cache
def _points(node_nm: float, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logarithms of capacities and of a column at a node, with a far point on the last line."""
    rows = table("sram.csv")
    rows = rows[rows["node_nm"] == node_nm]
    sizes, values = np.log(rows["capacity_bytes"]), np.log(rows[name])
    far = np.log(_FAR_BYTES)
    slope = (values[-1] - values[-2]) / (sizes[-1] - sizes[-2])
    return np.append(sizes, far), np.append(values, values[-1] + slope * (far - sizes[-1]))


def dram_pj(kind: str) -> float:
    """Energy of one byte over the off-chip boundary [pJ]; an empty kind is `DEFAULT_DRAM`."""
    rows = table("dram.csv")
    return float(rows["energy_pj"][rows["kind"] == (kind or DEFAULT_DRAM)][0])
