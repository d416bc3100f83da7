"""Certificates of fused layers on lists of levels: their bound holds, and no lie passes."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from cost_models import load_chip
from layers import NetworkGraph
from mapper.certificate.kept_certificate import KeptCertificate
from mapper.certificate.kept_checker import check_kept
from mapper.staying.network_result import NetworkResult
from mapper.staying.stay_proof import StaySetting
from tests.mapper.certificates import Lies, assert_refused, changed, in_problem, scaled
from tests.mapper.network_brute import NetworkBrute
from tests.mapper.small_networks import Small, deep_setting, long_attention, small_chain
from tests.mapper.test_fused_certificate import LIES as TWO_LEVEL_LIES
from tests.mapper.test_fused_certificate import STAY_LIES, group, of_fused
from tests.mapper.test_kept_certificate import (
    TWO_LEVELS,
    assert_kept,
    assert_optimal,
    certificate_of,
    in_all,
    of_all,
)


@cache
def deep(
    small: Small, seed: int, filters: bool, objective: str
) -> tuple[NetworkResult, KeptCertificate]:
    """The best schedule of a small network on a list of levels, and its certificate."""
    kept, found = certificate_of(*on_levels(small, seed, filters), objective, fused=True)
    assert kept.tiles is not None
    return kept.tiles, found


def on_levels(small: Small, seed: int, filters: bool) -> tuple[NetworkGraph, StaySetting]:
    """A small network, on a list of levels with as much room for tensors."""
    graph, two = small(seed)
    return graph, deep_setting(two.two_levels.l2_bytes or 0, filters)


@pytest.fixture
def good() -> KeptCertificate:
    """Two layers in tiles, whose filters stay, before one by itself that reads what stays."""
    found = deep(small_chain, 2, True, "energy")[1]
    assert found.stays == ("l1",)
    assert found.groups is not None
    assert [one[:3] for one in found.groups] == [("l0", "l1", (1, 1))]
    assert found.groups[0].filters == ("l0", "l1")
    return found


@pytest.mark.parametrize(
    ("small", "seed", "filters", "objectives"),
    [
        (small_chain, 2, True, ["energy"]),
        (small_chain, 2, False, ["energy"]),
        (long_attention, 6, False, ["energy", "edp"]),
    ],
)
def test_brute_force_is_between_bound_and_value(
    small: Small, seed: int, filters: bool, objectives: Iterable[str]
) -> None:
    """Bounds are the search's: of sums the optimum, of a product with a gap."""
    best = NetworkBrute(*on_levels(small, seed, filters), fused=True).best()
    for objective in objectives:
        answer, found = deep(small, seed, filters, objective)
        assert_optimal(found, answer, best, 0.2 if objective == "edp" else 0.0)
        groups = found.groups or ()
        assert [one.keys for one in groups] == [4 if small is long_attention else 0]


SAME = (
    "a lower value", "another objective", "mappings swapped", "parts of fused layers left out",
    "layers' own parts left out", "a part of another layer", "nothing may be fused",
    "a tile that is not balanced", "a filter that does not stay", "less stays", "a longer group",
    "another tile",
)  # fmt: skip
"""Lies that are told of two levels, too."""
LIES: Lies = {name: (TWO_LEVEL_LIES | STAY_LIES)[name] for name in SAME} | {
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


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, good: KeptCertificate) -> None:
    assert_refused(check_kept, LIES[lie], good)


def test_filters_that_the_level_does_not_hold_do_not_stay() -> None:
    found = deep(long_attention, 6, False, "energy")[1]
    check_kept(found)
    lie = group(filters=("scores",)), "filters: one is a tensor that stays whole"
    assert_refused(check_kept, lie, found)


def test_files_keep_them_bit_by_bit(good: KeptCertificate, tmp_path: Path) -> None:
    assert assert_kept(good, tmp_path).groups == good.groups
