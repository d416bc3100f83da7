"""Multiply-accumulate units by the widths of their operands."""

from __future__ import annotations

from functools import cache

import numpy as np

from cost_models.technology.data_files import column, table
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
    adders, multipliers = column(rows, "adder_bits"), column(rows, "multiplier_bits")
    values = column(rows, name)
    small = [i for i, bits in enumerate(multipliers) if bits == min(multipliers)]
    first, last = small[0], small[-1]
    per_bit = (values[last] - values[first]) / (adders[last] - adders[first])
    narrow = values[first] - per_bit * adders[first]
    wide = values[-1] - per_bit * adders[-1]
    power = np.log(wide / narrow) / np.log((multipliers[-1] / multipliers[first]) ** 2)
    return float(narrow * (product_bits / multipliers[first] ** 2) ** power + per_bit * adder_bits)
