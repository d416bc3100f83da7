"""Certificates of whole networks: what their parts come to, and that no edit passes."""

import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import layers
from baselines import prove
from cost_models import PRESETS
from layers import Layer
from mapper import ProblemSpec
from mapper.certificate import (
    CertificateError,
    NetworkCertificate,
    check_network,
    combine,
    make_certificate,
    read_network,
    write_network,
)
from tests.mapper.commands import json_of
from tests.mapper.test_chain_search import mapper

SHAPES = (Layer.gemm("one", 6, 8, 4), Layer("two", "CONV", 4, 3, 6, 6, 3, 3))


def network(objective: str, chip: str = "edge") -> NetworkCertificate:
    """The certificate of a network of five small layers of two shapes."""
    specs = [ProblemSpec(one, one.name, PRESETS[chip], chip, objective) for one in SHAPES]
    parts = [make_certificate(spec, prove(spec.build(), record=True)) for spec in specs]
    return combine("mine", [2, 3], parts)


@pytest.fixture(scope="module")
def good() -> NetworkCertificate:
    return network("edp")


@pytest.mark.parametrize("objective", ["latency", "energy"])
def test_sums_of_layers_are_the_optimum_of_the_network(objective: str) -> None:
    whole = network(objective)
    values = [part.value for part in whole.parts]
    assert whole.value == pytest.approx(2 * values[0] + 3 * values[1])
    assert whole.gap < 1e-9
    assert len(check_network(whole)) == 2


def test_edp_is_the_product_of_sums_and_its_bound_holds_for_other_mappings(good):
    """No choice of random mappings of the layers is below the bound of the whole."""
    assert good.bound <= good.value
    check_network(good)
    figures = []
    for part in good.parts:
        problem = part.problem.build()
        costs = problem.look(problem.space.sample(2_000, 0)).costs
        fits = costs.feasible
        figures.append((costs.column("latency_cycles")[fits], costs.column("energy_nj")[fits]))
    (one_time, one_energy), (two_time, two_energy) = figures
    time = 2 * one_time[:, None] + 3 * two_time[None]
    energy = 2 * one_energy[:, None] + 3 * two_energy[None]
    assert (time * energy).min() >= good.bound * (1 - 1e-9)


def test_a_file_keeps_it_bit_by_bit(good: NetworkCertificate, tmp_path: Path) -> None:
    write_network(tmp_path / "a", good)
    again = read_network(tmp_path / "a")
    write_network(tmp_path / "b", again)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert again.counts == good.counts
    check_network(again)


def with_part(change: Callable[..., object]) -> Callable[[NetworkCertificate], object]:
    return lambda whole: replace(whole, parts=(whole.parts[0], change(whole.parts[1])))


LIES: dict[str, tuple[Callable[[NetworkCertificate], object], str]] = {
    "a lower value": (lambda w: replace(w, value=w.value * 0.9), "value: .* the parts come to"),
    "a higher bound": (lambda w: replace(w, bound=w.value), "bound: .* the parts' come to"),
    "another count": (lambda w: replace(w, counts=(1, 3)), "value: .* the parts come to"),
    "a network of the zoo": (lambda w: replace(w, network="resnet18"), "not those of resnet18"),
    "a part's value": (with_part(lambda p: replace(p, value=p.value / 2)), "shape-2: "),
    "a part's bound": (
        with_part(lambda p: replace(p, value=math.inf, bound=math.inf, mapping=None)),
        "shape-2: ",
    ),
    "a part of another chip": (
        lambda w: replace(w, parts=(w.parts[0], network("edp", "cloud").parts[1])),
        "shape-2: its accelerator is not that of shape-1",
    ),
    "a part of another objective": (
        lambda w: replace(w, parts=(w.parts[0], network("energy").parts[1])),
        "shape-2: its objective is not that of shape-1",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, good: NetworkCertificate) -> None:
    change, says = LIES[lie]
    with pytest.raises(CertificateError, match=says) as caught:
        check_network(change(good))
    assert "\n" not in str(caught.value)


def test_the_command_line_writes_and_checks_them(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    lines = [f"  - {{name: l{i}, kind: gemm, M: 6, N: 8, K: {4 + i // 2}}}" for i in range(4)]
    file.write_text("\n".join(["layers:", *lines]) + "\n")
    path = tmp_path / "whole.cert"
    words = ("search", "--network", str(file), "-o", "energy", "--certificate", str(path))
    mapper(*words, "--store", str(tmp_path / "r.sqlite"))
    found = json_of("validate", "--certificate", str(path))
    assert found["holds"]
    assert sum(found["counts"]) == len(layers.layers_of(str(file)))
    assert "4 layers of 2 shapes" in mapper("validate", "--certificate", str(path))
    with zipfile.ZipFile(path) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    claim = json.loads(parts["network.json"])
    claim["bound"] = claim["value"] = claim["value"] / 2
    with zipfile.ZipFile(path, "w") as whole:
        for name, part in (parts | {"network.json": json.dumps(claim).encode()}).items():
            whole.writestr(name, part)
    assert "the parts come to" in mapper("validate", "--certificate", str(path), code=1)
