"""A network's certificate: those of its shapes in one file, and what they say of the whole.

The file is a zip of ``network.json``, the claim, and ``shape-1.cert`` and so on, a certificate as a
file of its own for each distinct shape. Latency and energy of a network are sums over its layers,
and so are their bounds. Its EDP is the product of both sums; by Cauchy and Schwarz that is at least
the square of the sum of the roots of the layers' EDPs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

import layers
from mapper.certificate.certificate_file import Certificate, CertificateError
from mapper.certificate.checker import Checked, check_parts, costs_of
from mapper.certificate.claim_file import Finite, Size
from mapper.certificate.looks import ROUNDING
from mapper.certificate.parts_file import PartsClaim, PartsFile
from mapper.search.network_runs import shapes
from marl_common import Text, brief

NETWORK_OBJECTIVES = ("latency", "energy", "edp")
"""Objectives of layers that say something of the whole."""


class NetworkClaim(PartsClaim):
    """What a network's certificate claims."""

    network: Text
    counts: Annotated[list[Size], Field(min_length=1, max_length=10_000)]
    value: Finite
    bound: Finite


FILE = PartsFile(
    "network.json", NetworkClaim, "marl-mapper network certificate", lambda claim: len(claim.counts)
)


@dataclass(frozen=True)
class NetworkCertificate:
    """A claim on a network, and its shapes' certificates.

    Args:
        network: What the network is called.
        counts: How many layers have each shape.
        parts: The certificate of each shape.
        value: The whole's objective with the mappings of the parts.
        bound: No choice of mappings has a lower one.
    """

    network: str
    counts: tuple[int, ...]
    parts: tuple[Certificate, ...]
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """How far above the optimum `value` may be, as a share."""
        return max(0.0, self.value / self.bound - 1.0) if self.bound > 0 else math.inf

    @property
    def is_known(self) -> bool:
        """Whether the zoo has a network of this name with these shapes, as often."""
        if not layers.is_network(self.network):
            return False
        own = [part.problem.layer.renamed("") for part in self.parts]
        known = {shape.layer.renamed(""): shape.count for shape in shapes(self.network)}
        return len(set(own)) == len(own) and known == dict(zip(own, self.counts, strict=True))


def combine(
    network: str, counts: Sequence[int], parts: Sequence[Certificate]
) -> NetworkCertificate:
    """What certificates of shapes say of a network.

    Raises:
        CertificateError: One has no mapping, or they are not of one chip, model and objective.
    """
    first = parts[0].problem
    if first.objective not in NETWORK_OBJECTIVES:
        raise CertificateError(
            f"objective: {brief(first.objective)} of layers says nothing of a network; expected "
            f"{', '.join(NETWORK_OBJECTIVES)}"
        )
    for number, part in enumerate(parts, 1):
        spec = part.problem
        for name in ("accelerator", "objective", "cost_model", "cost_model_options", "limits"):
            if getattr(spec, name) != getattr(first, name):
                raise CertificateError(f"shape-{number}: its {name} is not that of shape-1")
        if part.mapping is None:
            raise CertificateError(f"shape-{number}: it has no mapping, so the network has none")
    bounds = [part.bound for part in parts]
    if first.objective == "edp":
        figures = [costs_of(part.mapping, part.problem.build()) for part in parts if part.mapping]
        latency, energy = (
            math.fsum(n * one[i] for n, one in zip(counts, figures, strict=True)) for i in (0, 1)
        )
        roots = math.fsum(n * math.sqrt(b) for n, b in zip(counts, bounds, strict=True))
        value, bound = latency * energy, roots * roots
    else:
        value = math.fsum(n * part.value for n, part in zip(counts, parts, strict=True))
        bound = math.fsum(n * b for n, b in zip(counts, bounds, strict=True))
    return NetworkCertificate(network, tuple(counts), tuple(parts), value, min(bound, value))


def check_network(certificate: NetworkCertificate) -> list[Checked]:
    """Check a network's certificate: every part, and the combination worked out again.

    Raises:
        CertificateError: It does not hold; says what is wrong.
    """
    if layers.is_network(certificate.network) and not certificate.is_known:
        raise CertificateError(
            f"network: the shapes and how many layers have each are not those of "
            f"{certificate.network}"
        )
    checked = check_parts(certificate.parts)
    again = combine(certificate.network, certificate.counts, certificate.parts)
    if not math.isclose(certificate.value, again.value, rel_tol=ROUNDING):
        raise CertificateError(
            f"value: {certificate.value:.9g} is claimed, the parts come to {again.value:.9g}"
        )
    if certificate.bound > again.bound * (1 + ROUNDING):
        raise CertificateError(
            f"bound: {certificate.bound:.9g} is claimed, the parts' come to {again.bound:.9g}"
        )
    return checked


def write_network(path: Path, certificate: NetworkCertificate) -> None:
    """Write a network's certificate, whole or not at all; the same gives the same bytes.

    Raises:
        OSError: The file cannot be written.
    """
    claim = {
        "network": certificate.network,
        "counts": list(certificate.counts),
        "value": certificate.value,
        "bound": certificate.bound,
    }
    FILE.write(path, claim, certificate.parts)


def read_network(path: Path) -> NetworkCertificate:
    """Read a network's certificate; that it is whole is checked, not that it holds.

    Raises:
        CertificateError: It is damaged.
    """
    claim, _, parts = FILE.read(path)
    return NetworkCertificate(claim.network, tuple(claim.counts), parts, claim.value, claim.bound)
