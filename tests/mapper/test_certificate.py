"""Certificates: they hold, their checker finds every lie, and it runs nothing of the solver."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baselines
import layers
from baselines.conformance import TINY_ACCELERATOR, TINY_LAYER
from baselines.optimal import proving
from cost_models import Accelerator
from layers import Layer
from mapper import certificate as package
from mapper.certificate import Certificate, check_certificate
from mapper.certificate.replay import Grid
from tests.mapper import certificates
from tests.mapper.certificates import (
    EDGE,
    Lies,
    assert_kept,
    assert_no_optimum,
    assert_refused,
    certified,
    changed,
    edit,
    imports_of,
    in_problem,
    spec_of,
)
from tests.mapper.commands import printed, said

TERMS = {
    *(f"mapper.staying.{name}" for name in ("network_result", "placement", "rooms", "shape_facts")),
    *(f"mapper.fusing.{name}" for name in ("axis_plan", "fused_group", "group_terms")),
}
"""Modules that tell a network's problem, which search and checker share."""
CONV = Layer("conv", "CONV", 6, 4, 9, 7, 3, 3, stride=2)
TAPS = Layer("taps", "CONV", 2, 2, 5, 4, 3, 2)
FEW = Layer("few", "CONV", 2, 2, 3, 3, 2, 2)
SMALL = Accelerator(2, 64, 400, 2, 1)


@pytest.fixture(autouse=True, scope="module")
def _few_first_samples() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proving, "FIRST_SAMPLES", 100)
        yield


@pytest.fixture(scope="module")
def good() -> Certificate:
    return certified(spec_of(layers.parse("mobilenetv2.2")))


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
    truth = baselines.load("optimal").search(SPECS[name].build(), 500, 0).best_value
    assert certificate.value == pytest.approx(truth, rel=1e-9)


def test_a_proof_that_was_stopped_certifies_its_gap() -> None:
    certificate = certified(spec_of(layers.parse("mobilenetv2.2")), gap=0.2)
    checked = check_certificate(certificate)
    assert 0 < checked.gap <= 0.2 + 1e-9
    boundless = certified(spec_of(layers.parse("mobilenetv2.2")), timeout=0.0)
    assert check_certificate(boundless).gap > 0


def test_an_empty_space_is_certified() -> None:
    chip = replace(EDGE, l1_bytes=4)
    certificate = certified(spec_of(CONV, chip))
    assert math.isinf(certificate.value)
    assert certificate.mapping is None
    assert check_certificate(certificate).ruled_out == len(certificate.tree)


def test_a_file_keeps_a_certificate_bit_by_bit(good: Certificate, tmp_path: Path) -> None:
    assert_kept(good, tmp_path)


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


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, good: Certificate) -> None:
    assert_refused(check_certificate, LIES[lie], good)


def test_a_worse_mapping_with_its_own_value_does_not_pass(good: Certificate) -> None:
    assert_no_optimum(good, 1.01)


def test_the_checker_runs_nothing_of_the_solver() -> None:
    for path in Path(package.__file__).parent.glob("*.py"):
        modules = {module for module, _ in imports_of(path)}
        assert "baselines" not in {module.split(".")[0] for module in modules}, path
        shared = {module for module in modules if module.startswith(("mapper.f", "mapper.staying"))}
        assert shared <= TERMS, path


def test_the_command_line_writes_and_checks_certificates(tmp_path: Path) -> None:
    path = tmp_path / "proof.cert"
    assert f"wrote {path}" in said(f"search -l mobilenetv2.2 --certificate {path}")[2]
    checked = printed(f"validate --certificate {path}")
    assert "mobilenetv2.2 on edge: 2.14493 J·cycles is the optimum" in checked
    assert "together all 32,645,423,482,011,648 mappings" in checked
    edit(path, "certificate.json", size="7")
    checked = printed(f"validate --certificate {path}", code=1)
    assert "✗" in checked
    assert "7 mappings are claimed" in checked
    assert '"holds": false' in printed(f"validate --certificate {path} --json", code=1)
