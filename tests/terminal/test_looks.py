"""What the tables look like on terminals of 80, 100 and 140 columns.

After a change that is meant: ``pytest tests/terminal --snapshot-update``, and read the difference.
"""

from dataclasses import replace
from typing import Any

import pytest

from cost_models import FIGURES, Accelerator, Cost, Mapping
from maestro_env import Objective, Problem
from mapper.compare.entry import Board, ComparedCase, ComparedRun
from mapper.compare.formats import FORMATS
from mapper.compare.summary import Summary
from mapper.explaining.mapping_changes import changes_between
from mapper.explaining.standing import Standing
from mapper.show.change_table import print_changes
from mapper.show.cost import print_costs
from mapper.show.layer_tables import print_layers, print_networks
from mapper.show.network_table import print_network
from mapper.show.run_tables import print_runs
from mapper.show.speed import speed_lines
from mapper.show.standing_lines import standing_line
from marl_runs import say
from mpe_marl.show import print_comparison, print_profiles, print_training
from tests.terminals import WIDTHS, terminal

ODD = "net[v2].conv[/x]"
"""A name that other tables would read as markup."""


def network() -> None:
    shapes = [
        ("resnet18.conv1", 1, 118_013_952, 790_910.0, 323_301.48, 1.387),
        ("resnet18.layer2.0.conv1_with_a_long_name", 4, 115_605_504, 1_525_030.0, 4_448_484.1, 7.4),
        ("resnet18.fc", 1, 512_000, 32_056.0, 29_124.66, 1.001),
    ]
    names = ("layer", "count", "macs", "latency_cycles", "energy_nj", "x bound")
    rows = [dict(zip(names, shape, strict=True), samples=20_000) for shape in shapes]
    for row in rows:
        row["objective"] = row["latency_cycles"] * row["energy_nj"]
    rows.append({"layer": "resnet18.lost", "count": 2, "samples": 20_000})
    totals = {"layers": 6.0, "macs": 580_947_968.0, "latency_cycles": 6_923_086.0}
    totals |= {"energy_nj": 18_146_362.5, "edp": 1.25628e14, "seconds": 12.345}
    chip = Accelerator.load("nvdla-full")
    print_network("resnet18", rows, totals, Objective.parse("edp"), chip)


def runs() -> None:
    names = ("id", "name", "status", "best", "samples", "cpu_s")
    first = "ga on vgg16.1, edp, exact on edge, seed 0", "finished", "303.6 kJ·cycles", 20_000, 8
    other = "random on net[v2].conv[/x], edp, exact on edge, seed 12345", "failed", "-", 0, None
    rows: list[dict[str, Any]] = [
        dict(zip(names, values, strict=True), budget=20_000, started="2026-05-17T09:30:12+02:00")
        for values in ((1, *first), (128, *other))
    ]
    print_runs(rows)


def layer_rows() -> list[dict[str, Any]]:
    fields = {"K": 64, "C": 3, "Y": 229, "X": 229, "R": 7, "S": 7, "stride": 2, "N": 1, "groups": 1}
    first = {"index": 0, "name": "net.conv1", "kind": "CONV", **fields, "macs": 118_013_952}
    second = {**first, "index": 100, "name": "net.features.denseblock3.layer17.conv2", "K": 1000}
    return [first, second]


def layers() -> None:
    print_layers("net", layer_rows())


def networks() -> None:
    names = ("mlp", "mobilenetv2")
    row = {"layers": 53, "distinct": 31, "macs": 300_774_272, "weights": 3_469_760}
    print_networks([{"network": name, **row} for name in names])


def accelerators() -> None:
    from mapper.commands.accelerators import print_accelerators

    print_accelerators()


def compare() -> None:
    board = Board("exact", "edge", 100)
    names = ["mobilenetv2.block1_project", "vgg16.conv1_2", "resnet18.conv1", "mlp.fc1"]
    cases = [ComparedCase("edp", name) for name in names]
    entries = [
        ComparedRun(
            board, case, method, seed, "finished", samples=100, best=best * (1 + seed / 10),
            bound=4e9,
        )
        for case in cases
        for method, best in (("ga", 5.5e9), ("random", 7.5e12))
        for seed in range(3)
    ]  # fmt: skip
    entries.append(ComparedRun(board, cases[0], "bo", 0, "failed", note="it broke"))
    print(FORMATS["table"]([Summary(board, entries)]))


