"""The checker of tensors that stay: every part, what the claimed schedule costs, and the bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from cost_models import ChainMapping
from layers import GraphNode, is_network
from mapper.certificate.certificate_file import CertificateError
from mapper.certificate.checker import Checked, check_certificate, costs_of
from mapper.certificate.kept_bound import KeptBound
from mapper.certificate.kept_certificate import KeptCertificate, KeptTerms, PartTerms
from mapper.certificate.looks import ROUNDING
from mapper.staying.placement import Placement
from mapper.staying.rooms import Stays, taken_bits
from mapper.staying.shape_facts import ENERGY
from marl_common import brief


def check_kept(
    certificate: KeptCertificate, on_part: Callable[[int], None] = lambda number: None
) -> list[Checked]:
    """Check a certificate: the schedule's value, the bound that its parts come to, and the parts.

    Args:
        certificate: The certificate.
        on_part: Called with the number of each part that holds.

    Raises:
        CertificateError: It does not hold; says what is wrong.
    """
    try:
        _check_claim(certificate)
    except CertificateError:
        raise
    except ValueError as error:  # what layers, chip or model find out when they are asked
        raise CertificateError(f"problem: {error}") from None
    checked = []
    for number, part in enumerate(certificate.parts, 1):
        try:
            checked.append(check_certificate(part))
        except CertificateError as error:
            raise CertificateError(f"shape-{number}: {error}") from None
        on_part(number)
    return checked


def _check_claim(certificate: KeptCertificate) -> None:
    """Check what follows from the parts, if they hold."""
    if is_network(certificate.network) and not certificate.is_known:
        raise CertificateError(f"network: it is not {certificate.network} of the zoo")
    _check_terms(certificate.terms)
    placement = placement_of(certificate)
    bounds = bounds_of(certificate, placement)
    _check_value(certificate, placement)
    if certificate.bound > certificate.value:
        raise CertificateError(
            f"bound: {certificate.bound:.9g} is above the value {certificate.value:.9g}"
        )
    bound = bounds.of(certificate.objective, certificate.prices)
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


def bounds_of(certificate: KeptCertificate, placement: Placement) -> KeptBound:
    """What the parts say of the network.

    Raises:
        CertificateError: A part is of another chip, model, space, or no layer of the network.
    """
    terms = certificate.terms
    shapes = {layer.renamed("") for layer in certificate.graph.layers}
    parts = []
    for number, part in enumerate(certificate.parts, 1):
        try:
            found = terms.terms_of(part.problem)
        except CertificateError as error:
            raise CertificateError(f"shape-{number}: {error}") from None
        if found.shape not in shapes:
            raise CertificateError(f"shape-{number}: the network has no layer of its shape")
        parts.append((found, part.bound))
    return KeptBound(placement, terms, parts)


def _check_terms(terms: KeptTerms) -> None:
    """Check that a mapping with less in L2 is one with more in L2 too, and costs no less there."""
    plain = terms.plain
    if plain.cost_model != "exact":
        raise CertificateError("shape-1: expected the cost model exact, for which tensors stay")
    for option in ("full", "uneven"):
        if plain.space.get(option):
            raise CertificateError(f"shape-1: its space is {option}, expected one without {option}")


def _check_value(certificate: KeptCertificate, placement: Placement) -> None:
    """Check what the claimed schedule costs with the claimed mappings."""
    during = _during(certificate, placement)
    layers = [node for node in placement.graph.nodes if node.layer is not None]
    if len(certificate.mappings) != len(layers):
        raise CertificateError(
            f"mappings: there are {len(certificate.mappings)}, the network has {len(layers)} layers"
        )
    spec = certificate.terms.spec
    problem = cache(lambda part: spec(part).build())
    mappings = iter(certificate.mappings)
    latency = energy = 0.0
    for place, (node, taken) in enumerate(zip(placement.graph.nodes, during, strict=True)):
        if node.layer is None:
            time, work, _ = placement.pass_of(node, taken)
        else:
            part = _part(node, placement, place, taken)
            mapping = next(mappings)
            if isinstance(mapping, ChainMapping) != certificate.terms.is_deep:
                raise CertificateError(f"mappings: of {brief(node.name)}: it is of another chip")
            try:
                time, work = costs_of(mapping, problem(part))
            except CertificateError as error:
                raise CertificateError(f"mappings: of {brief(node.name)}: {error}") from None
        latency, energy = latency + time, energy + work
    values = {"latency": latency, "energy": energy, "edp": latency * energy}
    again = values[certificate.objective]
    if not math.isclose(again, certificate.value, rel_tol=ROUNDING):
        raise CertificateError(
            f"value: {certificate.value:.9g} is claimed, the schedule comes to {again:.9g}"
        )


def _part(node: GraphNode, placement: Placement, place: int, taken: Stays) -> PartTerms:
    assert node.layer is not None
    resident, room = placement.resident(node, taken), placement.room(place, taken)
    return PartTerms(node.layer.renamed(""), resident, room, ENERGY)


def _during(certificate: KeptCertificate, placement: Placement) -> list[Stays]:
    """What is in L2 during each node.

    Raises:
        CertificateError: A tensor may not stay, is named twice, or they do not fit.
    """
    rooms = placement.rooms
    number_of = {room.tensors[0]: number for number, room in enumerate(rooms)}
    for name in certificate.stays:
        if name not in number_of:
            raise CertificateError(f"stays: {brief(name)} is no tensor that may stay on this chip")
    chosen = [number_of[name] for name in certificate.stays]
    if len(set(chosen)) != len(chosen):
        raise CertificateError("stays: a tensor is named twice")
    found = []
    for place, node in enumerate(placement.graph.nodes):
        taken = frozenset(n for n in chosen if rooms[n].first <= place <= rooms[n].last)
        bits = taken_bits(rooms, taken, place)
        if bits > placement.capacity:
            raise CertificateError(
                f"stays: tensors take {bits / 8:,.0f} B during {brief(node.name)}, where there are "
                f"{placement.capacity / 8:,.0f} B"
            )
        found.append(taken)
    return found
