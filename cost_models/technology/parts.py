"""What memories and multipliers cost by size, width and technology node.

The data are the CSV files of this package; every file begins with where its figures come from.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cost_models.buffers import MAC_KINDS, Widths, Wires

REFERENCE_NM = 45.0
"""Node that a chip has where it says none [nm]: that of most of the data."""
NODES_NM = (7.0, 90.0)
"""Smallest and largest node that the data reach [nm]."""
DEFAULT_DRAM = "LPDDR4"
"""Kind of DRAM of a chip that names none."""
FINFET_LEAKAGE = 0.79
"""Leakage below the smallest node of the data, where transistors are FinFETs (Parvais et al., VLSI
Technology 2009), besides what the node does."""
_FAR_BYTES = 2.0**50


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
def table(name: str) -> NDArray[Any]:
    """The rows of a data file by column; lines that begin with # are its source."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return np.genfromtxt(lines, delimiter=",", names=True, dtype=None, encoding="utf-8")


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


@cache
def mac(bits: Widths, node_nm: float = REFERENCE_NM, kind: str = "") -> tuple[float, float]:
    """Energy [pJ] of one multiply-accumulate and area [um^2] of its unit.

    The units of the data are taken apart: the adder grows with its bits (as it does from 8 to 24
    bits at one multiplier), the multiplier with a power of the product of its operands' bits (from
    8 x 8 to 16 x 16). A kind of one row has one price, whatever the bits.

    Args:
        bits: Those of a partial sum, and of both operands.
        node_nm: Technology node [nm].
        kind: Rows of the data, of `MAC_KINDS`; empty is the first.

    Raises:
        TechnologyError: The data do not reach the node.
    """
    energy_scale, area_scale = logic_scale(node_nm)
    rows = table("mac_45nm.csv")
    rows = rows[rows["kind"] == (kind or MAC_KINDS[0])]
    widths = bits.psum, bits.input * bits.filter
    return (
        energy_scale * _fit(rows, "energy_pj", *widths),
        area_scale * _fit(rows, "area_um2", *widths),
    )


def _fit(rows: NDArray[Any], name: str, adder_bits: int, product_bits: int) -> float:
    if len(rows) == 1:
        return float(rows[0][name])
    small = rows[rows["multiplier_bits"] == rows["multiplier_bits"].min()]
    first, last, wide = small[0], small[-1], rows[-1]
    per_bit = (last[name] - first[name]) / (last["adder_bits"] - first["adder_bits"])
    narrow, large = (row[name] - per_bit * row["adder_bits"] for row in (first, wide))
    bits = first["multiplier_bits"]
    power = np.log(large / narrow) / np.log((wide["multiplier_bits"] / bits) ** 2)
    return float(narrow * (product_bits / bits**2) ** power + per_bit * adder_bits)


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


def sram(capacity_bytes: Any, node_nm: float = REFERENCE_NM, kind: str = "") -> Sram:
    """An SRAM of a capacity at a node.

    Log-log between the points of the data. A capacity below the smallest point (64 B) has the
    energy and area a byte of that point; one above the largest (32 MiB) lies on the line of the
    last two. Below 22 nm energy and leakage follow the square root of the node, and area the node
    (as hwcomponents-cacti does, after IRDS 2022).

    Args:
        capacity_bytes: Capacity [B]; a number or an array.
        node_nm: Technology node [nm].
        kind: Transistors, of `SRAM_KINDS`; empty is the first.

    Raises:
        TechnologyError: The data do not reach the node.
    """
    points = "sram_hp.csv" if kind == "HP" else "sram.csv"
    nodes = np.array(sorted(set(table(points)["node_nm"].tolist())))  # unique() loads numpy.ma
    size = np.log(np.maximum(np.asarray(capacity_bytes, dtype=np.float64), 0.125))  # a bit
    inside = max(check_node(node_nm), nodes[0])
    above, below = nodes[nodes >= inside].min(), nodes[nodes <= inside].max()
    share = 0.0 if above == below else np.log(inside / below) / np.log(above / below)
    found = {}
    for name, power in _POWERS.items():
        near, far = (
            np.interp(size, *_points(points, float(node), name)) for node in (below, above)
        )
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
def _points(
    file: str, node_nm: float, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logarithms of capacities and of a column at a node, with a far point on the last line."""
    rows = table(file)
    rows = rows[rows["node_nm"] == node_nm]
    sizes, values = np.log(rows["capacity_bytes"]), np.log(rows[name])
    far = np.log(_FAR_BYTES)
    slope = (values[-1] - values[-2]) / (sizes[-1] - sizes[-2])
    return np.append(sizes, far), np.append(values, values[-1] + slope * (far - sizes[-1]))


def dram_pj(kind: str) -> float:
    """Energy of one byte over the off-chip boundary [pJ]; an empty kind is `DEFAULT_DRAM`."""
    rows = table("dram.csv")
    return float(rows["energy_pj"][rows["kind"] == (kind or DEFAULT_DRAM)][0])


@cache
def wires(node_nm: float = REFERENCE_NM) -> tuple[Wires, float]:
    """Prices of wires and ports at a node.

    A bit on its way charges half of the wires, half of the time: a quarter of the wire's
    capacitance times the square of the nominal voltage, without repeaters. At a unit it is written
    into a register; any unit may take all that a port gives in a cycle, and has as many.

    Args:
        node_nm: Technology node [nm].

    Returns:
        The wires from a level to its units, and the area of a level's ports for a bit a cycle
        [um^2].

    Raises:
        TechnologyError: The data do not reach the node.
    """
    energy_scale, area_scale = logic_scale(node_nm)
    (data,) = np.atleast_1d(table("wires_45nm.csv"))
    lengths, nodes = np.sort(table("wire_capacitance.csv"), order="node_nm"), table("nodes.csv")
    nodes = np.sort(nodes, order="node_nm")
    volts = np.interp(np.log(node_nm), np.log(nodes["node_nm"]), nodes["vdd_v"])
    farads = np.interp(node_nm, lengths["node_nm"], lengths["pf_per_mm"])
    network = Wires(
        pj_per_bit=float(energy_scale * data["register_pj"]),
        pj_per_bit_mm=float(farads * volts**2 / 4),
        um2_per_bit=float(area_scale * data["register_um2"]),
    )
    return network, float(area_scale * data["port_um2"])
