"""The certificate of tensors that stay, from the proofs that a search asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from layers import Layer
from mapper.certificate.certificate_file import CertificateError
from mapper.certificate.fused_claim import FusedClaim
from mapper.certificate.kept_certificate import KeptCertificate, KeptTerms, PartTerms
from mapper.certificate.kept_checker import bounds_of, groups_of, placement_of
from mapper.certificate.making import make_certificate
from mapper.staying.network_result import LayerPart

if TYPE_CHECKING:
    from baselines import Proof
    from mapper.certificate.certificate_file import Certificate
    from mapper.certificate.kept_certificate import LoopMapping
    from mapper.search.problem_spec import ProblemSpec
    from mapper.staying.kept_network import KeptNetwork
    from mapper.staying.network_result import NetworkResult
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
        CertificateError: A layer has no mapping, for a reason that no limit is; or nothing had to
            be proven.
    """
    several = {one.renamed("") for one in kept.graph.layers if one.repeats > 1}
    every = [spec, *(replace(spec, layer=one) for one in sorted(several, key=repr))]
    terms = KeptTerms.of([one.complete() for one in every])
    proofs = {_terms_of(proof): (proof, result) for proof, result in proved if _is_proven(result)}
    if not proofs:
        raise CertificateError("proof: nothing had to be proven for such a gap; give a smaller one")
    parts = [_part(terms, own, *one, proof_of) for own, one in proofs.items()]
    found = KeptCertificate(
        network=kept.network,
        graph=kept.graph,
        objective=kept.objective,
        counted=kept.counted,
        stays=tuple(room.tensors[0] for room in kept.staying),
        mappings=tuple(terms.canonical(*one) for one in _mapped(kept.best)),
        prices=kept.best.prices,
        parts=tuple(parts),
        value=kept.best.value,
        bound=0.0,
        groups=None if kept.tiles is None else tuple(_fused(kept.tiles)),
    )
    placement = placement_of(found)
    bounds = bounds_of(found, placement, groups_of(found, placement))
    wanted = math.inf if kept.tiles is None else kept.tiles.bound
    bound = bounds.of(found.objective, found.prices, wanted)
    return replace(found, bound=min(bound, found.value, wanted))


def _mapped(best: NetworkResult) -> Iterator[tuple[Layer, LoopMapping]]:
    """Layers and parts of fused ones, with their mappings."""
    for step in best.steps:
        layer, known = step.node.layer, step.known
        pairs = [(LayerPart(layer, step.resident, math.inf), known)] if layer and known else []
        for part, mapped in pairs if step.fused is None else step.fused.parts:
            if mapped.mapping is not None:
                yield part.layer, mapped.mapping


def _fused(best: NetworkResult) -> Iterator[FusedClaim]:
    """The groups of an answer."""
    numbers = sorted({step.fused.group for step in best.steps if step.fused})
    for number in numbers:
        steps = [(step.node.name, step.fused) for step in best.steps
                 if step.fused and step.fused.group == number]  # fmt: skip
        (first, how), (last, _) = steps[0], steps[-1]
        filters = tuple(name for name, one in steps if one.filter_stays)
        yield FusedClaim(first, last, how.tile, how.halo, how.keys, filters)


def _is_proven(result: Mapping[str, Any]) -> bool:
    """Whether a proof has something to certify: boxes, and a mapping or that there is none."""
    return result["status"] == "empty" or (
        result["status"] != "searched" and result["mapping"] is not None
    )


def _terms_of(proof: StayProof) -> PartTerms:
    return PartTerms(proof.layer.renamed(""), proof.resident, proof.room, proof.weights)


def _part(
    terms: KeptTerms, own: PartTerms, proof: StayProof, result: dict[str, Any], proof_of: ProofOf
) -> Certificate:
    """The certificate of what a proof told."""
    part = terms.spec(own, proof.layer.name)
    return make_certificate(part, proof_of(part, result))
