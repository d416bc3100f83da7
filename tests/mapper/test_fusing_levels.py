"""Fused layers on lists of levels: optima beside brute force, floors, executions, refusals."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import layers
from cost_models import Chain, load_chip
from layers import Layer
from mapper.fusing.fused_group import groups_of
from mapper.fusing.fused_network import FusedProblem
from mapper.fusing.group_costs import GroupTilings
from mapper.fusing.part_floors import least_cycles
from tests.mapper.commands import json_of, printed, said
from tests.mapper.network_brute import NetworkBrute, beside_brute, prove_here
from tests.mapper.small_networks import deep_setting, long_attention, small_chain
from tests.mapper.test_fusing import CHAIN, Small
from tests.mapper.test_network_answer import ATTENTION, FILE, LONG

CASES = [(small_chain, 2, True), (small_chain, 2, False), (long_attention, 6, False)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("small", "seed", "filters"), CASES)
def test_networks_are_as_good_as_by_brute_force(small: Small, seed: int, filters: bool) -> None:
    """Sums and products are what brute force finds; a product's bound by products has a gap."""
    graph, two = small(seed)
    setting = deep_setting(two.two_levels.l2_bytes or 0, filters)
    net = FusedProblem(graph, setting, prove_here)
    best = NetworkBrute(graph, setting, fused=True).best()
    fused = set()
    for found, least in beside_brute(net, best):
        assert found.value == pytest.approx(least, rel=1e-9)
        assert least / 1.2 <= found.bound <= least * (1 + 1e-9)
        fused |= {step.fused.keys for step in found.steps if step.fused}
    assert fused == ({4} if small is long_attention else {0})


@pytest.mark.parametrize("filters", [True, False])
@pytest.mark.parametrize("small", [small_chain, long_attention])
def test_no_tiling_is_below_its_floor(small: Small, filters: bool) -> None:
    graph, two = small(2)
    setting = deep_setting(two.two_levels.l2_bytes or 0, filters)
    brute, home = NetworkBrute(graph, setting), setting.chip.levels[1]
    for group in groups_of(graph, setting.chip)[0]:
        tilings = GroupTilings(setting, group, frozenset(), counted=False)
        assert len(tilings.filters) == (2 ** len(group.layers) if filters else 1)
        energies, latencies = tilings.floors
        for number in np.flatnonzero(tilings.taken < 8 * home.shared_bytes).tolist():
            energy, latency = brute.least_of(tilings, tilings.tiling(number))
            assert energies[number] <= energy * (1 + 1e-12)
            assert latencies[number] <= latency * (1 + 1e-12)


SPREAD = Layer("", "CONV", 6, 1, 5, 4, 1, 1)
OVER = Chain.from_dict({"levels": [
    {"name": "DRAM"},
    {"name": "Glb", "bytes": 64, "fanout": {"axes": [4, 2], "dims": ["KY", "KX"]}},
    {"name": "Pe", "bytes": 8},
    {"lanes": {"units": 3, "any": True}},
]})  # fmt: skip
STEPS = min(1 * 5 * 4, 2 * 5 * 2, 3 * 2 * 4, 6 * 2 * 2)
"""Of `SPREAD` over the axes of `OVER`, along KK, KX, YK or YX."""


def test_cycles_are_those_of_the_best_spread_over_axes() -> None:
    found = least_cycles(SPREAD, np.array([5, 1]), np.array([4]), OVER)
    assert found[0, 0] == pytest.approx(STEPS / 3)
    assert found[1, 0] == pytest.approx(min(1 * 4, 2 * 2, 3 * 4, 6 * 2) / 3)


@pytest.mark.parametrize(
    ("text", "filters", "size", "options", "fused"),
    [
        (CHAIN, True, 1000, "-o energy", 3),
        (CHAIN, False, 1000, "-o energy", 3),
        (ATTENTION, False, 40, "-o energy --passes counted", 2),
        (LONG, False, 12, "-o energy", 2),
        (LONG, True, 12, "-o energy", 2),
    ],
)
def test_an_answer_costs_what_its_execution_says(folder, text, filters, size, options, fused):
    (folder / "net.yaml").write_text(text, encoding="utf-8")
    chip = deep_setting(size, filters).chip.to_dict()
    (folder / "deep.yaml").write_text(yaml.safe_dump(chip), encoding="utf-8")
    search = "search --network net.yaml -a deep.yaml --fuse tiles --workers 1 --out out"
    answer = json_of(f"{search} {options}")
    assert answer["tiles"]["value"] < answer["keep"]["value"]
    assert sum("fused" in node for node in answer["nodes"]) == fused
    assert ("keys" in answer["nodes"][0]["fused"]) == (text is LONG)
    if not filters:
        assert not any(node["fused"]["filter_stays"] for node in answer["nodes"] if "fused" in node)
    for model in ("exact", "simulator"):
        again = json_of(f"evaluate --network {FILE} --cost-model {model}")
        assert {key: again[key] for key in answer["tiles"]} == pytest.approx(answer["tiles"])
        for one, other in zip(again["nodes"], answer["nodes"], strict=True):
            for key in ("latency_cycles", "energy_nj", "dram_bytes"):
                assert one[key] == pytest.approx(other[key], rel=1e-9)
    assert json_of(f"{search} {options}") == answer
    assert "Glb" in (folder / "out/report.html").read_text(encoding="utf-8")
    saved = (folder / FILE).read_text(encoding="utf-8")
    (folder / FILE).write_text(saved.replace(f'"bytes": {size}', '"bytes": 3'), encoding="utf-8")
    code, out, err = said(f"evaluate --network {FILE}")
    assert (code, out) == (2, "")
    assert "B of Glb, which has 3 B" in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("chip", "says"),
    [
        ("eyeriss-rs", "no layers are fused: GLB does not hold what is between them"),
        ("nvdla-cacc", "no layers are fused: CBUF does not hold what is between them"),
        ("deep.yaml", "between them the smallest fused tile needs [0-9]+ B of Glb, which has 8 B"),
    ],
)
def test_levels_in_which_nothing_is_fused_say_why(folder: Path, chip: str, says: str) -> None:
    net = CHAIN.replace("24", "6").replace("22", "4")
    (folder / "net.yaml").write_text(net, encoding="utf-8")
    fields = deep_setting(8, False).chip.to_dict()
    (folder / "deep.yaml").write_text(yaml.safe_dump(fields), encoding="utf-8")
    out = printed(f"search --network net.yaml -a {chip} -o energy --fuse tiles --workers 1")
    assert re.search(says, " ".join(out.split())), out


def test_a_level_that_holds_filters_apart_fuses_nothing() -> None:
    """Nor on two levels: what lies between layers would take the capacity of filters."""
    graph = layers.graph_of("mobilenetv2")
    assert groups_of(graph, load_chip("simba"))
    assert not groups_of(graph, load_chip("eyeriss-rs"))
    assert not groups_of(graph, load_chip("eyeriss"))
    assert not groups_of(graph, load_chip("gemmini-16"))
