"""Certificates of fused layers on lists of levels: their bound holds, and no lie passes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from cost_models import load_chip
from layers import NetworkGraph
from mapper.certificate import KeptCertificate, check_kept
from mapper.certificate.deep_floors import DeepPrices
from mapper.certificate.group_floors import GroupFloors
from mapper.certificate.kept_checker import bounds_of, groups_of, placement_of
from mapper.fusing.fused_group import groups_of as all_groups_of
from mapper.fusing.group_costs import GroupTilings
from mapper.fusing.group_terms import GroupTerms
from mapper.staying.shape_facts import ENERGY, LATENCY, SumWeights
from mapper.staying.stay_proof import StaySetting
from tests.mapper.certificates import Lies, assert_refused, changed, edit, in_problem
from tests.mapper.commands import json_of, printed
from tests.mapper.network_brute import NetworkBrute
from tests.mapper.small_networks import deep_setting, long_attention, small_chain
from tests.mapper.test_fused_certificate import LIES as TWO_LEVEL_LIES
from tests.mapper.test_fused_certificate import Small, group, of_fused
from tests.mapper.test_fusing import CHAIN
from tests.mapper.test_fusing_levels import OVER, SPREAD, STEPS
from tests.mapper.test_kept_certificate import (
    TWO_LEVELS,
    assert_kept,
    certificate_of,
    of_all,
)


def deep(small: Small, seed: int, filters: bool) -> tuple[NetworkGraph, StaySetting]:
    """A small network, on a list of levels with as much room for tensors."""
    graph, two = small(seed)
    return graph, deep_setting(two.two_levels.l2_bytes or 0, filters)


@pytest.fixture(scope="module")
def good() -> KeptCertificate:
    """Two layers in tiles, whose filters stay, before one by itself that reads what stays."""
    found = certificate_of(*deep(small_chain, 2, True), "energy", fused=True)[1]
    assert found.stays == ("l1",)
    assert found.groups is not None
    assert [one[:3] for one in found.groups] == [("l0", "l1", (1, 1))]
    assert found.groups[0].filters == ("l0", "l1")
    return found


@pytest.mark.parametrize(
    ("small", "seed", "filters", "aims"),
    [
        (small_chain, 2, True, ("energy", "edp")),
        (long_attention, 6, False, ("latency", "energy", "edp")),
    ],
)
def test_brute_force_is_between_bound_and_value(
    small: Small, seed: int, filters: bool, aims: tuple[str, ...]
) -> None:
    """Bounds are the search's: of sums the optimum, of a product with a gap."""
    graph, setting = deep(small, seed, filters)
    best = NetworkBrute(graph, setting, fused=True).best()
    for aim in aims:
        kept, found = certificate_of(graph, setting, aim, fused=True)
        least = min({"energy": e, "latency": t, "edp": e * t}[aim] for e, t in best)
        assert kept.tiles is not None
        assert found.bound <= least * (1 + 1e-9)
        assert found.bound == pytest.approx(kept.tiles.bound, rel=1e-9)
        assert found.value == pytest.approx(least, rel=1e-9)
        placement = placement_of(found)
        bounds = bounds_of(found, placement, groups_of(found, placement))
        for weights in (ENERGY, LATENCY, SumWeights(1.0, 2.0), SumWeights(1.0, 0.01)):
            assert bounds.sum(weights) <= min(weights.of(*one) for one in best) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("small", "seed", "filters", "free"),
    [
        (small_chain, 2, False, False),
        (small_chain, 1, True, True),
        (long_attention, 2, True, False),
    ],
)
def test_no_tiling_is_below_its_floor(small: Small, seed: int, filters: bool, free: bool) -> None:
    graph, setting = deep(small, seed, filters)
    if free:
        assert any(any(layer.padding) for layer in graph.layers)
        setting = replace(setting, options={**setting.options, "padding": "free"})
    brute = NetworkBrute(graph, setting)
    for one in all_groups_of(graph, setting.chip)[0]:
        terms = GroupTerms(setting.chip, setting.options, one, frozenset(), False)
        assert len(terms.filters) == (2 ** len(one.layers) if filters else 1)
        floors = GroupFloors(terms, all_pes=True)
        energies, latencies = floors.figures
        searched = GroupTilings(setting, one, frozenset(), counted=False).floors
        for number in np.flatnonzero(floors.bits < brute.capacity).tolist():
            energy, latency = brute.least_of(terms, terms.tiling(number))
            assert latencies[number] <= latency
            assert energies[number] <= energy
            assert searched[0][number] <= energy * (1 + 1e-12)
            assert searched[1][number] <= latency * (1 + 1e-12)


