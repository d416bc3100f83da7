"""The least prices of a box, and the factors of its objective that no loop order changes."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Final

from common import shared_function
from cost_models.exact.bounds.bound_problem import AREA, L1, L2, POWER, Floats, Ints
from cost_models.exact.bounds.box_capacity import need
from cost_models.exact.bounds.price_tables import LEAKAGE, PE_LEAKAGE, PRICES, PriceTables

SCALE: Final = PRICES  # the area, as often as it is a factor of the objective
BOX_PRICES: Final = PRICES + 1


@shared_function
def fill_prices(
    facts: Floats,
    flags: Ints,
    tables: PriceTables,
    pes: float,
    area: float,
    bypass: int,
    work: Floats,
    prices: Floats,
) -> None:
    """Fill the prices of a box; its smallest tiles decide what the buffers must hold at least.

    Args:
        facts: Numbers of the problem.
        flags: Its whole numbers.
        tables: Prices by what the buffers must hold.
        pes: PEs in use.
        area: Area but for what the buffers must hold [um^2].
        bypass: Row of the tables.
        work: Work table.
        prices: ``(BOX_PRICES,)``.
    """
    for i in range(PRICES):
        prices[i] = tables.fixed[bypass, i]
    prices[SCALE] = 1.0
    for level in range(2):
        if tables.scale[bypass, level] > 0:
            size = max(need(facts, flags, level, work), 1.0)
            place = int(math.log2(size) * tables.scale[bypass, level])
            row = min(place, tables.more.shape[2] - 1)
            for i in range(PRICES):
                prices[i] += tables.more[bypass, level, row, i]
    prices[LEAKAGE] += pes * prices[PE_LEAKAGE]
    if flags[POWER + 2] > 0:
        total = area + facts[AREA + L2] * need(facts, flags, L2, work)
        total += facts[AREA + L1] * pes * need(facts, flags, L1, work)
        for _ in range(flags[POWER + 2]):
            prices[SCALE] *= total