def cost() -> None:
    values: dict[str, float] = dict.fromkeys(FIGURES, 7.0)
    values |= {"latency_cycles": 1_525_030, "energy_nj": 321_088.14, "area_um2": 31_037_410.2}
    values |= {"power_mw": 666.4, "macs": 115_605_504, "l1_bytes": 380, "l2_bytes": 29_152}
    accesses = {
        tensor: {
            f"{memory}_{way}": 115_605_504.0 + size
            for size, memory in enumerate(("l1", "l2", "dram"))
            for way in ("read", "write")
        }
        for tensor in ("input", "filter", "output")
    }
    bounds = {"latency_cycles": 688_128.0, "energy_nj": 230_075.1}
    print_costs({"exact": Cost(None, **values, accesses=accesses)}, bounds=bounds)


def train() -> None:
    shares = {"act": 12.3, "environment": 40.04, "store": 0.6178, "sample": 3.3195}
    shares |= {"target_q": 4.3557, "q_loss": 12.91, "p_loss": 3.1331, "target_update": 0.0708}
    row = {"status": "finished", "mean reward": -20.7488, "episodes/s": 71.9444}
    row |= {f"{name} %": share for name, share in shares.items()}
    name = "simple_spread/3 maddpg shared-state-folded-1024 seed"
    print_training([{"run": seed + 1, "name": f"{name} {seed}", **row} for seed in range(2)])


def mpe_compare() -> None:
    row = {"algorithm": "maddpg", "sample_ms": 21.345, "cycle_ms": 1234.5, "cycle_times": 1.0}
    row |= {"sample_cut_percent": 0.0, "cycle_cut_percent": -3.21, "sample_times": 175.4321}
    kinds = [(n, name) for n in (3, 12) for name in ("baseline", "folded")]
    print_comparison([{"variant": name, "n_agents": n, **row} for n, name in kinds])


def profile() -> None:
    phases = ("act", "environment", "store", "sample", "target_q", "q_loss", "p_loss")
    row = {"algorithm": "maddpg", "layout": "lists", "law": "uniform", "mode": "loop"}
    speeds = {"bytes": 359_424, "gb_per_s": 0.1259, "memcpy_gb_per_s": 35.85}
    speeds |= {"gflop_per_s": 4.61825, "peak_gflop_per_s": 88.0853}
    counters = {"source": "simulated", "accesses": 22_927, "l1_misses": 21_047}
    print_profiles(
        [
            {**row, **speeds, "n_agents": n, "counters": counters,
             "phase_ms": dict.fromkeys(phases, 1.2345 * n)}
            for n in (3, 48)
        ]
    )  # fmt: skip


def answer() -> None:
    """What a search prints before and after its nest, which is not broken into lines."""
    for line in speed_lines(Accelerator.load("edge"), 39_604.0, 54_160.2, 6_422_528.0):
        say(line)
    problem = Problem("mobilenetv2.2")
    for status, mapping in (("optimal", None), ("timeout", None)):
        standing = Standing(status, 2.145e9, 2.145e9, 2.107e9, mapping, 8_362, 21.87)
        say(standing_line(standing, problem, effort=True))


def changes() -> None:
    layer = Problem("mobilenetv2.2").layer
    whole = dict.fromkeys("KCYXRS", 1)
    one = Mapping(("KCYXRS", "KCYXRS"), ("Y", "K"), ({**whole, "C": 8, "X": 8}, whole), 8)
    other = replace(one, parallel=("X", "K"), orders=("YXKCRS", "KCYXRS"), cluster_size=400)
    found = changes_between(layer, Accelerator.load("edge"), (one, other))
    print_changes(("results/net[v2].conv[/x]", "b.yaml"), found, "edp")


TABLES = [
    network, runs, layers, networks, accelerators, compare, cost, train, mpe_compare, profile,
    answer, changes,
]  # fmt: skip


@pytest.mark.parametrize("columns", [*WIDTHS, 60])
@pytest.mark.parametrize("table", TABLES)
def test_it_looks_as_it_did(table, columns, snapshot):
    with terminal(columns) as out:
        table()
    assert columns not in WIDTHS or out.text == snapshot
    assert "…" not in out.text
    assert max(map(len, out.lines)) <= columns
