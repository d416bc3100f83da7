"""Certificates of fused layers: their bound holds, and no lie passes."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layers import NetworkGraph
from mapper.certificate import Certificate, KeptCertificate, check_kept
from mapper.certificate.group_floors import GroupFloors
from mapper.certificate.kept_checker import bounds_of, groups_of, placement_of
from mapper.fusing.fused_group import groups_of as all_groups_of
from mapper.fusing.group_costs import GroupTilings
from mapper.fusing.group_terms import GroupTerms
from mapper.staying.shape_facts import ENERGY, LATENCY, SumWeights
from mapper.staying.stay_proof import StaySetting
from tests.mapper.certificates import EDGE, Lies, assert_refused, changed, edit, in_problem
from tests.mapper.commands import json_of, printed, said
from tests.mapper.network_brute import NetworkBrute
from tests.mapper.small_networks import long_attention, random_tiling, small_attention, small_chain
from tests.mapper.test_fusing import CHAIN, TILES
from tests.mapper.test_kept_certificate import (
    assert_kept,
    certificate_of,
    chip_of_all,
    part,
)

Small = Callable[[int], tuple[NetworkGraph, StaySetting]]
Change = Callable[[KeptCertificate], KeptCertificate]


@pytest.fixture(scope="module")
def kept_halo() -> KeptCertificate:
    """Two layers in tiles of two rows, whose halos and filters are kept, and one by itself."""
    found = certificate_of(*small_chain(9), "energy", fused=True)[1]
    assert found.groups is not None
    assert found.groups[0][:4] == ("l0", "l1", (2, 1), ("kept", "again"))
    return found


@pytest.fixture(scope="module")
def beside() -> KeptCertificate:
    """A group whose output stays."""
    found = certificate_of(*small_chain(2), "energy", fused=True)[1]
    assert found.stays == ("l1",)
    assert found.groups
    return found


@pytest.fixture(scope="module")
def keys() -> KeptCertificate:
    """Scores, softmax and context in tiles of two keys; passes are counted."""
    found = certificate_of(*long_attention(1), "energy", counted=True, fused=True)[1]
    assert found.groups is not None
    assert [one.keys for one in found.groups] == [2]
    return found


@pytest.mark.parametrize(
    ("small", "seed"), [(small_chain, 2), (small_attention, 15), (long_attention, 1)]
)
def test_its_bound_is_the_optimum_of_all_choices_and_mappings(small: Small, seed: int) -> None:
    graph, setting = small(seed)
    best = NetworkBrute(graph, setting, fused=True).best()
    for objective, of in (
        ("latency", lambda energy, latency: latency),
        ("energy", lambda energy, latency: energy),
        ("edp", lambda energy, latency: energy * latency),
    ):
        found = certificate_of(graph, setting, objective, fused=True)[1]
        least = min(of(*one) for one in best)
        assert found.value == pytest.approx(least, rel=1e-9)
        assert least * (1 - 1e-8) <= found.bound <= least * (1 + 1e-9)
        placement = placement_of(found)
        bounds = bounds_of(found, placement, groups_of(found, placement))
        for weights in (ENERGY, LATENCY, SumWeights(1.0, 2.0), SumWeights(1.0, 0.01)):
            assert bounds.sum(weights) <= min(weights.of(*one) for one in best) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("small", "seed", "free"),
    [(small_chain, 1, False), (small_chain, 1, True), (small_attention, 11, False),
     (long_attention, 6, False)],
)  # fmt: skip
def test_no_tiling_is_below_its_floor(small: Small, seed: int, free: bool) -> None:
    graph, setting = small(seed)
    if free:
        assert any(any(layer.padding) for layer in graph.layers)
        setting = replace(setting, options={**setting.options, "padding": "free"})
    brute = NetworkBrute(graph, setting)
    for group in all_groups_of(graph, setting.two_levels)[0]:
        terms = GroupTerms(setting.two_levels, setting.options, group, frozenset(), False)
        floors = GroupFloors(terms, all_pes=True)
        energies, latencies = np.maximum(
            floors.figures, GroupTilings(setting, group, frozenset(), False).floors
        )
        for number in np.flatnonzero(floors.bits < math.inf).tolist():
            energy, latency = brute.least_of(terms, terms.tiling(number))
            assert latencies[number] <= latency * (1 + 1e-12)
            assert energies[number] <= energy * (1 + 1e-12)


def test_tilings_take_what_their_layers_leave() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        group, _ = random_tiling(rng)
        terms = GroupTerms(EDGE, {}, group, frozenset({(0, "filter")}), False)
        floors = GroupFloors(terms, all_pes=True)
        for number in rng.integers(len(floors.bits), size=40).tolist():
            tiling = terms.tiling(number)
            rooms = [tiling.room_bits(group, terms.chip, n) for n in range(len(group.layers))]
            assert floors.bits[number] == (max(rooms) if tiling.tiles > 1 else math.inf)


def group(**fields: Any) -> Change:
    """Change how the first group is cut, or which it is."""
    return lambda c: replace(c, groups=(c.groups[0]._replace(**fields), *c.groups[1:]))


def only(wanted: Callable[[Certificate], bool]) -> Change:
    """Leave parts out."""
    return lambda c: replace(c, parts=tuple(filter(wanted, c.parts)))


def is_fused(one: Certificate) -> bool:
    return one.problem.layer_name.startswith("fused part")


def of_fused(change: Callable[[Certificate], Certificate]) -> Change:
    """Change a part of a fused layer, which comes first then: it is the first to be checked."""

    def first(c: KeptCertificate) -> KeptCertificate:
        return replace(c, parts=tuple(sorted(c.parts, key=is_fused, reverse=True)))

    return lambda c: part(change)(first(c))


def resident(what: str) -> Callable[[Certificate], Certificate]:
    """Change what a part has in L2."""
    return lambda p: in_problem(
        cost_model_options=p.problem.cost_model_options | {"resident": what}
    )(p)


LIES: Lies = {
    "nothing is fused": (changed(groups=()), "mappings: there are 4, the network has 3 layers"),
    "nothing may be fused": (changed(groups=None), "shape-.*: the network has no layer of its"),
    "a group from nowhere": (group(first="x"), "groups: 'x' to 'l1' is no chain that can be fused"),
    "a group to nowhere": (group(last="l7"), "groups: 'l0' to 'l7' is no chain"),
    "a group of one layer": (group(last="l0"), "groups: 'l0' to 'l0' is no chain"),
    "a group backwards": (group(first="l1", last="l0"), "groups: 'l1' to 'l0' is no chain"),
    "a longer group": (group(last="l2"), "groups: what is fused with .l.. needs .* B of L2"),
    "another group": (group(first="l1", last="l2"), "mappings: |value: |groups: "),
    "a group twice": (lambda c: replace(c, groups=c.groups * 2), "does not come behind the group"),
    "groups that overlap": (
        lambda c: replace(
            c, groups=(*c.groups, c.groups[0]._replace(first="l1", last="l2", filters=()))
        ),
        "'l1' to 'l2' does not come behind the group before it",
    ),
    "a tile of all rows": (group(tile=(9, 1)), "tile: (it is not cut|got 9 rows)"),
    "a tile that is not balanced": (group(tile=(1000, 1)), "tile: got 1000 rows, expected one of"),
    "a tile of more columns": (group(tile=(2, 2)), "tile: got 2 columns, expected one of .1."),
    "another tile": (group(tile=(1, 1)), "mappings: |value: "),
    "halos are computed anew": (group(halo=("again", "again")), "mappings: |value: "),
    "halos where there are none": (
        group(halo=("kept", "kept")), "halo: its columns have none to keep, expected again"
    ),
    "keys of a convolution": (group(keys=2), r"keys: got 2, expected one of \[0\]"),
    "a filter that does not stay": (group(filters=("l0",)), "mappings: |value: "),
    "no filters that stay": (group(filters=()), "mappings: |value: "),
    "a filter of another layer": (group(filters=("l2",)), "filters: got 'l2', expected layers of"),
    "a filter that stays twice": (group(filters=("l0", "l0")), "filters: got one of them twice"),
    "what is inside stays": (changed(stays=("l0",)), "stays: 'l0' is (inside the group|no tensor)"),
    "a mapping left out": (lambda c: replace(c, mappings=c.mappings[1:]), "mappings: there are 3"),
    "a mapping too many": (
        lambda c: replace(c, mappings=(*c.mappings, c.mappings[0])),
        "mappings: there are 5, the network has 4 layers and parts of fused ones",
    ),
    "mappings swapped": (lambda c: replace(c, mappings=c.mappings[::-1]), "mappings: of |value: "),
    "parts' mappings swapped": (
        lambda c: replace(c, mappings=(c.mappings[1], c.mappings[0], *c.mappings[2:])),
        "mappings: of 'l0'|value: ",
    ),
    "a lower value": (lambda c: replace(c, value=c.value * 0.9), "value: .* the schedule comes to"),
    "a lower value and bound": (
        lambda c: replace(c, value=c.value / 2, bound=c.bound / 2), "value: .*the schedule comes"
    ),
    "a bound above the value": (lambda c: replace(c, bound=c.value * 1.1), "is above the value"),
    "another objective": (changed(objective="latency"), "value: "),
    "all parts but one left out": (
        lambda c: replace(c, parts=c.parts[:1]), "bound: .* the parts' come to"
    ),
    "parts of fused layers left out": (
        only(lambda one: not is_fused(one)), "bound: .* the parts' come to"
    ),
    "layers' own parts left out": (only(is_fused), "bound: .* the parts' come to"),
    "a part's bound raised": (
        of_fused(lambda p: replace(p, bound=p.bound * 1.01)), "shape-.*bound: .*above the value"
    ),
    "a part's value and bound raised": (
        of_fused(lambda p: replace(p, value=p.value * 1.01, bound=p.bound * 1.01)), "shape-|bound: "
    ),
    "a part without a mapping": (
        of_fused(lambda p: replace(p, mapping=None, value=math.inf, bound=math.inf)), "shape-|bound"
    ),
    "a part of another layer": (
        of_fused(lambda p: in_problem(layer=replace(p.problem.layer, K=7))(p)),
        "shape-.*: the network has no layer of its shape",
    ),
    "a part with other taps": (
        of_fused(lambda p: in_problem(layer=replace(p.problem.layer, stride=3))(p)),
        "shape-.*: the network has no layer of its shape",
    ),
    "a part in more room": (of_fused(in_problem(limits={})), "shape-|bound: "),
    "a part with more in L2": (of_fused(resident("input+filter+output")), "shape-|bound: "),
    "a part with less in L2": (of_fused(resident("")), "shape-|bound: "),
    "a part of another chip": (
        of_fused(
            lambda p: in_problem(accelerator=replace(p.problem.accelerator, noc_bw=64))(p)
        ),
        "shape-.*: its accelerator is not that",
    ),
    "less L2": (chip_of_all(l2_bytes=4), "groups: what is fused with .* needs|mappings: "),
    "a network of the zoo": (changed(network="mlp"), "it is not mlp of the zoo"),
}  # fmt: skip

KEY_LIES: Lies = {
    "all keys at once": (group(keys=0), "groups: |mappings: |value: "),
    "fewer keys": (group(keys=1), "groups: |mappings: |value: "),
    "keys that are no tile": (group(keys=1000), r"keys: got 1000, expected one of \["),
    "passes are free": (changed(counted=False), "value: "),
    "more heads at a time": (group(tile=(1, 2)), "tile: got 2 columns"),
    "parts left out": (lambda c: replace(c, parts=c.parts[:1]), "bound: .* the parts' come to"),
    "mappings swapped": (lambda c: replace(c, mappings=c.mappings[::-1]), "mappings: of |value: "),
}

STAY_LIES: Lies = {
    "less stays": (changed(stays=()), "value: |mappings: "),
    "a tensor stays twice": (lambda c: replace(c, stays=c.stays * 2), "a tensor is named twice"),
    "a longer group": (group(last="l2"), "stays: 'l1' is inside the group of 'l0'"),
    "a group that is left out": (changed(groups=()), "mappings: |value: "),
    "another tile": (group(tile=(2, 1)), "mappings: |value: |groups: "),
}


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, kept_halo: KeptCertificate) -> None:
    assert_refused(check_kept, LIES[lie], kept_halo)


@pytest.mark.parametrize("lie", KEY_LIES)
def test_no_lie_of_keys_passes(lie: str, keys: KeptCertificate) -> None:
    assert_refused(check_kept, KEY_LIES[lie], keys)


@pytest.mark.parametrize("lie", STAY_LIES)
def test_no_lie_of_what_stays_passes(lie: str, beside: KeptCertificate) -> None:
    assert_refused(check_kept, STAY_LIES[lie], beside)


def test_files_keep_them_bit_by_bit(
    kept_halo: KeptCertificate, keys: KeptCertificate, tmp_path: Path
) -> None:
    for one in (kept_halo, keys):
        again = assert_kept(one, tmp_path)
        assert again.groups == one.groups
        assert again.graph == one.graph


def test_the_command_line_writes_and_checks_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.yaml").write_text(CHAIN, encoding="utf-8")
    found = json_of(f"{TILES} --certificate net.cert")
    checked = json_of("validate --certificate net.cert")
    assert checked["holds"]
    assert checked["value"] == found["tiles"]["value"]
    assert checked["bound"] == pytest.approx(found["tiles"]["bound"], rel=1e-9)
    (one,) = checked["groups"]
    assert (one["first"], one["last"]) == ("wide", "narrow")
    edit(tmp_path / "net.cert", "kept.json", groups=[one | {"keys": 5}])
    assert "keys: got 5" in printed("validate --certificate net.cert", code=1)
    edit(tmp_path / "net.cert", "kept.json", groups=[one | {"halo": ["some", "again"]}])
    assert said("validate --certificate net.cert")[0] == 2
    code, _, err = said(f"{TILES} --inputs 4 --certificate net.cert")
    assert code == 2
    assert "--inputs 4: filters stay with --fuse keep, not with --fuse tiles" in err
