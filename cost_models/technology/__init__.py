"""What memories and multipliers cost by size, width and technology node: data with their sources.

The data are the CSV files of this package; every file begins with where its figures come from.
"""

from cost_models.technology.logic import mac
from cost_models.technology.memory import dram_pj, sram, sram_reach
from cost_models.technology.nodes import REFERENCE_NM, TechnologyError, logic_scale

__all__ = [
    "REFERENCE_NM",
    "TechnologyError",
    "dram_pj",
    "logic_scale",
    "mac",
    "sram",
    "sram_reach",
]
