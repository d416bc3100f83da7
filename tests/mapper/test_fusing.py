"""Fused layers: tilings beside their execution, optima beside brute force."""

import itertools
import json
import math
import os
import re
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import cost_models
import layers
import marl_mapper
from cost_models import Accelerator, load_chip, rescaling_cost
from layers.network_graph import operand_sizes
from mapper.fusing.axis_plan import balanced_tiles
from mapper.fusing.fused_execution import differences
from mapper.fusing.fused_group import groups_of
from mapper.fusing.fused_network import FusedProblem
from mapper.staying.stay_proof import StayProof
from mapper.staying.stay_schedule import Groups, schedule
from tests.mapper.commands import json_of, printed, refused
from tests.mapper.small_networks import CHAIN, TILES, deep_setting, random_tiling


def test_tilings_compute_and_hold_what_their_execution_does() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        group, tiling = random_tiling(rng)
        assert not differences(group, tiling), (group, tiling)
        for layer, rows, columns in zip(group.layers, group.rows, group.columns, strict=True):
            planned = [(axis.outputs, axis.stride, axis.reach) for axis in (rows, columns)]
            assert planned == [
                (layer.out_y, layer.stride_y, layer.reach_y),
                (layer.out_x, layer.stride_x, layer.reach_x),
            ]


def test_groups_are_of_layers_that_nobody_else_reads() -> None:
    graph = layers.graph_of("mobilenetv2")
    found = groups_of(graph, load_chip("edge"))
    lengths = {place: [len(group.layers) for group in groups] for place, groups in found.items()}
    assert lengths[0] == [2, 3, 4]  # conv1, depthwise, project, expand of the next block
    assert 5 not in lengths  # block2_project is read by a sum, too
    assert lengths[10] == [2, 3]
    assert not groups_of(layers.graph_of("resnet18"), load_chip("edge")).get(1)
    heads = groups_of(layers.graph_of("bert_base"), load_chip("edge"))
    every = [group for groups in heads.values() for group in groups]
    assert {(len(group.layers), group.nodes) for group in every} == {(2, 3), (2, 2)}
    assert groups_of(graph, load_chip("simba"))
    for chip in ("eyeriss-rs", "eyeriss", "gemmini-16"):  # their level holds filters apart
        assert not groups_of(graph, load_chip(chip))


def test_balanced_tiles_are_the_largest_parts() -> None:
    assert balanced_tiles(7) == [1, 2, 3, 4, 7]


def test_a_group_may_be_cheaper_than_its_nodes() -> None:
    groups = Groups({1: [2]}, lambda place, length, taken: 3.0, lambda place, length: 3.0)
    found = schedule(4, [], math.inf, lambda place, taken: 2.0, lambda place: 2.0, groups)
    assert (found.value, found.bound, found.groups) == (7.0, 7.0, ((1, 2),))
    assert len(found.stays) == 4


def test_a_chain_is_fused_where_its_tensors_do_not_fit(fused_chain: Path) -> None:
    found = json.loads((fused_chain / "out/network.json").read_text(encoding="utf-8"))
    tiles, keep, none = found["tiles"], found["keep"], found["none"]
    assert tiles["energy_nj"] < keep["energy_nj"] <= none["energy_nj"]
    assert tiles["gap"] <= 0.01
    image, filters, result = 2 * 24 * 24, 24 + 108 + 24, 2 * 22 * 22
    assert tiles["dram_bytes"] >= image + filters + result
    assert {node["fused"]["group"] for node in found["nodes"]} == {0}
    for node in found["nodes"]:
        parts = node["fused"]["parts"]
        assert sum(part["count"] for part in parts) <= node["fused"]["tiles"]
        assert all(part["mapping"] for part in parts)
    assert "of group 0" in (fused_chain / "out/report.html").read_text(encoding="utf-8")
    said = (fused_chain / "said.txt").read_text(encoding="utf-8")
    assert "3 layers are fused in 1 group;" in " ".join(said.split())


def test_the_library_answers_alike(fused_chain: Path) -> None:
    small = replace(load_chip("edge"), l2_bytes=2000)
    again = marl_mapper.map_network("net.yaml", small, "energy", fuse="tiles")
    found = json.loads((fused_chain / "out/network.json").read_text(encoding="utf-8"))
    assert again.tiles is not None
    assert again.best.value == found["tiles"]["value"]
    words = "search --network net.yaml --fuse tiles --set l2_bytes=null"
    assert "--fuse tiles: L2 has no capacity" in refused(words)


