"""Certificates of fused layers, on two levels and lists: their bound holds, and no lie passes."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cost_models import load_chip
from mapper.certificate.certificate_file import Certificate
from mapper.certificate.kept_certificate import KeptCertificate, read_kept, write_kept
from mapper.certificate.kept_checker import check_kept
from mapper.staying.network_result import NetworkResult
from tests.mapper.certificates import (
    Lies,
    assert_refused,
    changed,
    in_problem,
    read_again,
    scaled,
)
from tests.mapper.network_brute import NetworkBrute
from tests.mapper.small_networks import (
    Small,
    long_attention,
    placed,
    small_attention,
    small_chain,
)
from tests.mapper.test_kept_certificate import LIES as KEPT_LIES
from tests.mapper.test_kept_certificate import (
    TWO_LEVELS,
    assert_optimal,
    certificate_of,
    chip_of_all,
    in_all,
    of_all,
    part,
)

pytestmark = pytest.mark.usefixtures("quick_proofs")
Change = Callable[[KeptCertificate], KeptCertificate]


@cache
def answered(
    small: Small, seed: int, objective: str, counted: bool = False, filters: bool | None = None
) -> tuple[NetworkResult, KeptCertificate]:
    """The best schedule of a small network, on a list of levels or not, and its certificate."""
    kept, found = certificate_of(*placed(small, seed, filters), objective, counted, fused=True)
    assert kept.tiles is not None
    return kept.tiles, found


@pytest.fixture
def kept_halo() -> KeptCertificate:
    """Two layers in tiles of two rows, whose halos and filters are kept, and one by itself."""
    found = answered(small_chain, 9, "energy")[1]
    assert found.groups is not None
    assert found.groups[0][:4] == ("l0", "l1", (2, 1), ("kept", "again"))
    return found


@pytest.fixture
def beside() -> KeptCertificate:
    """A group whose output stays."""
    found = answered(small_chain, 2, "energy")[1]
    assert found.stays == ("l1",)
    assert found.groups
    return found


@pytest.fixture
def keys() -> KeptCertificate:
    """Scores, softmax and context in tiles of two keys; passes are counted."""
    found = answered(long_attention, 1, "energy", True)[1]
    assert found.groups is not None
    assert [one.keys for one in found.groups] == [2]
    return found


@pytest.fixture
def deep() -> KeptCertificate:
    """Two layers in tiles, whose filters stay, before one by itself that reads what stays."""
    found = answered(small_chain, 2, "energy", filters=True)[1]
    assert found.stays == ("l1",)
    assert found.groups is not None
    assert [one[:3] for one in found.groups] == [("l0", "l1", (1, 1))]
    assert found.groups[0].filters == ("l0", "l1")
    return found


@pytest.mark.parametrize(
    ("small", "seed", "filters", "objectives"),
    [
        (small_chain, 2, None, ["energy", "latency"]),
        (small_chain, 9, None, ["energy"]),
        (small_attention, 11, None, ["energy", "edp"]),
        (long_attention, 6, None, ["energy", "edp"]),
        (small_chain, 2, True, ["energy"]),
        (small_chain, 2, False, ["energy"]),
        (long_attention, 6, False, ["energy", "edp"]),
    ],
)
def test_its_bound_is_the_optimum_of_all_choices_and_mappings(
    small: Small, seed: int, filters: bool | None, objectives: Iterable[str]
) -> None:
    """On lists of levels bounds are the search's: of a product with a gap."""
    best = NetworkBrute(*placed(small, seed, filters), fused=True).best()
    for objective in objectives:
        answer, found = answered(small, seed, objective, filters=filters)
        gap = 0.2 if objective == "edp" and filters is not None else 0.0
        assert_optimal(found, answer, best, gap)
        assert answer.gap <= gap
        if objective == "energy":
            keys = {one.keys for one in found.groups or ()}
            assert keys == {(4 if filters is False else 2) if small is long_attention else 0}


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


