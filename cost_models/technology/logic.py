"""Multiply-accumulate units by the widths of their operands."""

from __future__ import annotations

from functools import cache

import numpy as np

from cost_models.technology.data_files import table
from cost_models.technology.nodes import REFERENCE_NM, logic_scale


@cache
def mac(
    adder_bits: int, first_bits: int, second_bits: int, node_nm: float = REFERENCE_NM
) -> tuple[float, float]:
    """Energy [pJ] of one multiply-accumulate and area [um^2] of its unit.

    The units of the data are taken apart: the adder grows with its bits (as it does from 8 to 24
    bits at one multiplier), the multiplier with a power of the product of its operands' bits (from
    8 x 8 to 16 x 16).

    Args:
        adder_bits: Bits of a partial sum.
        first_bits: Bits of one operand.
        second_bits: Bits of the other one.
        node_nm: Technology node [nm].

    Raises:
        TechnologyError: The data do not reach the node.
    """
    energy_scale, area_scale = logic_scale(node_nm)
    widths = adder_bits, first_bits * second_bits
    return energy_scale * _fit("energy_pj", *widths), area_scale * _fit("area_um2", *widths)


def _fit(name: str, adder_bits: int, product_bits: int) -> float:
    rows = table("mac_45nm.csv")
    small = rows[rows["multiplier_bits"] == rows["multiplier_bits"].min()]
    first, last, wide = small[0], small[-1], rows[-1]
    per_bit = (last[name] - first[name]) / (last["adder_bits"] - first["adder_bits"])
    narrow, large = (row[name] - per_bit * row["adder_bits"] for row in (first, wide))
    bits = first["multiplier_bits"]
    power = np.log(large / narrow) / np.log((wide["multiplier_bits"] / bits) ** 2)
    return float(narrow * (product_bits / bits**2) ** power + per_bit * adder_bits)
