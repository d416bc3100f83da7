"""The certificate of tensors that stay, from the proofs that a search asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mapper.certificate.kept_certificate import KeptCertificate, KeptTerms, PartTerms
from mapper.certificate.kept_checker import bounds_of, placement_of
from mapper.certificate.making import make_certificate

if TYPE_CHECKING:
    from baselines import Proof
    from mapper.certificate.certificate_file import Certificate
    from mapper.search.problem_spec import ProblemSpec
    from mapper.staying.kept_network import KeptNetwork
    from mapper.staying.stay_proof import StayProof

Proved = Sequence[tuple["StayProof", dict[str, Any]]]
"""What a search asked for, and what it was told."""
ProofOf = Callable[["ProblemSpec", dict[str, Any]], "Proof"]
"""A problem's proof, from what it told a search."""


def make_kept(
    kept: KeptNetwork, spec: ProblemSpec, proved: Proved, proof_of: ProofOf
) -> KeptCertificate:
    """The certificate of an answer.

    What was searched without a proof (on a list of levels) has the model's bounds, which need none.

    Args:
        kept: The answer, of one run.
        spec: The problem of the network's first layer.
        proved: The proofs that the search asked for.
        proof_of: A proof from what it told.

    Raises:
        CertificateError: A layer has no mapping, for a reason that no limit is.
    """
    terms = KeptTerms.of(spec.complete())
    parts = [
        _part(terms, proof, result, proof_of) for proof, result in proved if _is_proven(result)
    ]
    mappings = (
        (step.node.layer, step.known.mapping) for step in kept.keep.steps if step.known is not None
    )
    found = KeptCertificate(
        network=kept.network,
        graph=kept.graph,
        objective=kept.objective,
        counted=kept.counted,
        stays=tuple(room.tensors[0] for room in kept.staying),
        mappings=tuple(terms.canonical(layer, one) for layer, one in mappings if layer and one),
        prices=kept.keep.prices,
        parts=tuple(parts),
        value=kept.keep.value,
        bound=0.0,
    )
    bound = bounds_of(found, placement_of(found)).of(found.objective, found.prices)
    return replace(found, bound=min(bound, found.value))


def _is_proven(result: Mapping[str, Any]) -> bool:
    """Whether a proof has something to certify: boxes, and a mapping or that there is none."""
    return result["status"] == "empty" or (
        result["status"] != "searched" and result["mapping"] is not None
    )


def _part(
    terms: KeptTerms, proof: StayProof, result: dict[str, Any], proof_of: ProofOf
) -> Certificate:
    """The certificate of what a proof told."""
    own = PartTerms(proof.layer.renamed(""), proof.resident, proof.room, proof.weights)
    part = terms.spec(own, proof.layer.name)
    return make_certificate(part, proof_of(part, result))
