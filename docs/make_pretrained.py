"""Draw the picture of docs/pretrained.md: how agents, prices and local search work together.

Numbers in the picture are those of the code.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mapper.pretrained.decisions import DECISIONS, KINDS
from mapper.pretrained.local_search import CHILDREN, FIRST, PARENTS, PROPOSALS

PICTURE = Path(__file__).with_name("pretrained.svg")
WIDTH, HEIGHT, BOX, TALL = 900, 330, 190, 70
GIVEN, AGENTS, PRICE = "#e8e8e8", "#c6d4ef", "#f4dcc0"

Box = tuple[int, int, str, tuple[str, ...]]
BOXES: dict[str, Box] = {
    "random": (20, 40, GIVEN, ("random problems:", "layer, chip, objective")),
    "best": (245, 40, PRICE, ("local search:", "best mappings found")),
    "training": (470, 40, AGENTS, ("training:", "imitation")),
    "problem": (20, 200, GIVEN, ("problem: a layer and a", "chip never seen")),
    "proposals": (245, 200, AGENTS, (f"proposals: up to {len(DECISIONS)}",
                                     f"decisions of {len(KINDS)} agents",
                                     f"{FIRST}, then {PROPOSALS - FIRST}")),
    "price": (470, 200, PRICE, ("the problem's cost model:", "each evaluation", "is a sample")),
    "search": (695, 200, PRICE, (f"local search: {CHILDREN}", f"children of the {PARENTS} best,",
                                 "crossover and mutation")),
}  # fmt: skip
ARROWS = (
    ("M210,75 H241", "", 0, 0),
    ("M435,75 H466", "", 0, 0),
    ("M565,110 V150 H340 V196", "weights", 450, 145),
    ("M565,40 V22 H340 V36", "from the agents' proposals, again", 452, 16),
    ("M210,235 H241", "", 0, 0),
    ("M435,235 H466", "", 0, 0),
    ("M660,222 H691", "", 0, 0),
    ("M695,250 H664", "", 0, 0),
    ("M790,270 V300 H340 V274", "where a batch brings nothing better", 565, 316),
)


def box(x: int, y: int, fill: str, lines: tuple[str, ...]) -> str:
    """A box with its lines of text."""
    first = y + TALL / 2 + 4 - 8 * (len(lines) - 1)
    text = "".join(
        f'<text x="{x + BOX / 2}" y="{first + 16 * n}" text-anchor="middle">{line}</text>'
        for n, line in enumerate(lines)
    )
    return f'<rect x="{x}" y="{y}" width="{BOX}" height="{TALL}" rx="6" fill="{fill}"/>{text}'


def picture() -> str:
    """The picture as SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#444"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        '<text x="20" y="26" font-weight="bold">once</text>',
        '<text x="20" y="186" font-weight="bold">in a search</text>',
        *(box(*one) for one in BOXES.values()),
    ]
    for path, text, x, y in ARROWS:
        parts.append(f'<path d="{path}" fill="none" stroke="#444" marker-end="url(#tip)"/>')
        parts.append(f'<text x="{x}" y="{y}" text-anchor="middle" font-size="11">{text}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    """Write the picture, or with ``--check`` say whether it is up to date."""
    text = picture()
    if "--check" in sys.argv[1:]:
        return 0 if PICTURE.read_text(encoding="utf-8") == text else 1
    PICTURE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
