"""Other tools' mappers beside ours: problems stated, answers read; no tool runs here."""

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from benchmarks.export_cases import drawn
from benchmarks.field import timeloop
from benchmarks.field.accelforge import AccelForge, parts
from benchmarks.field.answer import AnswerError, Keep, Loop, ToolError, mapping_of
from benchmarks.field.cases import FieldCase, choices_beyond, expanded, space_of
from benchmarks.field.command import SAID, asked
from benchmarks.field.factorflow import FactorFlow
from benchmarks.field.gamma import Gamma, gamma_row
from benchmarks.field.row import table_text
from benchmarks.field.timeloop import Timeloop
from benchmarks.field.zigzag import ZigZag
from benchmarks.frame import known
from layers import parse
from mapper.export.accelforge_files import (
    ForgeSpatialLoop,
    ForgeStorage,
    ForgeTemporal,
    mapping_nodes,
)
from mapper.export.chip_stores import ChipStores
from mapper.export.loop_nest import LoopNest
from mapper.export.tagged_yaml import ToolNode

GEMM, CONV = "gemm:M=16,N=24,K=12", "conv:K=8,C=4,Y=14,X=14,R=3,S=3"
BERT = FieldCase("bert_base.0", "edge")
UNEVEN = {
    "loops": {
        "O": [[["K", 10], ["OY", 4], ["OY", 4], ["C", 16], ["C", 16]], [], [["K", 11]]],
        "W": [[["K", 10], ["OY", 4], ["OY", 4]], [], [["C", 16], ["C", 16], ["K", 11]]],
        "I": [[["K", 10], ["OY", 4], ["OY", 4], ["C", 16]], [["C", 16], ["K", 11]], []],
    },
    "units": {"D1": [["C", 3], ["K", 7], ["OY", 8]]},
    "energy_pj": 197560288.32,
    "cycles": 600000.0,
    "cpu_s": 11.6,
}
"""What LOMA answered on `BERT`."""
GAMMA = """Network 0 {{ Layer CONV {{ Type: CONV
Dimensions {{ K: 768, C: 768, Y: 128, X: 1, R: 1, S: 1 }}
Dataflow {{
TemporalMap({0},{0}) C; TemporalMap(1,1) R; TemporalMap({1},{1}) K; TemporalMap(1,1) S;
TemporalMap(1,1) X'; SpatialMap({2},{2}) Y'; Cluster({6},P);
TemporalMap({4},{4}) Y'; TemporalMap(1,1) S; TemporalMap(1,1) R; TemporalMap(1,1) X';
SpatialMap({3},{3}) C; TemporalMap({5},{5}) K;
}} }} }}"""
"""GAMMA's mapping of `BERT` by six tiles and a cluster."""


def node(one: ToolNode) -> dict[str, Any]:
    """An exported node as `accelforge_map` prints one."""
    names = {ForgeStorage: "Storage", ForgeTemporal: "Temporal", ForgeSpatialLoop: "Spatial"}
    said = {name: value if name == "tensors" else str(value) for name, value in one}
    return said | {"node": names.get(type(one), "Compute")}


def keeps_all(case: FieldCase, nest: LoopNest) -> bool:
    """Whether every memory keeps what it may."""
    names = (level.name for level in case.chip.inner)
    return all(nest.kept(name) == case.statement.kept(name) for name in names)


def for_accelforge(case: FieldCase, nest: LoopNest) -> Iterable[Keep | Loop]:
    """A mapping as AccelForge answers it, read."""
    return parts(case, [node(part) for part in mapping_nodes(nest, ChipStores(nest))])


def for_timeloop(case: FieldCase, nest: LoopNest) -> Iterable[Keep | Loop]:
    """The same of Timeloop, which writes `K8 C2` where its model reads `K=8 C=2`."""
    return timeloop.parts(case, [flipped(one) for one in timeloop.directives(nest)])


def flipped(one: dict[str, Any]) -> dict[str, Any]:
    return one | {"factors": one["factors"].replace("=", "")} if "factors" in one else one


def on_one_axis(nest: LoopNest) -> bool:
    """Whether a directive, one list of loops, says what a mapping has on its axes."""
    return not any(spread.axis for loops in nest.levels for spread in loops.spreads)


