"""Mappings as other tools' files: every loop is there once, and what no tool takes is refused."""

import hashlib
from collections import Counter
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
import yaml

import layers
from benchmarks import export_cases, export_costs, export_counts
from benchmarks.export_rules import INSIDE, ONCE
from benchmarks.frame import known
from cost_models import (
    Accelerator,
    Chain,
    ChainMapping,
    Entry,
    Mapping,
    Spread,
    chip_prices,
    load,
    parse_network,
    with_fields,
)
from layers import TENSORS
from mapper.export.accelforge_files import arch_nodes, mapping_nodes
from mapper.export.chip_stores import ChipStores
from mapper.export.export_files import PROGRAMS, TOOLS, files_for
from mapper.export.export_source import ExportSource
from mapper.export.loop_nest import loop_nest
from mapper.export.timeloop_files import mapping as timeloop_mapping
from mapper.export.zigzag_files import spatial_loops, temporal_loops

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


DATA = Path(__file__).parents[2] / "docs" / "data"


class Loose(yaml.SafeLoader):
    """Takes the tools' tags."""


Loose.add_multi_constructor(
    "!", lambda loader, tag, node: loader.construct_mapping(node, deep=True)
)


def timeloop_factors(nest):
    """Factors of all directives, multiplied by dimension."""
    found = dict.fromkeys("KCPQRS", 1)
    for directive in timeloop_mapping(nest, ChipStores(nest)):
        for factor in directive.factors or []:
            dim, steps = factor.split("=")
            found[dim] *= int(steps)
    return list(found.values())


def accelforge_tiles(nest):
    """The last tile of each rank; every loop makes it smaller."""
    rest = {}
    for node in mapping_nodes(nest, ChipStores(nest)):
        rank = getattr(node, "rank_variable", None)
        if rank is not None:
            assert node.tile_shape < rest.get(rank, 99)
            rest[rank] = node.tile_shape
    return set(rest.values())


def zigzag_macs(nest):
    """What the loops of a nest multiply up to."""
    parts = [*temporal_loops(nest), *spatial_loops(nest).values()]
    return prod(steps for part in parts for _, steps in part)


def test_every_tools_loops_are_the_whole_layer():
    cases = [loop_nest(LAYER, CHIP, MAPPING), *(case.nest for case in export_cases.cases(15, 1))]
    for nest in cases:
        assert timeloop_factors(nest) == [nest.extents.get(dim, 1) for dim in "KCYXRS"]
        assert accelforge_tiles(nest) == {1}
        assert zigzag_macs(nest) == nest.layer.macs


# sha256 of all files of MAPPING on CHIP and on archgym, as version 0.2.0 wrote them
KEPT = {"zigzag": "c8e219affeacd383", "timeloop": "0701410c35f60a58"}


@pytest.mark.parametrize("tool", KEPT)
def test_files_of_two_levels_are_what_they_were(tool):
    texts = [
        text
        for chip in (CHIP, Accelerator.load("archgym"))
        for text in files_for(tool, ExportSource(LAYER, chip, MAPPING)).values()
    ]
    assert hashlib.sha256("".join(texts).encode()).hexdigest()[:16] == KEPT[tool]


GENERAL = [tool for tool in TOOLS if tool not in ("gemmini", *PROGRAMS)]
"""Tools that take any layer."""
EYERISS = Accelerator.load("eyeriss")
ROWS = replace(MAPPING, tiles=(MAPPING.tiles[0], {**MAPPING.tiles[1], "Y": 1}))
"""A mapping that fits eyeriss."""


@pytest.mark.parametrize("tool", [tool for tool in GENERAL if tool != "maestro"])
def test_a_mapping_that_fits_where_no_tile_is_held_twice_is_taken(tool):
    once = Accelerator(16, 512, 2000, 16, 4)
    assert load("exact").evaluate(LAYER, once, MAPPING).infeasible is not None
    assert files_for(tool, ExportSource(LAYER, once, MAPPING))
    for kind in ("HBM2", "DDR3") if tool == "timeloop" else ():
        source = ExportSource(LAYER, with_fields(CHIP, [f"levels.DRAM.kind={kind}"]), MAPPING)
        assert f"type: {kind}" in files_for(tool, source)["arch.yaml"]


ONE = dict.fromkeys("KCYXRSN", 1)
SOURCES = [
    ExportSource(LAYER, CHIP, MAPPING),
    ExportSource(LAYER, EYERISS, ROWS),
    *(
        ExportSource(layers.parse(text), CHIP, Mapping(MAPPING.orders, ("C", "Y"), (ONE, ONE), 4))
        for text in (
            "dsconv:C=8,Y=10,X=10,R=3,S=3",
            "gemm:M=16,N=24,K=12,batch=2",
            "conv:K=4,C=6,Y=13,X=13,R=3,S=3,stride=2",
        )
    ),
]


@pytest.mark.parametrize("tool", GENERAL)
@pytest.mark.parametrize("source", SOURCES)
def test_every_tool_gets_files_that_can_be_read(source, tool):
    texts = files_for(tool, source, pad=True)
    assert texts == files_for(tool, source, pad=True)
    for name, text in texts.items():
        if name.endswith(".yaml"):
            assert yaml.load(text, Loose)
        elif name == "mapping.m":
            assert sum(layer.macs for layer, _ in parse_network(text)) == source.layer.macs


