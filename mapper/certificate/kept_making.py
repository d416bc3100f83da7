"""The certificate of tensors that stay, from the proofs that a search asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cost_models import Mapping, mapping_from
from mapper.certificate.kept_certificate import KeptCertificate, KeptTerms, PartTerms
from mapper.certificate.kept_checker import bounds_of, placement_of
from mapper.certificate.making import make_certificate

if TYPE_CHECKING:
    from baselines import Proof
    from mapper.certificate.certificate_file import Certificate
    from mapper.problem_spec import ProblemSpec
    from mapper.staying.kept_network import KeptNetwork
    from mapper.staying.stay_proof import StayProof

Proved = Sequence[tuple["StayProof", dict[str, Any]]]
"""What a search asked for, and what it was told."""


def make_kept(
    kept: KeptNetwork, spec: ProblemSpec, counted: bool, proved: Proved, prove: Callable[..., Proof]
) -> KeptCertificate:
    """The certificate of an answer; every proof is done again, so that its tree is recorded.

    Args:
        kept: The answer, of one run on a chip of two levels.
        spec: The problem of the network's first layer.
        counted: Whether nodes without MACs cost what they move.
        proved: The proofs that the search asked for.
        prove: Does one again, as `baselines.prove` does.

    Raises:
        CertificateError: A layer has no mapping, for a reason that no limit is.
    """
    terms = KeptTerms.of(spec.complete())
    parts = [_part(terms, proof, result, prove) for proof, result in proved]
    mappings = (step.known.mapping for step in kept.keep.steps if step.known is not None)
    found = KeptCertificate(
        network=kept.network,
        graph=kept.graph,
        objective=kept.objective,
        counted=counted,
        stays=tuple(room.tensors[0] for room in kept.staying),
        mappings=tuple(mapping for mapping in mappings if isinstance(mapping, Mapping)),
        prices=kept.keep.prices,
        parts=tuple(parts),
        value=kept.keep.value,
        bound=0.0,
    )
    bound = bounds_of(found, placement_of(found)).of(found.objective, found.prices)
    return replace(found, bound=min(bound, found.value))


def _part(
    terms: KeptTerms, proof: StayProof, result: dict[str, Any], prove: Callable[..., Proof]
) -> Certificate:
    """The certificate of what a proof told."""
    shape = proof.layer.renamed("")
    own = PartTerms(shape, proof.resident, proof.room, proof.weights)
    part = terms.spec(own, proof.layer.name)
    start = None if result["mapping"] is None else mapping_from(result["mapping"])
    gap = result["best_value"] / result["bound"] - 1 if start and result["bound"] else 0.0
    again = prove(part.build(), start=start, gap=gap, record=True)
    return make_certificate(part, again)