@pytest.mark.parametrize(
    ("written", "chip"),
    [
        *((for_accelforge, chip) for chip in ("edge", "simba", "eyeriss-rs")),
        *((for_timeloop, chip) for chip in ("edge", "eyeriss-rs")),
    ],
)
@pytest.mark.parametrize("layer", [GEMM, CONV])
def test_a_mapping_written_for_a_tool_is_read_back_at_the_same_cost(written, chip, layer):
    case = FieldCase(layer, chip)
    some = islice(drawn(case.layer, case.chip, np.random.default_rng(0)), 300)
    whole = (one for one in some if keeps_all(case, one.nest))
    found = [
        *islice((one for one in whole if written is for_accelforge or on_one_axis(one.nest)), 3)
    ]
    assert len(found) == 3
    levels = [level.name for level in case.chip.inner]
    for one in found:
        read = mapping_of(case.layer, [*written(case, one.nest)], levels)
        assert case.cost(read).energy_nj == pytest.approx(case.cost(one.mapping).energy_nj)


def test_tensors_that_loops_leave_as_they_are_share_an_entry() -> None:
    layer = parse("gemm:M=4,N=4,K=4")
    kept = [Keep("L1", "output"), Loop("C", 4), Keep("L1", "input"), Keep("L1", "filter")]
    assert len(mapping_of(layer, [Loop("K", 4), *kept], ["L1"]).entries) == 1
    moved = [Keep("L1", "output"), Loop("K", 4), Keep("L1", "input"), Keep("L1", "filter")]
    assert len(mapping_of(layer, moved, ["L1"]).entries) == 2


@pytest.mark.parametrize(
    ("said", "parts", "levels"),
    [
        ("a dimension once", [Loop("K", 2), Loop("C", 2), Loop("K", 2), Keep("L1", "input")], "L1"),
        ("keeps nothing", [Keep("L1", "input"), Loop("K", 2, "L2")], "L1"),
        ("keeps tensors in", [Keep("L1", "input")], "L2"),
    ],
)
def test_an_answer_that_is_no_mapping_of_ours_is_told(said, parts, levels):
    with pytest.raises(AnswerError, match=said):
        mapping_of(parse("gemm:M=4,N=4,K=4"), parts, [levels])


def test_an_answer_of_zigzag_with_three_dimensions_on_an_axis_is_in_a_larger_space() -> None:
    answer = ZigZag("loma").read(BERT, UNEVEN)
    mapping = answer.mapping
    assert answer.value == pytest.approx(197560.288)
    assert BERT.ours(mapping) == pytest.approx(answer.value, rel=1e-3)
    assert len(expanded(BERT.chip, mapping).entries) == 6
    assert space_of(BERT, mapping) == "axis_dims=3, uneven"
    assert choices_beyond(mapping) == (
        "L2 keeps input, then filter and output; C and K and Y on axis 0 of L2"
    )


@pytest.mark.parametrize(("units", "space"), [("KY", "axis_dims=3, uneven"), ("Y", "uneven")])
def test_the_least_space_that_has_an_answer_is_told(units: str, space: str) -> None:
    told = {"C": ["C", 3], "K": ["K", 7], "Y": ["OY", 8]}
    outside = [told[dim] for dim in told if dim not in units]
    loops = {t: [*levels[:-1], [*levels[-1], *outside]] for t, levels in UNEVEN["loops"].items()}
    said = UNEVEN | {"units": {"D1": [told[dim] for dim in units]}, "loops": loops}
    assert space_of(BERT, ZigZag("loma").read(BERT, said).mapping) == space


def test_accelforge_and_zigzag_get_the_dimensions_that_an_axis_takes(tmp_path: Path) -> None:
    AccelForge().state(FieldCase(GEMM, "simba"), tmp_path)
    text = (tmp_path / "arch.yaml").read_text().replace("!Memory", "").replace("!Container", "")
    nodes = yaml.safe_load(text.replace("!Compute", ""))["arch"]["nodes"]
    bounds = [
        axis.get("loop_bounds", [{}])[0].get("expression")
        for one in nodes
        for axis in one.get("spatial", ())
    ]
    assert [one for one in bounds if one] == ["c | p", "k | p"]
    shape = yaml.safe_load((tmp_path / "workload.yaml").read_text())["workload"]
    assert [*shape["iteration_space_shape"]] == ["k", "c", "p"]
    ZigZag("salsa").state(FieldCase(GEMM, "simba"), tmp_path)
    [asked_for] = yaml.safe_load((tmp_path / "mapping.yaml").read_text())
    every = ["K", "C", "OY", "OX"]
    assert asked_for["spatial_mapping_hint"] == {"D1": every, "D2": every, "D3": ["K"], "D4": ["C"]}


