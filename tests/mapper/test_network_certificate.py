"""Certificates of whole networks: what their parts come to, and that no edit passes."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cost_models import PRESETS
from layers import Layer
from mapper.certificate.network_certificate import (
    NetworkCertificate,
    check_network,
    combine,
    read_network,
    write_network,
)
from tests.mapper.certificates import (
    Lies,
    assert_refused,
    certified,
    changed,
    edit,
    read_again,
    scaled,
    spec_of,
)
from tests.mapper.commands import json_of, printed

pytestmark = pytest.mark.usefixtures("quick_proofs")
SHAPES = (Layer.gemm("one", 6, 8, 4), Layer("two", "CONV", 4, 3, 6, 6, 3, 3))


def network(objective: str) -> NetworkCertificate:
    """The certificate of a network of five small layers of two shapes."""
    parts = [certified(spec_of(layer, objective=objective)) for layer in SHAPES]
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


def test_edp_is_the_product_of_sums_and_its_bound_holds_for_other_mappings(good, tmp_path):
    """No choice of random mappings of the layers is below the bound of the whole."""
    assert good.bound <= good.value
    again = read_again(write_network, read_network, good, tmp_path)
    assert again.counts == good.counts
    check_network(again)
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


def with_part(change: Callable[..., object]) -> Callable[[NetworkCertificate], object]:
    return lambda whole: replace(whole, parts=(whole.parts[0], change(whole.parts[1])))


LIES: Lies = {
    "a lower value": (scaled(value=0.9), "value: .* the parts come to"),
    "a higher bound": (lambda w: replace(w, bound=w.value), "bound: .* the parts' come to"),
    "another count": (changed(counts=(1, 3)), "value: .* the parts come to"),
    "a network of the zoo": (changed(network="resnet18"), "not those of resnet18"),
    "a part's value": (with_part(lambda p: replace(p, value=p.value / 2)), "shape-2: "),
    "a part's bound": (
        with_part(lambda p: replace(p, value=math.inf, bound=math.inf, mapping=None)),
        "shape-2: ",
    ),
    "a part of another chip": (
        with_part(lambda p: certified(replace(p.problem, accelerator=PRESETS["cloud"]))),
        "shape-2: its accelerator is not that of shape-1",
    ),
    "a part of another objective": (
        with_part(lambda p: certified(replace(p.problem, objective="energy"))),
        "shape-2: its objective is not that of shape-1",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_passes(lie: str, good: NetworkCertificate) -> None:
    assert_refused(check_network, LIES[lie], good)


def test_the_command_line_writes_and_checks_them(tmp_path: Path) -> None:
    file, path = tmp_path / "net.yaml", tmp_path / "whole.cert"
    lines = [f"  - {{name: l{i}, kind: gemm, M: 6, N: 8, K: {4 + i // 2}}}" for i in range(4)]
    file.write_text("\n".join(["layers:", *lines]) + "\n")
    search = f"search --network {file} -o energy --certificate {path}"
    printed(f"{search} --store {tmp_path / 'r.sqlite'}")
    found = json_of(f"validate --certificate {path}")
    assert found["holds"]
    assert sum(found["counts"]) == 4
    assert "4 layers of 2 shapes" in printed(f"validate --certificate {path}")
    edit(path, "network.json", bound=found["value"] / 2, value=found["value"] / 2)
    assert "the parts come to" in printed(f"validate --certificate {path}", code=1)
