"""Whole networks beside four of their layers: whether a method stands alike on both.

    mapper compare --layers NETWORK --objectives edp --methods METHOD --budget 5000 --seeds 3
        --format json > RUNS/NETWORK-METHOD.json
    python -m benchmarks networks_table --runs RUNS   # keeps docs/data/networks-layers.csv
    python -m benchmarks networks_table               # makes docs/data/networks.csv from it

What is kept is a row a layer and method: the median over seeds over the proven optimum. The table
has geometric means over all layers of a network and over its four of Table III. `from` and `to` are
the 95 % interval of `marl / method` by a bootstrap of the network's distinct shapes (a shape that
comes again is no further evidence); p is Holm's over the table.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import baselines
import layers
from benchmarks import marl_cases, methods_table
from benchmarks.frame import DATA, asked, known, show
from maestro_env import Problem
from marl_runs import geometric_mean, holm, two_level_ratio

LAYERS, TABLE_FILE = DATA / "networks-layers.csv", DATA / "networks.csv"
FOUR = marl_cases.CASES["table3"]["edge"]


def kept(folder: Path) -> list[dict[str, Any]]:
    """A row a layer and method of all runs in a folder."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for file in sorted(folder.glob("*.json")):
        for run in json.loads(file.read_text()):
            groups.setdefault((run["layer"], run["method"]), []).append(run)
    rows = []
    for (layer, method), runs in groups.items():
        entry = baselines.known_optimum(Problem(layer, "edge", "edp"))
        if entry is None or not entry.proven:
            raise SystemExit(f"{layer}: no proven optimum is known; expected one of `edge`, EDP")
        rows.append(
            {
                "network": layer.rpartition(".")[0],
                "layer": layer,
                "method": method,
                "seeds": len(runs),
                "samples": runs[0]["budget"],
                "value / optimum": float(np.median([run["best"] for run in runs])) / entry.value,
                "CPU s": float(np.mean([run["cpu_s"] for run in runs])),
            }
        )
    return rows


def read() -> dict[str, dict[str, list[dict[str, str]]]]:
    """The rows that are kept, by network and method."""
    found: dict[str, dict[str, list[dict[str, str]]]] = {}
    for row in known(LAYERS):
        found.setdefault(row["network"], {}).setdefault(row["method"], []).append(row)
    return found


def table() -> list[dict[str, Any]]:
    """A row a network and method, the nearest to the optimum first."""
    rows = []
    for network, methods in read().items():
        values = {
            method: {row["layer"]: float(row["value / optimum"]) for row in kept_rows}
            for method, kept_rows in methods.items()
        }
        for method, mine in values.items():
            shapes = distinct_shapes(list(mine))
            over = two_level_ratio(
                [np.array([values["marl"][name]]) for name in shapes],
                [np.array([mine[name]]) for name in shapes],
            )
            rows.append(
                {
                    "network": network,
                    "method": method,
                    "layers": len(mine),
                    "shapes": len(shapes),
                    "seeds": min(int(row["seeds"]) for row in methods[method]),
                    "whole network": geometric_mean(list(mine.values())),
                    "four layers": geometric_mean([mine[name] for name in FOUR if name in mine]),
                    "marl / method": over.value,
                    "from": over.low,
                    "to": over.high,
                    "p": over.p,
                    "CPU s": float(np.mean([float(row["CPU s"]) for row in methods[method]])),
                }
            )
    others = [row for row in rows if row["method"] != "marl"]
    adjusted = dict(zip(map(id, others), holm([row["p"] for row in others]), strict=True))
    for row in rows:
        cpu, _ = row.pop("CPU s"), row.pop("p")
        row |= {"p (Holm)": adjusted.get(id(row), ""), "CPU s": cpu}
    return sorted(rows, key=lambda row: (row["network"], row["whole network"]))


def distinct_shapes(names: list[str]) -> list[str]:
    """The first layer of each shape."""
    found = {replace(layers.parse(name), name=""): name for name in reversed(names)}
    return [name for name in names if name in found.values()]


def main() -> None:
    given = asked(__doc__, runs=(Path, "folder of results: keep them first"))
    if given.runs:
        methods_table.write(kept(given.runs), LAYERS)
    methods_table.write(table(), TABLE_FILE)
    show(table())