def test_factorflow_gets_elements_and_products_alone(tmp_path: Path) -> None:
    tool = FactorFlow(tmp_path)
    tool.state(FieldCase(GEMM, "eyeriss-rs", "edp"), tmp_path)
    stated = json.loads((tmp_path / "levels.json").read_text())
    sizes = {one["name"]: one.get("size") for one in stated["levels"]}
    assert sizes["GLB"] == 51200
    assert sizes["Spads_filter"] == 224
    assert stated["product"] == {"M": 24, "K": 12, "N": 16}
    for case, says in ((CONV, "edge"), "single products alone"), ((GEMM, "tpu-v1-ws"), "widths"):
        with pytest.raises(ToolError, match=says):
            tool.state(FieldCase(*case, "edp"), tmp_path)


def test_gamma_gets_inputs_as_maestro_counts_them(tmp_path: Path) -> None:
    tool = Gamma(tmp_path, tmp_path)
    tool.state(FieldCase(CONV, "edge", "latency"), tmp_path)
    said = json.loads((tmp_path / "problem.json").read_text())
    assert said["dimensions"] == [8, 4, 14, 14, 3, 3, 1]
    assert said["chip"]["num_pe"] == 168
    for layer, chip in ((CONV, "simba"), (CONV + ",stride=2", "edge"), ("bert_base.4", "edge")):
        with pytest.raises(ToolError, match=r"two levels|no strides"):
            tool.state(FieldCase(layer, chip), tmp_path)


@pytest.mark.parametrize(
    ("tiles", "cluster", "why"),
    [
        ((110, 104, 27, 1, 24, 4), 56, "MACs 59572224, at least 75497472 MACs needed"),
        ((96, 96, 16, 1, 4, 4), 32, ""),
    ],
)
def test_an_answer_of_gamma_is_judged_by_our_port_with_its_guard(tiles, cluster, why):
    said = {"mapping": GAMMA.format(*tiles, cluster), "energy_nj": 1.0, "cpu_s": 1, "cycles": 9.0}
    case = FieldCase("bert_base.0", "edge", "latency")
    row = gamma_row(case, said)
    assert row["theirs_by_tool"] == 9.0
    assert why in row["why"]
    assert (row["ratio"] == "") == bool(why) == bool(row["why"])


def test_timeloop_gets_axes_and_prices_and_no_unlike_widths(tmp_path: Path) -> None:
    Timeloop(tmp_path).state(FieldCase(CONV, "eyeriss-rs"), tmp_path)
    said = yaml.safe_load((tmp_path / "input.yaml").read_text())
    [units] = [t for t in said["architecture_constraints"]["targets"] if t["type"] == "spatial"]
    assert units == {
        "target": "GLB_filter", "type": "spatial", "factors": "Q=1 S=1", "permutation": "R"
    }  # fmt: skip
    assert [one["name"] for one in said["ERT"]["tables"]][-2:] == ["chip.Spads_output", "chip.mac"]
    with pytest.raises(ToolError, match=r"DRAM is shared by widths \[8, 24\]"):
        Timeloop(tmp_path).state(FieldCase(CONV, "simba"), tmp_path)


def test_the_page_has_the_table_of_its_file() -> None:
    root = Path(__file__).parents[2]
    rows = known(root / "docs" / "data" / "field.csv")
    assert rows
    assert table_text(rows) in (root / "docs" / "field.md").read_text(encoding="utf-8")


def test_an_answer_is_asked_once_and_a_dead_mapper_is_told(tmp_path: Path) -> None:
    tool = FactorFlow(tmp_path / "nothing")
    case = FieldCase(GEMM, "edge", "edp")
    with pytest.raises(ToolError, match="No module named 'arch'"):
        asked(tool, case, "python3", tmp_path, 20)
    (tmp_path / SAID).write_text('{"levels": []}')
    assert asked(tool, case, "no-python", tmp_path, 20) == {"levels": []}
