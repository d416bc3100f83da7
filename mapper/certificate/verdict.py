"""What a certificate says, in words that are true of the problem in its file."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import cost_models
import layers
from cost_models import CHAINS, PRESETS
from maestro_env import Objective
from mapper.certificate.certificate_file import Certificate
from mapper.certificate.checker import Checked
from mapper.certificate.kept_certificate import KeptCertificate
from mapper.certificate.looks import MOST_MACS
from mapper.certificate.network_certificate import NetworkCertificate
from marl_common import engineering, printable

PROVEN = 1e-9
"""Gaps below it are rounding."""


def claim_of(certificate: Certificate) -> str:
    """The claim in one sentence: objective, layer, chip, value."""
    spec = certificate.problem
    objective = Objective.parse(spec.objective)
    what = f"{objective.name} of {layer_of(certificate)} on {chip_of(certificate)}"
    if not math.isfinite(certificate.value):
        return f"{what}: no mapping is feasible"
    value = engineering(certificate.value, objective.unit, digits=6)
    return f"{what}: {value} {_how_near(certificate.gap)}"


def network_claim(certificate: NetworkCertificate) -> str:
    """The claim on a network in one sentence; it is named where the zoo has it."""
    first = certificate.parts[0].problem
    many = f"{sum(certificate.counts):,} layers of {len(certificate.counts)} shapes"
    return _whole_claim(certificate, many, first.objective)


def kept_claim(certificate: KeptCertificate) -> str:
    """The claim on a network whose tensors may stay, or layers be fused, in one sentence."""
    fused = "" if certificate.groups is None else " and which may be fused"
    many = f"{len(certificate.graph.layers):,} layers whose tensors may stay in L2{fused}"
    return _whole_claim(certificate, many, certificate.objective)


def _whole_claim(
    certificate: NetworkCertificate | KeptCertificate, many: str, objective: str
) -> str:

    found = Objective.parse(objective)
    what = f"{certificate.network}, {many}," if certificate.is_known else many
    value = engineering(certificate.value, found.unit, digits=6)
    near = _how_near(certificate.gap)
    return f"{found.name} of {what} on {chip_of(certificate.parts[0])}: {value} {near}"


def _how_near(gap: float) -> str:
    """How near the optimum a value is."""
    if gap < PROVEN:
        return "is the optimum"
    if not math.isfinite(gap):
        return "is the value of a mapping; how near the optimum is not proven"
    return f"is at most {_rounded_up(100 * gap)} % above the optimum"


def problem_of(certificate: Certificate) -> str:
    """Shape, what differs from the defaults in model and limits, and the space, in one line."""
    spec = certificate.problem
    problem = spec.build()
    usual = getattr(cost_models.load(spec.cost_model), "options", {})
    options = getattr(problem.cost_model, "options", {})
    given = {name: value for name, value in options.items() if usual.get(name) != value}
    model = _said({"cost model": spec.cost_model} | given)
    limits = f"; limits {_said(spec.limits)}" if spec.limits else ""
    space = {
        name: value for name, value in problem.space.options.items() if value not in ([], {}, "")
    }
    return printable(f"{layers.inline(spec.layer)}; {model}{limits}; space {_said(space)}")


def layer_of(certificate: Certificate) -> str:
    """The layer's name where the zoo has this layer by it, else its shape."""
    layer, name = certificate.problem.layer, certificate.problem.layer_name
    try:
        known = layers.get(name)
    except layers.LayerError:
        return layers.inline(layer)
    return name if replace(known, name=layer.name) == layer else layers.inline(layer)


def chip_of(certificate: Certificate) -> str:
    """The chip's name where the library has this chip by it, else its fingerprint."""
    chip, name = certificate.problem.accelerator, certificate.problem.accelerator_name
    if name in {**PRESETS, **CHAINS} and {**PRESETS, **CHAINS}[name] == chip:
        return name
    fields = {key: value for key, value in chip.to_dict().items() if key != "name"}
    text = json.dumps(fields, sort_keys=True)
    return f"chip {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _said(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _rounded_up(share: float) -> str:
    """At least the share, in three digits."""
    digits = 2 - math.floor(math.log10(share))
    return f"{math.ceil(share * 10**digits) / 10**digits:.6g}" if digits < 300 else f"{share:.3g}"


def said_of(checked: Checked) -> Iterator[str]:
    """What was checked, line by line."""
    enumerated, random, simulated = checked.beside
    if checked.limits:
        said = ", ".join(f"{name} {count:,}" for name, count in checked.limits.items() if count)
        yield f"boxes without a mapping by limit: {said}"
    yield (
        f"{checked.boxes:,} boxes: {checked.ruled_out:,} ruled out by their bounds, "
        f"{checked.settled:,} structures evaluated in {checked.evaluated:,} mappings; together "
        f"all {checked.size:,} mappings of the space ({checked.seconds:.2f} s)"
    )
    share = checked.alone / max(checked.ruled_out, 1)
    yield (
        f"the checker's own relaxation rules out {checked.alone:,} of them by itself ({share:.1%})"
    )
    if not enumerated:
        yield f"{random:,} random mappings: none is below the bound"
        return
    executed = f"{simulated:,} random ones cost the same in the simulator"
    if not simulated:
        executed = f"the simulator was not asked: the layer has more than {MOST_MACS:,} MACs"
    yield f"all {enumerated:,} mappings enumerated: none is below the bound; {executed}"