SAME = (
    "a lower value", "a lower value and bound", "a bound above the value", "parts left out",
    "a network of the zoo",
)  # fmt: skip
"""Lies that are told of networks without fused layers, too."""
LIES: Lies = {name: KEPT_LIES[name] for name in SAME} | {
    "nothing is fused": (changed(groups=()), "mappings: there are 4, the network has 3 layers"),
    "nothing may be fused": (changed(groups=None), "shape-.*: the network has no layer of its"),
    "a group from nowhere": (group(first="x"), "groups: 'x' to 'l1' is no chain that can be fused"),
    "a group to nowhere": (group(last="l7"), "groups: 'l0' to 'l7' is no chain"),
    "a group of one layer": (group(last="l0"), "groups: 'l0' to 'l0' is no chain"),
    "a group backwards": (group(first="l1", last="l0"), "groups: 'l1' to 'l0' is no chain"),
    "a longer group": (group(last="l2"), "groups: what is fused with .l.. needs .* B of L2"),
    "another group": (group(first="l1", last="l2"), "mappings: |value: |groups: "),
    "a group twice": (scaled(groups=2), "does not come behind the group"),
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
    "another objective": (changed(objective="latency"), "value: "),
    "parts of fused layers left out": (
        only(lambda one: not is_fused(one)), "bound: .* the parts' come to"
    ),
    "layers' own parts left out": (only(is_fused), "bound: .* the parts' come to"),
    "a part's bound raised": (of_fused(scaled(bound=1.01)), "shape-.*bound: .*above the value"),
    "a part's value and bound raised": (
        of_fused(scaled(value=1.01, bound=1.01)), "shape-|bound: "
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
}  # fmt: skip

KEY_LIES: Lies = {
    "all keys at once": (group(keys=0), "groups: |mappings: |value: "),
    "fewer keys": (group(keys=1), "groups: |mappings: |value: "),
    "keys that are no tile": (group(keys=1000), r"keys: got 1000, expected one of \["),
    "passes are free": (changed(counted=False), "value: "),
    "more heads at a time": (group(tile=(1, 2)), "tile: got 2 columns"),
    "parts left out": KEPT_LIES["parts left out"],
    "mappings swapped": LIES["mappings swapped"],
}

STAY_LIES: Lies = {
    "less stays": KEPT_LIES["less stays"],
    "a tensor stays twice": KEPT_LIES["a tensor stays twice"],
    "a longer group": (group(last="l2"), "stays: 'l1' is inside the group of 'l0'"),
    "a group that is left out": (changed(groups=()), "mappings: |value: "),
    "another tile": (group(tile=(2, 1)), "mappings: |value: |groups: "),
}


DEEP_SAME = (
    "a lower value", "another objective", "mappings swapped", "parts of fused layers left out",
    "layers' own parts left out", "a part of another layer", "nothing may be fused",
    "a tile that is not balanced", "a filter that does not stay", "less stays", "a longer group",
    "another tile",
)  # fmt: skip
DEEP_LIES: Lies = {name: (LIES | STAY_LIES)[name] for name in DEEP_SAME} | {
    "a higher bound": (scaled(value=1.01, bound=1.01), "value: |bound: "),
    "nothing is fused": (changed(groups=()), "mappings: of |mappings: there are |value: "),
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
    "all parts' bounds raised": (
        in_all(lambda p: replace(p, bound=p.value * 1.01)), "shape-1: bound: .* is above the value"
    ),
    "a part's objective": (of_all(objective="power"), "shape-1: its objective is not that"),
    "a part's price": (
        lambda c: replace(
            c, parts=(*c.parts, in_problem(cost_model_options={"cycle_nj": 2.0})(c.parts[0]))
        ),
        "shape-[0-9]+: its (objective|cost_model_options) is not that",
    ),
    "a part with more in the level": (
        of_fused(in_problem(cost_model_options={"resident": "input+filter+output"})),
        "shape-|bound: ",
    ),
}  # fmt: skip


TOLD = {"kept_halo": LIES, "keys": KEY_LIES, "beside": STAY_LIES, "deep": DEEP_LIES}


@pytest.mark.parametrize(("of", "lie"), [(of, lie) for of, lies in TOLD.items() for lie in lies])
def test_no_lie_passes(of: str, lie: str, request: pytest.FixtureRequest) -> None:
    assert_refused(check_kept, TOLD[of][lie], request.getfixturevalue(of))


def test_filters_that_the_level_does_not_hold_do_not_stay() -> None:
    found = answered(long_attention, 6, "energy", filters=False)[1]
    check_kept(found)
    lie = group(filters=("scores",)), "filters: one is a tensor that stays whole"
    assert_refused(check_kept, lie, found)


def test_files_keep_them_bit_by_bit(
    kept_halo: KeptCertificate, keys: KeptCertificate, deep: KeptCertificate, tmp_path: Path
) -> None:
    for one in (kept_halo, keys, deep):
        again = read_again(write_kept, read_kept, one, tmp_path)
        assert again.groups == one.groups
        assert again.graph == one.graph
