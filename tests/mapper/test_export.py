"""Mappings as other tools' files: every loop is there once, and what no tool takes is refused."""

from math import prod
from pathlib import Path

import pytest
import yaml

import layers
from benchmarks import zigzag_costs, zigzag_counts
from cost_models import Accelerator, Mapping, chip_prices, load, parse_network
from mapper.cli import main
from mapper.export.accelforge_files import mapping_nodes
from mapper.export.chip_stores import stores_of
from mapper.export.export_files import TOOLS, files_for
from mapper.export.export_source import ExportSource
from mapper.export.loop_factors import ExportError, factors_of
from mapper.export.timeloop_files import mapping as timeloop_mapping
from mapper.export.zigzag_files import ZigZagPort, spatial_loops, temporal_loops

LAYER = layers.parse("conv:K=8,C=4,Y=14,X=14,R=3,S=3")
CHIP = Accelerator(16, 512, 16384, 16, 4)
MAPPING = Mapping(
    ("KCYXRS", "CKYXSR"),
    ("K", "C"),
    ({"K": 2, "C": 4, "Y": 6, "X": 12, "R": 3, "S": 3}, {"K": 1, "C": 1, "Y": 3, "X": 4, "R": 3,
                                                         "S": 1}),
    4,
)  # fmt: skip
EXTENTS = {"K": 8, "C": 4, "Y": 12, "X": 12, "R": 3, "S": 3}


class Loose(yaml.SafeLoader):
    """Takes the tools' tags."""


Loose.add_multi_constructor(
    "!", lambda loader, tag, node: loader.construct_mapping(node, deep=True)
)


def test_loop_bounds_multiply_up_to_the_layer():
    nest = factors_of(LAYER, CHIP, MAPPING)
    assert {dim: bounds.extent for dim, bounds in nest.bounds.items()} == EXTENTS
    assert (nest.bounds["K"].clusters, nest.bounds["C"].pes) == (4, 4)
    assert nest.padded == {}


def test_timeloops_factors_are_the_whole_layer():
    nest = factors_of(LAYER, CHIP, MAPPING)
    found = dict.fromkeys("KCPQRS", 1)
    for directive in timeloop_mapping(nest):
        for factor in directive.factors or []:
            dim, steps = factor.split("=")
            found[dim] *= int(steps)
    assert list(found.values()) == list(EXTENTS.values())


def test_accelforges_tiles_shrink_to_one_element():
    rest = {}
    for node in mapping_nodes(factors_of(LAYER, CHIP, MAPPING)):
        rank = getattr(node, "rank_variable", None)
        if rank is not None:
            assert node.tile_shape < rest.get(rank, 99)
            rest[rank] = node.tile_shape
    assert set(rest.values()) == {1}


def test_zigzags_loops_are_the_whole_layer():
    nest = factors_of(LAYER, CHIP, MAPPING)
    parts = [*temporal_loops(nest).values(), *spatial_loops(nest).values()]
    assert prod(steps for part in parts for _, steps in part) == LAYER.macs
    with pytest.raises(ValueError, match="bandwidth_min"):
        ZigZagPort(name="r_port_1", type="read", bandwidth_min=0, bandwidth_max=8, allocation=[])


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("chip", [CHIP, Accelerator.load("eyeriss")], ids=["short", "eyeriss"])
def test_every_tool_gets_files_that_can_be_read(tool, chip):
    texts = files_for(tool, ExportSource(LAYER, chip, MAPPING), pad=True)
    assert texts == files_for(tool, ExportSource(LAYER, chip, MAPPING), pad=True)
    for name, text in texts.items():
        if name.endswith(".yaml"):
            assert yaml.load(text, Loose)
        elif name == "mapping.m":
            ((layer, _),) = parse_network(text)
            assert layer.macs == LAYER.macs


