"""``python -m benchmarks published``: published figures of chips beside ours, with causes.

A table a chip, docs/data/published-CHIP.csv. A cause is a factor by which it makes our figure
larger than the published one; what all of them leave over stands in the last column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.frame import DATA, asked, refuse, write
from benchmarks.published import eyeriss, nvdla, simba, tpu
from benchmarks.published.rows import COLUMNS, Row, shown

CHIPS: dict[str, Callable[[], Iterator[Row]]] = {
    "eyeriss": eyeriss.rows,
    "nvdla": nvdla.rows,
    "simba": simba.rows,
    "tpu": tpu.rows,
}


def main() -> None:
    """Write the tables of the chips that are named, of all by default."""
    given = asked(__doc__, chips_=([str], ", ".join(CHIPS)), data=(DATA, "folder of tables"))
    for name in given.chips or CHIPS:
        if name not in CHIPS:
            refuse(f"got {name!r}, expected one of {', '.join(CHIPS)}")
        found = list(CHIPS[name]())
        write(given.data / f"published-{name}.csv", COLUMNS, map(shown, found))
        for row in found:
            print(
                f"{row.chip:12} {row.layer:24} {row.quantity:18} {row.published:10.5g} "
                f"{row.ours:10.5g} {row.ratio:7.3f} {row.left_over:7.3f}",
                flush=True,
            )