def test_cycles_are_those_of_the_best_spread_over_axes() -> None:
    sizes = {
        "input": np.array([[20.0]]),
        "filter": np.array([[6.0]]),
        "output": np.array([[120.0]]),
    }
    outputs = (5,), (4,)
    cycles = DeepPrices(OVER, False).of_parts(SPREAD, outputs, sizes, frozenset())[1]
    assert cycles == -(-STEPS // 3)


SAME = (
    "a lower value", "another objective", "mappings swapped", "parts of fused layers left out",
    "layers' own parts left out", "a part of another layer",
)  # fmt: skip
"""Lies that are told of two levels, too."""
LIES: Lies = {name: TWO_LEVEL_LIES[name] for name in SAME} | {
    "a higher bound": (
        lambda c: replace(c, value=c.value * 1.01, bound=c.bound * 1.01), "value: |bound: "
    ),
    "nothing is fused": (changed(groups=()), "mappings: of |mappings: there are |value: "),
    "nothing may be fused": (changed(groups=None), "shape-.*: the network has no layer of its sh"),
    "a longer group": (group(last="l2"), "stays: 'l1' is inside the group of 'l0'"),
    "another tile": (group(tile=(2, 1)), "mappings: |value: |groups: "),
    "a tile that is not balanced": (group(tile=(1000, 1)), "tile: got 1000 rows, expected one of"),
    "a filter that does not stay": (group(filters=("l0",)), "mappings: |value: "),
    "less stays": (changed(stays=()), "value: |mappings: "),
    "a mapping of two levels": (
        lambda c: replace(c, mappings=(TWO_LEVELS, *c.mappings[1:])), "it is of another chip"
    ),
    "a chip of two levels": (
        of_all(accelerator=load_chip("edge")), "shape-[0-9]+: its limits is not that"
    ),
    "a part's bound raised": (
        of_fused(lambda p: replace(p, bound=p.value * 1.01)), "shape-.*bound: .*above the value"
    ),
    "a part in less room": (of_fused(in_problem(limits={"max_bytes.Glb": 1.0})), "shape-|bound: "),
    "a part's other limit": (
        of_fused(in_problem(limits={"max_bytes.Pe": 8.0})), "shape-.*: its limits is not that"
    ),
    "a part with more in the level": (
        of_fused(in_problem(cost_model_options={"resident": "input+filter+output"})),
        "shape-|bound: ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, good: KeptCertificate) -> None:
    assert_refused(check_kept, LIES[lie], good)


def test_filters_that_the_level_does_not_hold_do_not_stay() -> None:
    found = certificate_of(*deep(long_attention, 6, False), "energy", fused=True)[1]
    assert found.groups is not None
    assert [one.keys for one in found.groups] == [4]
    check_kept(found)
    lie = group(filters=("scores",)), "filters: one is a tensor that stays whole"
    assert_refused(check_kept, lie, found)


def test_files_keep_them_bit_by_bit(good: KeptCertificate, tmp_path: Path) -> None:
    assert assert_kept(good, tmp_path).groups == good.groups


def test_the_command_line_writes_and_checks_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    net = CHAIN.replace("24", "12").replace("22", "10")
    (tmp_path / "net.yaml").write_text(net, encoding="utf-8")
    chip = deep_setting(300, True).chip.to_dict()
    (tmp_path / "deep.yaml").write_text(yaml.safe_dump(chip), encoding="utf-8")
    search = "search --network net.yaml -a deep.yaml --fuse tiles --workers 1 -o energy"
    found = json_of(f"{search} --certificate net.cert")
    checked = json_of("validate --certificate net.cert")
    assert checked["holds"]
    assert checked["value"] == found["tiles"]["value"]
    assert checked["bound"] == pytest.approx(found["tiles"]["bound"], rel=1e-9)
    assert checked["groups"]
    edit(tmp_path / "net.cert", "kept.json", groups=[checked["groups"][0] | {"keys": 5}])
    assert "keys: got 5" in printed("validate --certificate net.cert", code=1)
