"""Certificates of fused layers on lists of levels: their bound holds, and no lie passes."""

from dataclasses import replace
from pathlib import Path

import pytest

from cost_models import load_chip
from mapper.certificate import KeptCertificate, check_kept, read_kept, write_kept
from tests.mapper.certificates import Lies, assert_refused, changed, in_problem, read_again, scaled
from tests.mapper.small_networks import long_attention, small_chain
from tests.mapper.test_fused_certificate import LIES as TWO_LEVEL_LIES
from tests.mapper.test_fused_certificate import STAY_LIES, answered, group, of_fused
from tests.mapper.test_kept_certificate import TWO_LEVELS, in_all, of_all

pytestmark = pytest.mark.usefixtures("quick_proofs")


@pytest.fixture
def good() -> KeptCertificate:
    """Two layers in tiles, whose filters stay, before one by itself that reads what stays."""
    found = answered(small_chain, 2, "energy", filters=True)[1]
    assert found.stays == ("l1",)
    assert found.groups is not None
    assert [one[:3] for one in found.groups] == [("l0", "l1", (1, 1))]
    assert found.groups[0].filters == ("l0", "l1")
    return found


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
    found = answered(long_attention, 6, "energy", filters=False)[1]
    check_kept(found)
    lie = group(filters=("scores",)), "filters: one is a tensor that stays whole"
    assert_refused(check_kept, lie, found)


def test_files_keep_them_bit_by_bit(good: KeptCertificate, tmp_path: Path) -> None:
    assert read_again(write_kept, read_kept, good, tmp_path).groups == good.groups
