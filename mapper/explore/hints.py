"""What an exploration says besides its front: the price of wires, and ranges that end too soon."""

from __future__ import annotations

from collections.abc import Sequence

from cost_models import Accelerator, Chain
from mapper.explore.design_figures import Design
from mapper.explore.design_ranges import Value
from mapper.explore.design_space import FIELDS, value_text

MOST_AT_AN_END = 0.75
"""Share of a front's designs at an end of a range from which on the range is called too short."""


def wires_line(chip: Accelerator | Chain) -> str:
    """What wires cost, by the chip of a design that prices them."""
    fed = next((level for level in chip.levels if any(level.network)), None)
    port = max(level.port_um2_per_bit for level in chip.levels)
    parts = []
    if fed is not None:
        bit, far, area = fed.network
        parts.append(
            f"a bit to a unit {bit:.3g} pJ and {far:.3g} pJ/mm; "
            f"for each bit of width {area:.3g} µm² a unit"
        )
    parts.append(f"{port:.3g} µm² a port")
    return f"wires are priced: {', '.join(parts)} (--wires off: free)"


def end_lines(designs: Sequence[Design], swept: Sequence[Design]) -> list[str]:
    """Which ranges most designs of the front lie at an end of.

    Args:
        designs: The designs of the front, each once.
        swept: All designs.

    Returns:
        Such as ``--noc: 10 of 10 front designs at 128, the largest; widen it``.
    """
    found = []
    for name in designs[0].fields if designs else ():
        values = {design.fields[name] for design in swept}
        numbers = sorted(value for value in values if not isinstance(value, str))
        if len(numbers) < 2:
            continue
        for end, word in ((numbers[-1], "largest"), (numbers[0], "smallest")):
            at = sum(design.fields[name] == end for design in designs)
            if at >= MOST_AT_AN_END * len(designs):
                found.append(_line(name, at, len(designs), end, word))
    return found


def _line(name: str, at: int, designs: int, end: Value, word: str) -> str:
    flag = FIELDS.get(name, f"--sweep {name}")
    return (
        f"{flag}: {at:,} of {designs:,} front designs at {value_text(name, end)}, the {word}; "
        "widen it"
    )
