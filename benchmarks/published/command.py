"""``python -m benchmarks published``: published figures of chips beside ours, with causes.

A table a chip, docs/data/published-CHIP.csv. A cause is a factor by which it makes our figure
larger than the published one; what all of them leave over stands in the last column.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.published import eyeriss, nvdla, simba, tpu
from benchmarks.published.rows import Row, save

CHIPS: dict[str, Callable[[], Iterator[Row]]] = {
    "eyeriss": eyeriss.rows,
    "nvdla": nvdla.rows,
    "simba": simba.rows,
    "tpu": tpu.rows,
}


def main(words: list[str]) -> None:
    """Write the tables of the chips that are named, of all by default."""
    parser = argparse.ArgumentParser("python -m benchmarks published", description=__doc__)
    parser.add_argument("chips", nargs="*", metavar="CHIP", help=", ".join(CHIPS))
    parser.add_argument("--data", type=Path, default=Path("docs/data"), help="folder of tables")
    args = parser.parse_args(words)
    for name in args.chips or CHIPS:
        if name not in CHIPS:
            parser.error(f"got {name!r}, expected one of {', '.join(CHIPS)}")
        found = list(CHIPS[name]())
        save(args.data / f"published-{name}.csv", found)
        for row in found:
            print(
                f"{row.chip:12} {row.layer:24} {row.quantity:18} {row.published:10.5g} "
                f"{row.ours:10.5g} {row.ratio:7.3f} {row.left_over:7.3f}",
                flush=True,
            )
