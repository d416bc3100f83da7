"""Table II: how large the space of mappings is, by equation 1."""

from __future__ import annotations

import math

from benchmarks.paper.effort import Effort, Output, Step
from benchmarks.paper.found import Kept
from benchmarks.paper.searches import Search, problem_of
from maestro_env import LAYER_CLASSES, mapping_space_size

PRINTED = {"linear": (4, 13), "attention": (8, 26), "convolution": (13, 39)}
"""Powers of ten that the paper prints, fewest and most."""
TILE_SIZES, PARALLEL, LEVELS = (2, 10), (1, 3), (1, 3)
"""What n, k and l may be; the paper prints none of the three."""


def make(effort: Effort, kept: Kept, output: Output) -> None:
    """Write powers of ten of equation 1, and of the space that is searched here."""
    rows = []
    for name, (fewest, most) in PRINTED.items():
        loops = LAYER_CLASSES[name].loops
        row: dict[str, object] = {"layer": name, "loops": loops}
        row |= {"paper, fewest": fewest, "paper, most": most}
        for levels in LEVELS:
            size = mapping_space_size(loops, TILE_SIZES[1], PARALLEL[1], levels)
            row[f"n = 10, k = 3, l = {levels}"] = math.log10(size)
        smallest = mapping_space_size(loops, TILE_SIZES[0], PARALLEL[0], 1)
        rows.append({**row, "n = 2, k = 1, l = 1": math.log10(smallest)})
    output.table("paper-table2.csv", rows)
    sizes = []
    for layer in effort.layers:
        for space in ("paper", "paper-10"):
            found = problem_of(Search(layer, "latency", "random", space=space)).space
            choosing = int((found.nvec > 1).sum())
            sizes.append(
                {
                    "layer": layer,
                    "space": space,
                    "parameters": len(found.nvec),
                    "with a choice": choosing,
                    "power of ten": math.log10(found.size),
                }
            )
    output.table("paper-spaces.csv", sizes)


STEP = Step("table2", "Table II: size of the mapping space", lambda effort, kept: (), make)
