"""Certificates on chips that are a list of levels: they hold, and every lie is found."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baselines
from baselines.optimal import chain_proving
from benchmarks.chain_problems import random_problem
from benchmarks.edits.fields import deep_specs
from cost_models import CHAINS, ChainMapping
from layers import Layer
from mapper.certificate import (
    Certificate,
    CertificateError,
    check_certificate,
    looks,
    make_certificate,
    read_certificate,
)
from mapper.search.problem_spec import ProblemSpec
from tests.mapper import certificates
from tests.mapper.certificates import (
    Lies,
    assert_kept,
    assert_no_optimum,
    assert_refused,
    certified,
    in_problem,
    spec_of,
)
from tests.mapper.commands import printed

SEEDS = (2, 3, 5, 7, 8, 16, 22)
"""Random problems of one to three memories, with limits and without."""


@pytest.fixture(autouse=True, scope="module")
def _few_first_samples() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain_proving, "FIRST_SAMPLES", 100)
        yield


def random_spec(seed: int, most: int, **more: Any) -> ProblemSpec:
    problem = random_problem(seed, 1_000, most)
    options = dict(problem.cost_model.options)
    more |= {"objective": problem.objective.name, "cost_model_options": options}
    return spec_of(problem.layer, problem.accelerator, **more)


@pytest.fixture(scope="module")
def good() -> Certificate:
    """One whose proof chooses tiles, and has structures that are evaluated."""
    return certified(random_spec(5, 5_000))


@pytest.mark.parametrize("seed", SEEDS)
def test_certificates_hold_beside_enumeration_and_simulator(seed: int) -> None:
    tiles = ("balanced", "divisors", "any")[seed % 3]
    certificate = certified(random_spec(seed, 10_000, space={"tiles": tiles}))
    checked = check_certificate(certificate)
    assert checked.size == checked.beside.enumerated == certificate.size
    assert (checked.beside.simulated > 100) == (certificate.problem.layer.macs <= looks.MOST_MACS)
    assert checked.gap == 0
    assert 0 <= checked.alone <= checked.ruled_out <= checked.boxes


def test_an_empty_space_is_certified_by_its_limit() -> None:
    certificate = certified(deep_specs()[2])
    assert certificate.mapping is None
    checked = check_certificate(certificate)
    assert checked.limits == {"buffers and limits": checked.ruled_out}
    with pytest.raises(CertificateError, match="there is none, but a value"):
        check_certificate(replace(certificate, value=1.0, bound=1.0))
    free = in_problem(limits={})(certificate)
    with pytest.raises(CertificateError, match=r"ruled out whose bound|is feasible"):
        check_certificate(free)


def test_a_proof_that_was_stopped_certifies_its_gap(good: Certificate) -> None:
    proof = baselines.prove(good.problem.build(), boxes=1)
    checked = check_certificate(make_certificate(good.problem, proof))
    assert checked.gap == pytest.approx(proof.value / proof.bound - 1)


def test_one_holds_that_lists_boxes_which_bounds_rule_out_by_now() -> None:
    older = read_certificate(Path(__file__).parents[1] / "hostile" / "rows" / "levels.cert")
    checked = check_certificate(older)
    assert checked.ruled_out == checked.boxes
    assert checked.gap == 0


def test_a_file_keeps_a_certificate_bit_by_bit(good: Certificate, tmp_path: Path) -> None:
    assert good.version == 2
    assert_kept(good, tmp_path)


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
LIES: Lies = certificates.LIES | {
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


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, good: Certificate) -> None:
    assert_refused(check_certificate, LIES[lie], good)


def test_a_worse_mapping_does_not_pass_as_the_optimum(good: Certificate) -> None:
    assert_no_optimum(good, 1.01)


def test_the_command_line_writes_and_checks_certificates(tmp_path: Path) -> None:
    path = tmp_path / "proof.cert"
    printed(f"search -l gemm:M=16,N=32,K=32 -a simba --certificate {path}")
    assert path.stat().st_size < 1_000_000
    checked = printed(f"validate --certificate {path}")
    assert " on simba: " in checked
    assert "the checker's own relaxation rules out" in checked
    assert "20,000 random mappings: none is below the bound" in checked


def test_a_certificate_of_two_levels_is_of_version_1() -> None:
    layer = Layer.gemm("product", 3, 4, 1)
    spec = ProblemSpec(layer, "product", CHAINS["simba"], "simba", "edp").complete()
    assert Certificate(spec, 1, None, math.inf, math.inf, {}, np.zeros(0, np.uint32)).version == 2
