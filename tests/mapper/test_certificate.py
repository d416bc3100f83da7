"""Certificates: they hold, their checker finds every lie, and it runs nothing of the solver."""

import ast
import json
import math
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import baselines
import cost_models
import layers
from baselines.conformance import TINY_ACCELERATOR, TINY_LAYER
from baselines.optimal import proving
from cost_models import Accelerator
from layers import Layer
from mapper import certificate as package
from mapper import cli
from mapper.certificate import (
    Certificate,
    CertificateError,
    check_certificate,
    make_certificate,
    read_certificate,
    write_certificate,
)
from mapper.search.problem_spec import ProblemSpec

EDGE = Accelerator.load("edge")
CONV = Layer("conv", "CONV", 6, 4, 9, 7, 3, 3, stride=2)
TAPS = Layer("taps", "CONV", 2, 2, 5, 4, 3, 2)
FEW = Layer("few", "CONV", 2, 2, 3, 3, 2, 2)
SMALL = Accelerator(2, 64, 400, 2, 1)


def spec_of(layer: Layer, chip: Accelerator = EDGE, **more: Any) -> ProblemSpec:
    options = dict(cost_models.load("exact").options)
    fields = {"objective": "edp", "cost_model_options": options} | more
    return ProblemSpec(layer, layer.name, chip, "chip", **fields).complete()


def certified(spec: ProblemSpec, **options: Any) -> Certificate:
    return make_certificate(spec, baselines.prove(spec.build(), record=True, **options))


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
    for name in ("a", "b"):
        write_certificate(tmp_path / name, good)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    again = read_certificate(tmp_path / "a")
    assert np.array_equal(again.tree, good.tree)
    assert replace(again, tree=good.tree) == good
    assert (tmp_path / "a").stat().st_size < 100_000


def first(tree: np.ndarray, kind: Callable[[np.ndarray], np.ndarray]) -> int:
    return int(np.flatnonzero(kind(tree))[0])


def rules_out_all(good: Certificate) -> Certificate:
    return replace(good, tree=np.full_like(good.tree[: _roots(good)], 255))


def _roots(good: Certificate) -> int:
    from mapper.certificate.replay import Grid

    return len(Grid(good.problem.build().space).allocations)


def with_byte(kind: Callable[[np.ndarray], np.ndarray], byte: int) -> Any:
    def change(good: Certificate) -> Certificate:
        tree = good.tree.copy()
        tree[first(tree, kind)] = byte
        return replace(good, tree=tree)

    return change


def other_mapping(good: Certificate) -> Certificate:
    assert good.mapping is not None
    return replace(good, mapping=replace(good.mapping, cluster_size=1))


LIES = {
    "a higher bound": (lambda c: replace(c, bound=c.bound * 1.01), "is above the value"),
    "a lower value": (
        lambda c: replace(c, value=c.value * 0.9, bound=c.bound * 0.9),
        r"value: .* is claimed, the model gives",
    ),
    "another mapping": (other_mapping, r"value: .* is claimed, the model gives"),
    "no mapping": (lambda c: replace(c, mapping=None), "there is none, but a value"),
    "a smaller space": (lambda c: replace(c, size=c.size // 2), "mappings are claimed"),
    "a tree that is cut": (lambda c: replace(c, tree=c.tree[:-1]), "some are missing"),
    "a tree with more": (
        lambda c: replace(c, tree=np.append(c.tree, np.uint8(255))),
        "1 boxes too many",
    ),
    "all ruled out at once": (rules_out_all, "below the claimed bound"),
    "a split ruled out": (with_byte(lambda t: t < 16, 255), "ruled out whose bound|too many"),
    "a box called evaluated": (
        with_byte(lambda t: t == 255, 254),
        "of several structures is called evaluated",
    ),
    "a byte without meaning": (with_byte(lambda t: t == 255, 77), "byte 77 has no meaning"),
    "another layer": (
        lambda c: replace(c, problem=replace(c.problem, layer=layers.parse("mobilenetv2.5"))),
        "mappings are claimed",
    ),
    "another chip": (
        lambda c: replace(c, problem=replace(c.problem, accelerator=replace(EDGE, noc_bw=8))),
        "the model gives",
    ),
    "a model without bounds": (
        lambda c: replace(
            c, problem=replace(c.problem, cost_model="maestro", cost_model_options={})
        ),
        "value: .*the model gives|offers no bounds",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, good: Certificate) -> None:
    change, says = LIES[lie]
    with pytest.raises(CertificateError, match=says):
        check_certificate(change(good))


def test_a_worse_mapping_with_its_own_value_does_not_pass(good: Certificate) -> None:
    """The tree proves a bound; nobody can claim a worse value as the optimum with it."""
    problem = good.problem.build()
    looked = problem.look(problem.space.sample(2000, 0))
    row = int(np.argsort(looked.values)[3])
    worse = replace(good, mapping=looked.mappings[row], value=float(looked.values[row]))
    assert check_certificate(worse).gap > 0.01  # it holds for what it says: a gap
    with pytest.raises(CertificateError):
        check_certificate(replace(worse, bound=worse.value))


def rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    with zipfile.ZipFile(path) as file:
        claim, tree = json.loads(file.read("certificate.json")), file.read("tree.bin")
    change(claim)
    target = path.with_suffix(".changed")
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("certificate.json", json.dumps(claim))
        file.writestr("tree.bin", tree)
    return target


def test_the_checker_runs_nothing_of_the_solver() -> None:
    for path in Path(package.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typing_only = {
            id(node)
            for block in ast.walk(tree)
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for node in ast.walk(block)
        }
        for node in ast.walk(tree):
            if id(node) in typing_only:
                continue
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "baselines" for name in names), path


def test_the_command_line_writes_and_checks_certificates(tmp_path: Path) -> None:
    path = tmp_path / "proof.cert"
    words = ["search", "-l", "mobilenetv2.2", "--certificate", str(path)]
    made = CliRunner().invoke(cli.app, words)
    assert made.exit_code == 0, made.output
    assert f"wrote {path}" in made.stderr
    checked = CliRunner().invoke(cli.app, ["validate", "--certificate", str(path)])
    assert checked.exit_code == 0, checked.output
    assert "mobilenetv2.2 on edge: 2.14493 J·cycles is the optimum" in checked.stdout
    assert "together all 32,645,423,482,011,648 mappings" in checked.stdout
    lie = rewritten(path, lambda claim: claim.update(size="7"))
    checked = CliRunner().invoke(cli.app, ["validate", "--certificate", str(lie)])
    assert checked.exit_code == 1
    assert "✗" in checked.stdout
    assert "7 mappings are claimed" in checked.stdout
    found = CliRunner().invoke(cli.app, ["validate", "--certificate", str(lie), "--json"])
    assert json.loads(found.stdout)["holds"] is False
