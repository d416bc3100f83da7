"""Draw the picture of docs/cost-models.md: which input rows move in each step of a tiny mapping.

The rows come from the mapping's semantics, written out here for one dimension; the script fails if
their totals are not the exact model's counts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cost_models
from cost_models import Accelerator, Mapping
from layers import Layer, LayerKind

PICTURE = Path(__file__).with_name("cost-models.svg")
OUTPUTS, TAPS, OUTER_TILE, PES = 6, 3, 4, 2
LAYER = Layer("rows", LayerKind.CONV, K=1, C=1, Y=OUTPUTS + TAPS - 1, X=1, R=TAPS, S=1)
MAPPING = Mapping(("KCYXRS", "KCYXRS"), ("K", "Y"), ({"Y": OUTER_TILE}, {"Y": 1}), PES)
ACCELERATOR = Accelerator(PES, noc_bw=4, offchip_bw=2)

CELL, LEFT, TOP, GAP = 34, 250, 84, 58
FRESH, HELD, SENT, SHARED = "#4878cf", "#c6d4ef", "#e1a04c", "#b3541e"


Step = tuple[int, set[int], set[int], list[set[int]], list[set[int]]]


def steps() -> list[Step]:
    """Per step: outer step, rows in L2, rows L2 held before; rows of each PE, and held before."""
    found = []
    held: set[int] = set()
    before: list[set[int]] = [set() for _ in range(PES)]
    for outer, low in enumerate(range(0, OUTPUTS, OUTER_TILE)):
        high = min(low + OUTER_TILE, OUTPUTS)
        tile = set(range(low, high + TAPS - 1))
        for start in range(low, high, PES):
            pes = [set(range(p, p + TAPS)) for p in range(start, min(start + PES, high))]
            found.append((outer, tile, held, pes, before))
            held, before = tile, pes
    return found


def sent(step: Step) -> list[set[int]]:
    """The rows that each PE lacks."""
    return [rows - held for rows, held in zip(step[3], step[4], strict=True)]


def check(walk: list[Step]) -> cost_models.Cost:
    """The cost, after comparing its counts with the picture's."""
    cost = cost_models.load("exact").evaluate(LAYER, ACCELERATOR, MAPPING)
    drawn = {
        "dram_in": sum(len(tile - held) for _, tile, held, *_ in walk),
        "l2r_in": sum(len(set().union(*sent(step))) for step in walk),
        "l1w_in": sum(len(rows) for step in walk for rows in sent(step)),
        "steps": len(walk),
    }
    assert drawn == {name: cost.counts[name] for name in drawn}, (drawn, cost.counts)
    return cost


def cell(x: float, y: float, fill: str, text: str, ink: str = "white") -> str:
    """One input row as a box with its number."""
    return (
        f'<rect x="{x}" y="{y}" width="{CELL - 4}" height="22" rx="3" fill="{fill}"/>'
        f'<text x="{x + CELL / 2 - 2}" y="{y + 15}" fill="{ink}" text-anchor="middle">{text}</text>'
    )


def picture() -> str:
    """The picture as SVG."""
    walk = steps()
    counts = check(walk).counts
    width, height = LEFT + LAYER.Y * CELL + 30, TOP + len(walk) * 2 * GAP + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="16" y="24">{OUTPUTS} output rows, {TAPS} filter rows, {LAYER.Y} '
        f"input rows; L2 tile Y={OUTER_TILE}, Y on {PES} PEs, one row each</text>",
    ]
    legend = ((FRESH, "fetched from DRAM"), (HELD, "held already"), (SENT, "sent to one PE"),
              (SHARED, "sent once, to both PEs"))  # fmt: skip
    for number, (fill, text) in enumerate(legend):
        x = 16 + number * 128
        parts.append(f'<rect x="{x}" y="38" width="12" height="12" fill="{fill}"/>')
        parts.append(f'<text x="{x + 18}" y="49">{text}</text>')
    before: set[int] | None = None
    for number, step in enumerate(walk):
        outer, tile, held, pes, held_by_pes = step
        y = TOP + number * 2 * GAP
        new = tile - held if before is not tile else set()
        union = set().union(*sent(step))
        kept = set().union(*pes) & set().union(*held_by_pes) - union
        fetched = f"{len(new)} from DRAM" if before is not tile else "L2 stays"
        parts.append(f'<text x="16" y="{y + 15}">outer step {outer}: {fetched}</text>')
        names = ", ".join(f"PE {i} output row {min(rows)}" for i, rows in enumerate(pes))
        parts.append(f'<text x="16" y="{y + GAP - 15}">{names}</text>')
        parts.append(
            f'<text x="16" y="{y + GAP + 1}">{len(union)} from L2, '
            f"{sum(map(len, sent(step)))} into L1</text>"
        )
        for row in sorted(tile):
            fresh = row in new
            ink = "white" if fresh else "#333"
            parts.append(cell(LEFT + row * CELL, y, FRESH if fresh else HELD, str(row), ink))
        for row in sorted(kept):
            parts.append(cell(LEFT + row * CELL, y + GAP - 30, HELD, str(row), "#333"))
        for row in sorted(union):
            owners = sum(row in rows for rows in sent(step))
            fill = SHARED if owners > 1 else SENT
            parts.append(cell(LEFT + row * CELL, y + GAP - 30, fill, str(row)))
        before = tile
    totals = (
        f"In all: {counts['dram_in']} input elements from DRAM, {counts['l2r_in']} from L2, "
        f"{counts['l1w_in']} into L1;",
        f"{counts['macs']} MACs in {counts['compute_cycles']} compute cycles, "
        f"latency {counts['latency']} cycles.",
    )
    for number, text in enumerate(totals):
        parts.append(f'<text x="16" y="{height - 32 + 16 * number}">{text}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def main() -> int:
    """Write the picture, or with ``--check`` say whether it is up to date."""
    text = picture()
    if "--check" in sys.argv[1:]:
        return 0 if PICTURE.read_text(encoding="utf-8") == text else 1
    PICTURE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
