"""Certificates: they hold, their checker finds every lie, and it runs nothing of the solver.

On chips of two levels and on lists of levels.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layers
from baselines.conformance import TINY_ACCELERATOR, TINY_LAYER
from benchmarks.chain_problems import random_problem
from benchmarks.edits.fields import deep_specs
from cost_models import CHAINS, Accelerator, ChainMapping
from layers import Layer
from mapper import certificate as package
from mapper.certificate import looks
from mapper.certificate.certificate_file import (
    Certificate,
    CertificateError,
    read_certificate,
    write_certificate,
)
from mapper.certificate.checker import check_certificate
from mapper.certificate.replay import Grid
from mapper.search.problem_spec import ProblemSpec
from tests.mapper import certificates
from tests.mapper.certificates import (
    EDGE,
    Lies,
    assert_no_optimum,
    assert_refused,
    certified,
    changed,
    edit,
    imports_of,
    in_problem,
    spec_of,
)
from tests.mapper.commands import printed, refused, said

TERMS = {
    *(f"mapper.staying.{name}" for name in ("network_result", "placement", "rooms", "shape_facts")),
    *(f"mapper.fusing.{name}" for name in ("axis_plan", "fused_group", "group_terms")),
}
"""Modules that tell a network's problem, which search and checker share."""
CONV = Layer("conv", "CONV", 6, 4, 9, 7, 3, 3, stride=2)
TAPS = Layer("taps", "CONV", 2, 2, 5, 4, 3, 2)
FEW = Layer("few", "CONV", 2, 2, 3, 3, 2, 2)
SMALL = Accelerator(2, 64, 400, 2, 1)


SEEDS = (3, 5, 7, 8, 22)
"""Random problems of one to three memories."""


pytestmark = pytest.mark.usefixtures("quick_proofs")


@cache
def good(levels: str) -> Certificate:
    """Of a chip of two levels, or of a list: that one's proof chooses tiles and evaluates some."""
    if levels == "two":
        return certified(spec_of(layers.parse("mobilenetv2.2")))
    return certified(random_spec(5, 5_000))


both = pytest.mark.parametrize("levels", ["two", "list"])
"""Chips of two levels and lists of levels."""


def random_spec(seed: int, most: int, **more: Any) -> ProblemSpec:
    problem = random_problem(seed, 1_000, most)
    options = dict(problem.cost_model.options)
    more |= {"objective": problem.objective.name, "cost_model_options": options}
    return spec_of(problem.layer, problem.accelerator, **more)


