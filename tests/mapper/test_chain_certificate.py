"""Certificates on chips that are a list of levels: they hold, and every lie is found."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import baselines
from baselines.optimal import chain_proving
from benchmarks.chain_problems import random_problem
from benchmarks.edits.problems import deep_specs
from cost_models import CHAINS, ChainMapping
from layers import Layer
from maestro_env import Problem
from mapper import cli
from mapper.certificate import (
    Certificate,
    CertificateError,
    check_certificate,
    looks,
    make_certificate,
    read_certificate,
    write_certificate,
)
from mapper.search.problem_spec import ProblemSpec

SEEDS = (2, 3, 5, 7, 8, 16, 22)
"""Random problems of one to three memories, with limits and without."""


@pytest.fixture(autouse=True, scope="module")
def _few_first_samples() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain_proving, "FIRST_SAMPLES", 100)
        yield


def spec_of(problem: Problem, **more: Any) -> ProblemSpec:
    fields: dict[str, Any] = {
        "objective": problem.objective.name,
        "cost_model_options": dict(problem.cost_model.options),
    }
    layer, chip = problem.layer, problem.accelerator
    return ProblemSpec(layer, layer.name, chip, "chip", **(fields | more)).complete()


def certified(spec: ProblemSpec) -> Certificate:
    return make_certificate(spec, baselines.prove(spec.build()))


@pytest.fixture(scope="module")
def good() -> Certificate:
    """One whose proof chooses tiles, and has structures that are evaluated."""
    return certified(spec_of(random_problem(5, 1_000, 5_000)))


@pytest.mark.parametrize("seed", SEEDS)
def test_certificates_hold_beside_enumeration_and_simulator(seed: int) -> None:
    problem = random_problem(seed, 1_000, 10_000)
    tiles = ("balanced", "divisors", "any")[seed % 3]
    certificate = certified(spec_of(problem, space={"tiles": tiles}))
    checked = check_certificate(certificate)
    assert checked.size == checked.beside.enumerated == certificate.size
    assert (checked.beside.simulated > 100) == (problem.layer.macs <= looks.MOST_MACS)
    assert checked.gap == 0
    assert 0 <= checked.alone <= checked.ruled_out <= checked.boxes


def test_an_empty_space_is_certified_by_its_limit() -> None:
    certificate = certified(deep_specs()[2])
    assert certificate.mapping is None
    checked = check_certificate(certificate)
    assert checked.limits == {"buffers and limits": checked.ruled_out}
    with pytest.raises(CertificateError, match="there is none, but a value"):
        check_certificate(replace(certificate, value=1.0, bound=1.0))
    free = replace(certificate, problem=replace(certificate.problem, limits={}))
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
    for name in ("a", "b"):
        write_certificate(tmp_path / name, good)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    again = read_certificate(tmp_path / "a")
    assert again.version == 2
    assert np.array_equal(again.tree, good.tree)
    assert replace(again, tree=good.tree) == good


def with_chip(name: str) -> Callable[[Certificate], Certificate]:
    return lambda c: replace(c, problem=replace(c.problem, accelerator=CHAINS[name]))


def other_entry(**fields: Any) -> Callable[[Certificate], Certificate]:
    def change(good: Certificate) -> Certificate:
        assert isinstance(good.mapping, ChainMapping)
        first = replace(good.mapping.entries[0], **fields)
        return replace(good, mapping=ChainMapping((first, *good.mapping.entries[1:])))

    return change


def cut(good: Certificate) -> Certificate:
    assert isinstance(good.mapping, ChainMapping)
    return replace(good, mapping=ChainMapping(good.mapping.entries[:-1]))


def list_emptied(good: Certificate) -> Certificate:
    """The proof with the boxes of its first choice of tiles left out."""
    words = good.tree.tolist()
    place = words.index(2) + 1
    assert words[place] > 0
    return replace(good, tree=np.array([*words[:place], 0], np.uint32))


LIES: dict[str, tuple[Callable[[Certificate], Certificate], str]] = {
    "a higher bound": (lambda c: replace(c, bound=c.bound * 1.01), "is above the value"),
    "a lower value": (
        lambda c: replace(c, value=c.value * 0.9, bound=c.bound * 0.9),
        r"value: .* is claimed, the model gives",
    ),
    "a smaller space": (lambda c: replace(c, size=c.size // 2), "mappings are claimed"),
    "a proof that is cut": (lambda c: replace(c, tree=c.tree[:-1]), "some boxes are missing"),
    "a proof with more": (
        lambda c: replace(c, tree=np.append(c.tree, np.uint32(0))),
        "1 numbers too many",
    ),
    "all ruled out by the own relaxation": (
        lambda c: replace(c, tree=np.zeros_like(c.tree)),
        "a way of spreading units is ruled out whose bound",
    ),
    "all ruled out by energy": (
        lambda c: replace(c, tree=np.ones_like(c.tree)),
        "a way of spreading units is ruled out whose bound",
    ),
    "boxes left out": (list_emptied, "a box is ruled out whose bound"),
    "a number without meaning": (
        lambda c: replace(c, tree=np.full_like(c.tree, 9)),
        "9 has no meaning",
    ),
    "another chip": (with_chip("simba"), "mappings are claimed"),
    "a level's name": (other_entry(level="Elsewhere"), "mapping: it is not one of the chip"),
    "a tile too large": (other_entry(tiles={"K": 1 << 20}), "mapping: it is not in the space"),
    "another depth": (cut, "mapping: it is not one of the chip"),
    "an area that knows two levels": (
        lambda c: replace(
            c, problem=replace(c.problem, cost_model_options={"area": "maestro", "energy": "cacti"})
        ),
        "problem: area=maestro",
    ),
    "an uneven space": (
        lambda c: replace(c, problem=replace(c.problem, space={"uneven": True})),
        "mappings are claimed|certificates are of the default space",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, good: Certificate) -> None:
    change, says = LIES[lie]
    with pytest.raises(CertificateError, match=says) as caught:
        check_certificate(change(good))
    assert "\n" not in str(caught.value)


def test_a_worse_mapping_does_not_pass_as_the_optimum(good: Certificate) -> None:
    problem = good.problem.build()
    looked = problem.look(problem.space.sample(500, 0))
    rows = np.flatnonzero(np.isfinite(looked.values) & (looked.values > 1.01 * good.value))
    row = int(rows[np.argmin(looked.values[rows])])
    batch = looked.mappings.take(rows[:1] * 0 + row)
    mapping = problem.space.decode(problem.space.encode(batch))[0]
    worse = replace(good, mapping=mapping, value=float(looked.values[row]))
    assert check_certificate(worse).gap > 0.009
    with pytest.raises(CertificateError):
        check_certificate(replace(worse, bound=worse.value))


def test_the_command_line_writes_and_checks_certificates(tmp_path: Path) -> None:
    path = tmp_path / "proof.cert"
    words = ["search", "-l", "gemm:M=16,N=32,K=32", "-a", "simba", "--certificate", str(path)]
    made = CliRunner().invoke(cli.app, words)
    assert made.exit_code == 0, made.output
    assert path.stat().st_size < 1_000_000
    checked = CliRunner().invoke(cli.app, ["validate", "--certificate", str(path)])
    assert checked.exit_code == 0, checked.output
    assert " on simba: " in checked.stdout
    assert "the checker's own relaxation rules out" in checked.stdout
    assert "20,000 random mappings: none is below the bound" in checked.stdout


def test_a_certificate_of_two_levels_is_of_version_1() -> None:
    layer = Layer.gemm("product", 3, 4, 1)
    spec = ProblemSpec(layer, "product", CHAINS["simba"], "simba", "edp").complete()
    assert Certificate(spec, 1, None, math.inf, math.inf, {}, np.zeros(0, np.uint32)).version == 2
