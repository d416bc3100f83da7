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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import baselines
import layers
from benchmarks.frame import DATA, Row, Summary, grouped, known, rounded, write
from benchmarks.marl_cases import CASES
from maestro_env import Problem
from marl_runs import geometric_mean, holm, two_level_ratio

LAYERS = DATA / "networks-layers.csv"
FOUR = CASES["table3"]["edge"]


def kept(folder: Path) -> Iterator[Row]:
    """A row a layer and method of all runs in a folder."""
    runs = [run for file in sorted(folder.glob("*.json")) for run in json.loads(file.read_text())]
    for (layer, method), alike in grouped(runs, "layer", "method").items():
        entry = baselines.known_optimum(Problem(layer, "edge", "edp"))
        if entry is None or not entry.proven:
            raise SystemExit(f"{layer}: no proven optimum is known; expected one of `edge`, EDP")
        yield {
            "network": layer.rpartition(".")[0],
            "layer": layer,
            "method": method,
            "seeds": len(alike),
            "samples": alike[0]["budget"],
            "value / optimum": float(np.median([run["best"] for run in alike])) / entry.value,
            "CPU s": float(np.mean([run["cpu_s"] for run in alike])),
        }


def table(given: Any) -> list[Row]:
    """A row a network and method, the nearest to the optimum first."""
    if given.runs:
        layer_rows = list(kept(given.runs))
        write(LAYERS, layer_rows[0], map(rounded, layer_rows))
    found = grouped(known(LAYERS), "network", "method")
    over = {
        key: {row["layer"]: float(row["value / optimum"]) for row in own}
        for key, own in found.items()
    }
    rows, ps = [], []
    for (network, method), own in found.items():
        mine, ours = over[network, method], over[network, "marl"]
        shapes = distinct_shapes(list(mine))
        pair = [[np.array([values[name]]) for name in shapes] for values in (ours, mine)]
        ratio = two_level_ratio(pair[0], pair[1])
        rows.append(
            {
                "network": network,
                "method": method,
                "layers": len(mine),
                "shapes": len(shapes),
                "seeds": min(int(row["seeds"]) for row in own),
                "whole network": geometric_mean(list(mine.values())),
                "four layers": geometric_mean([mine[name] for name in FOUR if name in mine]),
                "marl / method": ratio.value,
                "from": ratio.low,
                "to": ratio.high,
                "p (Holm)": "",
                "CPU s": float(np.mean([float(row["CPU s"]) for row in own])),
            }
        )
        ps += [ratio.p] * (method != "marl")
    for row, p in zip((row for row in rows if row["method"] != "marl"), holm(ps), strict=True):
        row["p (Holm)"] = p
    return sorted(rows, key=lambda row: (row["network"], row["whole network"]))


def distinct_shapes(names: list[str]) -> list[str]:
    """The first layer of each shape."""
    return [
        one.name for one, _ in layers.distinct(layers.parse(name).renamed(name) for name in names)
    ]


TABLE = Summary(
    __doc__, table, "networks.csv", {"runs": (Path, "folder of results: keep them first")}
)