def test_zigzag_counts_three_levels_as_the_exact_model_or_by_named_rules():
    rows = list(export_counts.compare(list(export_cases.cases(30, 0))))
    assert len(rows) > 400
    assert all(row["by_rule"] for row in rows)
    causes = Counter(row["cause"] for row in rows)
    assert set(causes) == {"", INSIDE, ONCE}
    assert causes[""] > 0.95 * len(rows)


def test_zigzag_gives_the_energy_and_cycles_of_the_exact_model():
    rows = export_costs.compare(list(export_cases.exports(20, 0, 2)))
    assert len(rows) == 20
    assert all(export_costs.reproduced(row) for row in rows)
    assert sum(abs(row["energy_ratio"] - 1) <= 0.01 for row in rows) >= 16
    assert sum(abs(row["cycles_ratio"] - 1) <= 0.10 for row in rows) >= 17


@pytest.mark.parametrize(("name", "waits"), [("export-costs", 0), ("export-costs-two", 1)])
def test_the_tables_of_costs_have_both_tools_and_nothing_unexplained(name, waits):
    rows = [
        {key: float(text) if text[:1].isdigit() else text for key, text in row.items()}
        for row in known(DATA / f"{name}.csv")
    ]
    assert Counter(row["tool"] for row in rows) == {"zigzag": 60, "accelforge": 60}
    assert all(export_costs.reproduced(row) for row in rows)
    assert sum(export_costs.WAITS in row["cycles_cause"] for row in rows) == waits


def test_the_table_of_counts_has_three_hundred_mappings_and_nothing_unexplained():
    rows = known(DATA / "export-counts.csv")
    for tool in ("zigzag", "accelforge"):
        dram = [row for row in rows if row["tool"] == tool and row["memory"] == "DRAM"]
        assert sum(int(row["mappings"]) for row in dram) == 300 * len(TENSORS) * 2
    assert all(row["mappings"] == row["given_by_rules"] for row in rows)
    assert all((row["mappings"] == row["equal"]) == (not row["causes"]) for row in rows)


def test_prices_are_of_a_bit_of_what_a_mapping_asks_of_a_level_and_of_a_tensors_own_memory():
    nest = loop_nest(LAYER, CHIP, MAPPING)
    l2 = {node.name: node for node in arch_nodes(nest, ChipStores(nest))}["L2"]
    store = ChipStores(nest).at("L2")[0]
    assert l2.actions[0].energy == pytest.approx(1e-12 * store.read_pj / 8)
    assert l2.actions[0].throughput == 1e9 * store.read_bits
    open_chip = Accelerator(16)
    cost = load("exact").evaluate(LAYER, open_chip, MAPPING)
    prices = chip_prices(open_chip, cost.l2_bytes, cost.l1_bytes)
    _, *inner = ChipStores(loop_nest(LAYER, open_chip, MAPPING)).all
    for level, one in zip(prices.levels[1:], inner, strict=True):
        assert one.read_pj == pytest.approx(1000 * level.read[0])
    stores = ChipStores(loop_nest(LAYER, EYERISS, MAPPING)).all
    own = {one.name: one.read_pj for one in stores if one.level == "L1"}
    assert own["L1_input"] <= own["L1_output"] < own["L1_filter"]


DEEP = Chain.load(Path(__file__).parents[2] / "docs/examples/three_levels.yaml")
DEEP_MAPPING = ChainMapping(
    (
        Entry("GlobalBuffer", {"Y": 6, "X": 6}, parallel=(Spread("K", 4), Spread("C", 4, 1))),
        Entry("Weights", {"Y": 6, "X": 6}, parallel=(Spread("K", 2),)),
        Entry("Lanes", {"K": 1, "C": 1, "Y": 1, "X": 1, "R": 1, "S": 1}),
    )
)


def test_bypass_and_two_dimensions_side_by_side_are_exported():
    mapping = Mapping(
        MAPPING.orders,
        ("K", "C"),
        ({"K": 4, "C": 2, "Y": 6, "X": 12}, {"K": 1, "C": 1, "Y": 3, "X": 4, "R": 3, "S": 1}),
        4,
        parallel2=("C", None),
        units=(2, None),
        bypass=(frozenset({"filter"}), frozenset()),
    )
    nest = loop_nest(LAYER, CHIP, mapping, pad=True)
    assert nest.levels[1].spreads == (Spread("K", 2), Spread("C", 2))
    assert nest.kept("L2") == ("input", "output")
    assert accelforge_tiles(nest) == {1}
    assert all(
        files_for(tool, ExportSource(LAYER, CHIP, mapping), pad=True)
        for tool in ("zigzag", "timeloop", "accelforge")
    )


def test_units_that_share_nothing():
    entry = DEEP_MAPPING.entries[0]
    alone = replace(entry, parallel=(Spread("C", 4, 0), Spread("K", 4, 1)))
    mapping = ChainMapping((alone, *DEEP_MAPPING.entries[1:]))
    nest = loop_nest(LAYER, DEEP, mapping)
    nodes = {node.name: node for node in arch_nodes(nest, ChipStores(nest))}
    axes = nodes["GlobalBuffer_units"].spatial
    assert [axis.may_reuse for axis in axes] == ["~(O)", None]


def test_a_memory_that_stands_twice():
    first, *others = DEEP_MAPPING.entries
    kept = Entry("GlobalBuffer", {}, keeps=frozenset({"input"}))
    twice = ChainMapping((kept, replace(first, keeps=frozenset({"output"})), *others))
    nodes = mapping_nodes(nest := loop_nest(LAYER, DEEP, twice), ChipStores(nest))
    stays = [node.tensors for node in nodes if getattr(node, "component", "") == "GlobalBuffer"]
    assert stays == [["I"], ["O"]]