SPECS = {
    "tiny": spec_of(TINY_LAYER, TINY_ACCELERATOR),
    "latency": spec_of(CONV, objective="latency"),
    "any tiles": spec_of(CONV, space={"tiles": "any"}),
    "free filters": spec_of(TAPS, space={"filters": "free", "tiles": "divisors"}),
    "full": spec_of(FEW, SMALL, space={"full": True, "tiles": "divisors"}),
    "tensors apart": spec_of(CONV, Accelerator.load("eyeriss")),
    "numbered orders": spec_of(CONV, space={"orders": "permutation"}),
    "fewer PEs": spec_of(TINY_LAYER, TINY_ACCELERATOR, space={"co_search": ["num_pes"]}),
    "a dataflow": spec_of(CONV, space={"dataflow": "nvdla"}),
    "a batch": spec_of(Layer.gemm("product", 8, 6, 5, batch=3)),
    "limits": spec_of(CONV, limits={"max_l1_bytes": 60.0}),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_proof_gives_a_certificate_that_holds(name: str) -> None:
    certificate = certified(SPECS[name])
    checked = check_certificate(certificate)
    space = SPECS[name].build().space
    assert checked.size == space.size
    assert checked.gap == 0
    assert checked.boxes == len(certificate.tree)


@pytest.mark.parametrize("seed", SEEDS)
def test_certificates_hold_beside_enumeration_and_simulator(seed: int) -> None:
    tiles = ("balanced", "divisors", "any")[seed % 3]
    certificate = certified(random_spec(seed, 10_000, space={"tiles": tiles}))
    checked = check_certificate(certificate)
    assert checked.size == checked.beside.enumerated == certificate.size
    assert (checked.beside.simulated > 15) == (certificate.problem.layer.macs <= looks.MOST_MACS)
    assert checked.gap == 0
    assert 0 <= checked.alone <= checked.ruled_out <= checked.boxes


def test_a_proof_that_was_stopped_certifies_its_gap() -> None:
    certificate = certified(spec_of(layers.parse("mobilenetv2.2")), gap=0.2)
    assert 0 < check_certificate(certificate).gap <= 0.2 + 1e-9
    boundless = certified(spec_of(layers.parse("mobilenetv2.2")), timeout=0.0)
    assert check_certificate(boundless).gap > 0
    deep = certified(good("list").problem, boxes=1)
    assert check_certificate(deep).gap == pytest.approx(deep.value / deep.bound - 1)


def test_an_empty_space_is_certified() -> None:
    small = certified(spec_of(CONV, replace(EDGE, l1_bytes=4)))
    assert (small.value, small.mapping) == (math.inf, None)
    assert check_certificate(small).ruled_out == len(small.tree)
    certificate = certified(deep_specs()[2])  # by its limit
    assert certificate.mapping is None
    checked = check_certificate(certificate)
    assert checked.limits == {"buffers and limits": checked.ruled_out}
    with pytest.raises(CertificateError, match="there is none, but a value"):
        check_certificate(replace(certificate, value=1.0, bound=1.0))
    free = in_problem(limits={})(certificate)
    with pytest.raises(CertificateError, match=r"ruled out whose bound|is feasible"):
        check_certificate(free)


def test_one_holds_that_lists_boxes_which_bounds_rule_out_by_now() -> None:
    older = read_certificate(Path(__file__).parents[1] / "hostile" / "rows" / "levels.cert")
    checked = check_certificate(older)
    assert checked.ruled_out == checked.boxes
    assert checked.gap == 0


@both
def test_a_file_keeps_a_certificate_bit_by_bit(levels: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_certificate(tmp_path / name, good(levels))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    again = read_certificate(tmp_path / "a")
    assert again.version == good(levels).version == (1 if levels == "two" else 2)
    assert np.array_equal(again.tree, good(levels).tree)
    assert replace(again, tree=good(levels).tree) == good(levels)
    assert (tmp_path / "a").stat().st_size < 100_000


def all_ruled_out(good: Certificate) -> Certificate:
    roots = len(Grid(good.problem.build().space).allocations)
    return replace(good, tree=np.full_like(good.tree[:roots], 255))


def with_byte(kind: Callable[[np.ndarray], np.ndarray], byte: int) -> Any:
    def change(good: Certificate) -> Certificate:
        tree = good.tree.copy()
        tree[np.flatnonzero(kind(tree))[0]] = byte
        return replace(good, tree=tree)

    return change


LIES: Lies = certificates.LIES | {
    "another mapping": (
        lambda c: replace(c, mapping=replace(c.mapping, cluster_size=1)),
        r"value: .* is claimed, the model gives",
    ),
    "no mapping": (changed(mapping=None), "there is none, but a value"),
    "all ruled out at once": (all_ruled_out, "below the claimed bound"),
    "a split ruled out": (with_byte(lambda t: t < 16, 255), "ruled out whose bound|too many"),
    "a box called evaluated": (
        with_byte(lambda t: t == 255, 254),
        "of several structures is called evaluated",
    ),
    "a byte without meaning": (with_byte(lambda t: t == 255, 77), "byte 77 has no meaning"),
    "another layer": (in_problem(layer=layers.parse("mobilenetv2.5")), "mappings are claimed"),
    "another chip": (in_problem(accelerator=replace(EDGE, noc_bw=8)), "the model gives"),
    "a model without bounds": (
        in_problem(cost_model="maestro", cost_model_options={}),
        "value: .*the model gives|offers no bounds",
    ),
}


def other_entry(**fields: Any) -> Callable[[Certificate], Certificate]:
    def change(good: Any) -> Certificate:
        first = replace(good.mapping.entries[0], **fields)
        return replace(good, mapping=ChainMapping((first, *good.mapping.entries[1:])))

    return change


def list_emptied(good: Certificate) -> Certificate:
    """The proof with the boxes of its first choice of tiles left out."""
    words = good.tree.tolist()
    place = words.index(2) + 1
    assert words[place] > 0
    return replace(good, tree=np.array([*words[:place], 0], np.uint32))


RULED_OUT = "a way of spreading units is ruled out whose bound"
LIST_LIES: Lies = certificates.LIES | {
    "all ruled out by the own relaxation": (
        lambda c: replace(c, tree=np.zeros_like(c.tree)), RULED_OUT
    ),
    "all ruled out by energy": (lambda c: replace(c, tree=np.ones_like(c.tree)), RULED_OUT),
    "boxes left out": (list_emptied, "a box is ruled out whose bound"),
    "a number without meaning": (
        lambda c: replace(c, tree=np.full_like(c.tree, 9)), "9 has no meaning"
    ),
    "another chip": (in_problem(accelerator=CHAINS["simba"]), "mappings are claimed"),
    "a level's name": (other_entry(level="Elsewhere"), "mapping: it is not one of the chip"),
    "a tile too large": (other_entry(tiles={"K": 1 << 20}), "mapping: it is not in the space"),
    "another depth": (
        lambda c: replace(c, mapping=ChainMapping(c.mapping.entries[:-1])),
        "mapping: it is not one of the chip",
    ),
    "an area that knows two levels": (
        in_problem(cost_model_options={"area": "maestro", "energy": "cacti"}),
        "problem: area=maestro",
    ),
    "an uneven space": (
        in_problem(space={"uneven": True}),
        "mappings are claimed|certificates are of the default space",
    ),
}  # fmt: skip


TOLD = {"two": LIES, "list": LIST_LIES}


@pytest.mark.parametrize(("levels", "lie"), [(of, lie) for of in TOLD for lie in TOLD[of]])
def test_no_lie_passes(levels: str, lie: str) -> None:
    assert_refused(check_certificate, TOLD[levels][lie], good(levels))


@both
def test_a_worse_mapping_does_not_pass_as_the_optimum(levels: str) -> None:
    assert_no_optimum(good(levels), 1.01)


def test_the_checker_runs_nothing_of_the_solver() -> None:
    for path in Path(package.__file__).parent.glob("*.py"):
        modules = {module for module, _ in imports_of(path)}
        assert "baselines" not in {module.split(".")[0] for module in modules}, path
        shared = {module for module in modules if module.startswith(("mapper.f", "mapper.staying"))}
        assert shared <= TERMS, path


def test_the_command_line_writes_and_checks_certificates(tmp_path: Path) -> None:
    path = tmp_path / "proof.cert"
    assert f"wrote {path}" in said(f"search -l mobilenetv2.2 --certificate {path}")[2]
    assert "give --certificate" in refused(f"validate {path}")
    checked = printed(f"validate --certificate {path}")
    assert "mobilenetv2.2 on edge: 2.14493 J·cycles is the optimum" in checked
    assert "together all 32,645,423,482,011,648 mappings" in checked
    edit(path, "certificate.json", size="7")
    checked = printed(f"validate --certificate {path}", code=1)
    assert "✗" in checked
    assert "7 mappings are claimed" in checked
    assert '"holds": false' in printed(f"validate --certificate {path} --json", code=1)
    printed(f"search -l gemm:M=16,N=32,K=32 -a simba --certificate {path}")
    assert path.stat().st_size < 1_000_000
    checked = printed(f"validate --certificate {path}")
    assert " on simba: " in checked
    assert "the checker's own relaxation rules out" in checked
    assert "20,000 random mappings: none is below the bound" in checked
