"""The points of cost_models/technology/sram.csv and sram_hp.csv, made anew with CACTI.

    python -m benchmarks cacti_points --cacti ~/cacti/cacti --cells hp --out sram_hp.csv
    python -m benchmarks cacti_points --cacti ~/cacti/cacti --nodes 45 22 --sizes 1024 65536

CACTI 7 (HewlettPackard/cacti) is built with `make`; its own folder holds the data it reads, and its
`cache.cfg` whatever this script does not set. The settings are those of hwcomponents-cacti.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.frame import Table

SETTINGS = Path(__file__).with_suffix(".cfg").read_text(encoding="utf-8")
WORD_BYTES = 8
SMALLEST = 512
"""Smallest memory that CACTI is asked for [B]: 64 words; below, energy goes with the power 0.78 of
the capacity, area and leakage in proportion, as hwcomponents-cacti has it."""
POWER = 0.78
NODES = (90, 65, 45, 32, 22)
SIZES = tuple(sorted([*(1 << n for n in range(6, 26)), 108_000]))


def point(program: Path, asked: int, node: int, cells: str) -> tuple[float, float, float, float]:
    """Read and write energy of a byte [pJ], area of a byte [um^2], leakage of the whole [uW].

    Scaled from the smallest memory where the size that is asked for is below it.
    """
    size, share = max(asked, SMALLEST), min(1.0, asked / SMALLEST)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "sram.cfg"
        config.write_text(
            (program.parent / "cache.cfg").read_text(encoding="utf-8")
            + SETTINGS.format(cells=cells)
            + f"-size (bytes) {size}\n-block size (bytes) {WORD_BYTES}\n"
            + f"-output/input bus width {8 * WORD_BYTES}\n-technology (u) {node / 1000}\n",
            encoding="utf-8",
        )
        command = [str(program), "-infile", str(config)]
        subprocess.run(command, cwd=program.parent, capture_output=True, check=True)
        with Path(f"{config}.out").open(encoding="utf-8") as text:
            last = list(csv.DictReader(text))[-1]
            row = {key.strip(): value for key, value in last.items() if key}
    return (
        float(row["Dynamic read energy (nJ)"]) * 1000 / WORD_BYTES * share**POWER,
        float(row["Dynamic write energy (nJ)"]) * 1000 / WORD_BYTES * share**POWER,
        float(row["Area (mm2)"]) * 1e6 / size,
        float(row["Standby leakage per bank(mW)"]) * 1000 * share,
    )


def row_of(given: Any, node: int, size: int) -> tuple[str, ...]:
    """A memory's point."""
    found = point(given.cacti.resolve(), size, node, given.cells)
    return tuple(f"{value:.5g}" for value in found)


TABLE = Table(
    __doc__,
    ("node_nm", "capacity_bytes", "read_pj", "write_pj", "area_um2", "leakage_uw"),
    lambda given: product(given.nodes, given.sizes),
    row_of,
    options={
        "cacti": (Path("cacti"), "the program"),
        "nodes": (list(NODES), "nm"),
        "sizes": (list(SIZES), "bytes"),
        "cells": ("lstp", "transistors", ("lstp", "hp")),
    },
)
