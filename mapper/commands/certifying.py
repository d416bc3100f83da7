"""Certificates of what a search found: of a layer, and of all shapes of a network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import baselines
from baselines import Proof
from cost_models import Chain, ChainMapping, mapping_from
from mapper.certificate.certificate_file import Certificate, CertificateError, write_certificate
from mapper.certificate.kept_certificate import KeptCertificate, write_kept
from mapper.certificate.kept_making import Proved, make_kept
from mapper.certificate.making import make_certificate
from mapper.certificate.network_certificate import NetworkCertificate, combine, write_network
from mapper.commands.proof_options import ProofOptions
from mapper.explaining.standing import Standing, standing_kept
from mapper.search.found import Found
from mapper.search.network_runs import ShapeResult
from mapper.search.problem_spec import ProblemSpec
from mapper.staying.kept_network import KeptNetwork
from marl_runs import tell

CHECK = "check it with mapper validate --certificate"


def certify_layer(found: Found, standing: Standing | None, path: Path, after: ProofOptions) -> None:
    """Write the certificate of a layer; nothing after Ctrl-C."""
    if found.interrupted or (standing is not None and standing.status == "interrupted"):
        tell(f"{path} is not written: Ctrl-C ended the proof")
        return
    try:
        certificate = _certificate(found, standing, after)
    except KeyboardInterrupt:
        tell(f"{path} is not written: Ctrl-C")
        raise
    except CertificateError as error:  # the answer, or that there is none, is told all the same
        tell(f"{path} is not written: {error}")
        return
    write_certificate(path, certificate)
    tell(f"wrote {path} ({path.stat().st_size:,} B); {CHECK}")


def certify_network(
    network: str, results: Sequence[ShapeResult], path: Path, after: ProofOptions
) -> None:
    """Write the certificate of a network; nothing where a shape has no mapping."""
    parts = []
    for result in results:
        found = result.found
        if found is None or result.error or found.interrupted:
            tell(f"{path} is not written: {result.shape.layer.name}: {result.error or 'Ctrl-C'}")
            return
        try:
            parts.append(_certificate(found, standing_kept(found), after))
        except KeyboardInterrupt:
            tell(f"{path} is not written: Ctrl-C")
            raise
    whole = combine(network, [result.shape.count for result in results], parts)
    write_network(path, whole)
    tell(_wrote(path, whole))


def certify_kept(kept: KeptNetwork, spec: ProblemSpec, proved: Proved, path: Path) -> None:
    """Write the certificate of a network whose tensors may stay."""
    try:
        whole = make_kept(kept, spec, proved, proven_again)
    except KeyboardInterrupt:
        tell(f"{path} is not written: Ctrl-C")
        raise
    write_kept(path, whole)
    tell(_wrote(path, whole))


def proven_again(spec: ProblemSpec, result: Mapping[str, Any]) -> Proof:
    """A proof from what it told: on a chip of two levels done once more, so that it is recorded."""
    start = None if result["mapping"] is None else mapping_from(result["mapping"])
    value = math.inf if start is None else result["best_value"]
    if isinstance(spec.accelerator, Chain):
        return Proof(start, value, result["bound"], result["status"])
    gap = value / result["bound"] - 1 if start and result["bound"] else 0.0
    return baselines.prove(spec.build(), start=start, gap=gap, record=True)


def _wrote(path: Path, whole: NetworkCertificate | KeptCertificate) -> str:
    return (
        f"wrote {path} ({path.stat().st_size:,} B): {whole.value:.6g}, at most {whole.gap:.2%} "
        f"above the optimum; {CHECK}"
    )


def _certificate(found: Found, standing: Standing | None, after: ProofOptions) -> Certificate:
    """Prove the best value known once more, so that its tree is recorded."""
    better = None if standing is None else standing.mapping
    start = better or (None if found.best is None else found.best[0])
    if standing is not None and isinstance(start, ChainMapping):  # it needs the bound alone
        proof = Proof(start, standing.value, standing.bound, "boxes")
    else:
        gap = after.gap or 0.0
        proof = baselines.prove(
            found.problem, start=start, gap=gap, timeout=after.timeout, record=True
        )
    return make_certificate(found.run.problem, proof)