TURNED = """
sources: {image: [1, 2, 12, 24]}
layers:
  - {name: wide, kind: conv, K: 12, C: 2, Y: 12, X: 24, R: 1, S: 1, inputs: [image]}
  - {name: turned, kind: conv, K: 2, C: 12, Y: 24, X: 12, R: 1, S: 1, inputs: [wide]}
"""
DEEP = """
sources: {image: [1, 2, 4, 4]}
layers:
  - {name: wide, kind: conv, K: 64, C: 2, Y: 4, X: 4, R: 1, S: 1, inputs: [image]}
  - {name: narrow, kind: conv, K: 2, C: 64, Y: 4, X: 4, R: 1, S: 1, inputs: [wide]}
"""
TRANSPOSED = """
sources: {x: [16, 16]}
layers:
  - {name: first, kind: gemm, M: 16, N: 16, K: 16, inputs: [x]}
  - {name: turned, kind: layout, inputs: [first], shape: [16, 16]}
  - {name: second, kind: gemm, M: 16, N: 16, K: 16, inputs: [turned]}
"""
ROOMY = CHAIN.replace("24", "6").replace("22", "4")


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        (DEEP, "--num-pes 4 --l2-bytes 48", r"fused tile needs [\d.]+ B of L2, which has 48 B"),
        (TURNED, "--num-pes 4 --l2-bytes 48",
         "no layers are fused: none alone reads what the one before it writes"),
        (TRANSPOSED, "--l2-bytes 240",
         "no layers are fused: none alone reads what the one before it writes"),
        (ROOMY, "-a eyeriss-rs", "no layers are fused: GLB does not hold what is between them"),
        (ROOMY, "-a nvdla-cacc", "no layers are fused: CBUF does not hold what is between them"),
        (ROOMY, "-a deep.yaml",
         "between them the smallest fused tile needs [0-9]+ B of Glb, which has 8 B"),
    ],
)  # fmt: skip
def test_layers_that_cannot_be_fused_say_why(
    folder: Path, text: str, options: str, says: str
) -> None:
    (folder / "net.yaml").write_text(text, encoding="utf-8")
    chip = deep_setting(8, False).chip.to_dict()
    (folder / "deep.yaml").write_text(yaml.safe_dump(chip), encoding="utf-8")
    out = printed(f"search --network net.yaml -o energy --fuse tiles --workers 1 {options}")
    assert re.search(says, " ".join(out.split())), out


@pytest.mark.parametrize("network", ["resnet18", "mobilenetv2", "vgg16", "bert_base", "gpt2"])
def test_shapes_of_a_group_meet(network: str) -> None:
    graph = layers.graph_of(network)
    groups = groups_of(graph, load_chip("edge"))
    assert groups
    for place, some in groups.items():
        for group in some:
            for before, layer in zip(group.places, group.layers[1:], strict=False):
                (least, most), _ = operand_sizes(layer)
                assert least <= graph.nodes[place + before].elements <= most


def test_ctrl_c_is_gone_on_from(fused_chain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the second proof, and then in the first look at what is fused."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job's may be ignored
    for cls, name, number in ((StayProof, "run", 2), (FusedProblem, "look", 1)):
        plain, calls = getattr(cls, name), itertools.count(1)

        def stopped(*given: Any, plain: Any = plain, calls: Any = calls, at: int = number) -> Any:
            if next(calls) == at:
                os.kill(os.getpid(), signal.SIGINT)
            return plain(*given)

        with monkeypatch.context() as patched:
            patched.setattr(cls, name, stopped)
            assert "stopped; to go on: " in refused(f"{TILES} --json --store part.sqlite", code=1)
    signal.signal(signal.SIGINT, before)
    found = json.loads((fused_chain / "out/network.json").read_text(encoding="utf-8"))
    assert json_of(f"{TILES} --store part.sqlite") == found


@pytest.mark.parametrize("fuse", ["keep", "tiles", "keep -o energy"])
@pytest.mark.usefixtures("fused_chain")
def test_a_network_without_a_mapping_is_no_answer(fuse: str) -> None:
    words = f"search --network net.yaml --workers 1 --l2-bytes 2 --fuse {fuse}"
    assert "a layer has no mapping on this chip" in refused(words, code=1)


def test_sums_over_tiles_of_keys_are_read_and_written() -> None:
    prices = {"read_pj": 1.0, "write_pj": 10.0, "leakage_uw": 0.0}
    chip = Accelerator.from_dict(
        {
            "num_pes": 1,
            "bits": {"input": 8, "filter": 8, "output": 8, "psum": 16},
            "levels": {"L2": {"bytes": 100, "read_bw": 32, "write_bw": 16, **prices},
                       "L1": {"read_pj": 100.0, "write_pj": 0.0, "leakage_uw": 0.0}},
            "mac": {"pj": 0.0},
        }
    )  # fmt: skip
    energy, latency = rescaling_cost(cost_models.load("exact"), chip, 6, 4)
    # scaled with its statistics at two bytes, read again, and written at two bytes for one
    scaled, added = 10 * 2 * (1 + 10), 6 * 2 * 1 + 6 * (2 - 1) * 10
    assert energy == pytest.approx((scaled + added + 6 * 2 * 100) / 1000)
    assert latency == max(16 * 16 / 32, 10 * 16 / 16)
