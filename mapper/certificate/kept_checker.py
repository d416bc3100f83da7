"""The checker of tensors that stay, and of fused layers: the parts, the schedule, the bound."""

from __future__ import annotations

from dataclasses import replace

from layers import Layer, LayerKind, is_network
from mapper.certificate.certificate_file import CertificateError
from mapper.certificate.checker import Checked, check_parts
from mapper.certificate.group_bound import NetworkGroups
from mapper.certificate.kept_bound import KeptBound
from mapper.certificate.kept_certificate import KeptCertificate, KeptTerms
from mapper.certificate.kept_schedule import KeptSchedule
from mapper.certificate.looks import ROUNDING
from mapper.staying.placement import Placement


def check_kept(certificate: KeptCertificate) -> list[Checked]:
    """Check a certificate: the schedule's value, the bound that its parts come to, and the parts.

    Raises:
        CertificateError: It does not hold; says what is wrong.
    """
    try:
        _check_claim(certificate)
    except CertificateError:
        raise
    except ValueError as error:  # what layers, chip or model find out when they are asked
        raise CertificateError(f"problem: {error}") from None
    return check_parts(certificate.parts)


def _check_claim(certificate: KeptCertificate) -> None:
    """Check what follows from the parts, if they hold."""
    if is_network(certificate.network) and not certificate.is_known:
        raise CertificateError(f"network: it is not {certificate.network} of the zoo")
    _check_terms(certificate.terms)
    placement = placement_of(certificate)
    groups = groups_of(certificate, placement)
    bounds = bounds_of(certificate, placement, groups)
    KeptSchedule(certificate, placement, groups).check_value()
    if certificate.bound > certificate.value:
        raise CertificateError(
            f"bound: {certificate.bound:.9g} is above the value {certificate.value:.9g}"
        )
    bound = bounds.of(certificate.objective, certificate.prices, certificate.bound)
    if not certificate.bound <= bound * (1 + ROUNDING):
        raise CertificateError(
            f"bound: {certificate.bound:.9g} is claimed, the parts' come to {bound:.9g}"
        )


def placement_of(certificate: KeptCertificate) -> Placement:
    """The network on the chip of the parts."""
    plain = certificate.terms.plain
    return Placement(
        certificate.graph, plain.accelerator, plain.cost_model_options, certificate.counted
    )


def groups_of(certificate: KeptCertificate, placement: Placement) -> NetworkGroups | None:
    """The groups of layers that may be fused; None where none may."""
    if certificate.groups is None:
        return None
    return NetworkGroups(placement, certificate.terms.plain, certificate.counted)


def bounds_of(
    certificate: KeptCertificate, placement: Placement, groups: NetworkGroups | None = None
) -> KeptBound:
    """What the parts say of the network.

    Raises:
        CertificateError: A part is of another chip, model, space, or of no layer of the network,
            nor of a part of one where layers may be fused.
    """
    terms = certificate.terms
    shapes = {layer.renamed("") for layer in certificate.graph.layers}
    cut = set() if groups is None else {one for layer in shapes for one in _uncut(layer)}
    parts = []
    for number, part in enumerate(certificate.parts, 1):
        try:
            found = terms.terms_of(part.problem)
        except CertificateError as error:
            raise CertificateError(f"shape-{number}: {error}") from None
        if found.shape not in shapes and cut.isdisjoint(_uncut(found.shape)):
            raise CertificateError(f"shape-{number}: the network has no layer of its shape")
        parts.append((found, part.bound))
    return KeptBound(placement, terms, parts, groups)


def _uncut(layer: Layer) -> list[Layer]:
    """What a layer's parts in fused tiles have in common with it; a product's, cut either way."""
    if layer.kind is LayerKind.GEMM:
        return [replace(layer, Y=1, N=1, K=1), replace(layer, Y=1, N=1, C=1)]
    return [replace(layer, Y=layer.reach_y, X=layer.reach_x, padding=(0, 0, 0, 0))]


def _check_terms(terms: KeptTerms) -> None:
    """Check that a mapping with less in L2 is one with more in L2 too, and costs no less there."""
    plain = terms.plain
    if plain.cost_model != "exact":
        raise CertificateError("shape-1: expected the cost model exact, for which tensors stay")
    for option in ("full", "uneven"):
        if plain.space.get(option):
            raise CertificateError(f"shape-1: its space is {option}, expected one without {option}")