def test_layers_of_other_kinds():
    for text in (
        "dsconv:C=8,Y=10,X=10,R=3,S=3",
        "gemm:M=16,N=24,K=12,batch=2",
        "conv:K=4,C=6,Y=13,X=13,R=3,S=3,stride=2",
    ):
        layer = layers.parse(text)
        whole = dict.fromkeys("KCYXRS", 1)
        mapping = Mapping(("KCYXRS", "KCYXRS"), ("C", "Y"), (whole, whole), 4)
        for tool in TOOLS:
            if tool != "maestro":
                assert files_for(tool, ExportSource(layer, CHIP, mapping), pad=True)


def test_what_cannot_be_exported():
    source = ExportSource(layers.parse("conv:K=7,C=4,Y=14,X=14,R=3,S=3"), CHIP, MAPPING)
    with pytest.raises(ExportError, match=r"tiles of K cover 8, the layer has 7.*--pad"):
        files_for("zigzag", source)
    assert files_for("zigzag", source, pad=True)
    with pytest.raises(ExportError, match="Did you mean 'timeloop'"):
        files_for("timelop", source)
    with pytest.raises(ExportError, match="more than the chip's 2"):
        factors_of(LAYER, Accelerator(2), MAPPING)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(yaml.safe_dump(MAPPING.to_dict()))
    words = ["export", "--to", "timeloop", "--layer", "conv:K=8,C=4,Y=14,X=14,R=3,S=3"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--mapping", "m.yaml", "--out", "out"])
    assert ended.value.code in (0, None)
    assert {path.name for path in Path("out").iterdir()} == {
        "arch.yaml", "problem.yaml", "mapping.yaml",
    }  # fmt: skip


def test_zigzag_counts_what_the_exact_model_counts():
    rows = zigzag_counts.compare(24, 0)
    assert len(rows) == 24 * 6
    assert all(row["exact"] == row["zigzag"] or row["cause"] for row in rows)


def test_zigzag_gives_the_energy_and_cycles_of_the_exact_model():
    rows = zigzag_costs.compare(60, 0)
    assert len(rows) == 60
    assert all(row["counts_equal"] == row["counts"] for row in rows)
    for row in rows:
        energy, cycles = row["energy_ratio"], row["cycles_ratio"]
        assert abs(energy - 1) <= 0.01 or row["rules_nj"] == pytest.approx(row["zigzag_nj"], 0.02)
        theirs = row["zigzag_cycles"]
        assert abs(cycles - 1) <= 0.10 or row["rules_cycles"] == pytest.approx(theirs, 0.02)
    assert sum(abs(row["energy_ratio"] - 1) <= 0.01 for row in rows) >= 48
    assert sum(abs(row["cycles_ratio"] - 1) <= 0.10 for row in rows) >= 51
    assert sum(zigzag_costs.WAITS in row["cycles_cause"] for row in rows) == 1
    stored = (Path(__file__).parents[2] / "docs/data/zigzag-costs.csv").read_text().splitlines()
    assert len(stored) == 61


def test_a_level_without_a_capacity_costs_what_the_mapping_asks_of_it():
    open_chip = Accelerator(16)
    nest = factors_of(LAYER, open_chip, MAPPING)
    cost = load("exact").evaluate(LAYER, open_chip, MAPPING)
    _, l2, l1 = stores_of(nest)
    prices = chip_prices(open_chip, cost.l2_bytes, cost.l1_bytes)
    assert l2.read_pj == pytest.approx(1000 * prices.levels[1].read[0])
    assert l1.read_pj == pytest.approx(1000 * prices.levels[2].read[0])


def test_tensors_with_memories_of_their_own_have_prices_of_their_own():
    eyeriss = Accelerator.load("eyeriss")
    stores = stores_of(factors_of(LAYER, eyeriss, MAPPING))
    prices = {store.name: store.read_pj for store in stores if store.level == "L1"}
    assert prices["L1_input"] <= prices["L1_output"] < prices["L1_filter"]
