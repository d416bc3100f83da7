"""What a certificate's schedule costs: what stays, what is fused, and every claimed mapping."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from cost_models import ChainMapping
from layers import GraphNode
from mapper.certificate.certificate_file import CertificateError
from mapper.certificate.checker import costs_of
from mapper.certificate.fused_claim import FusedClaim
from mapper.certificate.group_bound import NetworkGroups
from mapper.certificate.kept_certificate import KeptCertificate, PartTerms
from mapper.certificate.looks import ROUNDING
from mapper.staying.placement import Placement
from mapper.staying.rooms import Stays, taken_bits
from mapper.staying.shape_facts import ENERGY
from marl_common import brief


class ScheduleStep(NamedTuple):
    """A node, or the nodes of a group, in the schedule.

    Args:
        place: Of the first node.
        nodes: How many.
        taken: Rooms that are taken meanwhile.
        fused: How the group is cut; None for a node alone.
    """

    place: int
    nodes: int
    taken: Stays
    fused: FusedClaim | None


class MappedPart(NamedTuple):
    """A layer, or a part of one, that has a mapping in the claim."""

    node: GraphNode
    part: PartTerms
    times: int


class KeptSchedule:
    """The schedule of a certificate.

    Args:
        certificate: The certificate.
        placement: The network on its chip.
        groups: Of layers that may be fused, or None.

    Raises:
        CertificateError: The network has no such schedule.
    """

    def __init__(
        self, certificate: KeptCertificate, placement: Placement, groups: NetworkGroups | None
    ) -> None:
        self._certificate, self._at, self._groups = certificate, placement, groups
        self._latency, self._energy = 0.0, 0.0  # of all but mappings
        self._asked: list[MappedPart] = []
        for step in self._steps():
            if step.fused is None:
                self._alone(step)
            else:
                self._cut(step, step.fused)

    def check_value(self) -> None:
        """Check what it costs with the claimed mappings.

        Raises:
            CertificateError: It is not what is claimed, or a mapping is none of its layer's.
        """
        certificate = self._certificate
        if len(certificate.mappings) != len(self._asked):
            parts = "" if not certificate.groups else " and parts of fused ones"
            raise CertificateError(
                f"mappings: there are {len(certificate.mappings)}, the network has "
                f"{len(self._asked)} layers{parts}"
            )
        spec = certificate.terms.spec
        problem = cache(lambda part: spec(part).build())
        latency, energy = self._latency, self._energy
        for asked, mapping in zip(self._asked, certificate.mappings, strict=True):
            name = brief(asked.node.name)
            if isinstance(mapping, ChainMapping) != certificate.terms.is_deep:
                raise CertificateError(f"mappings: of {name}: it is of another chip")
            try:
                time, work = costs_of(mapping, problem(asked.part))
            except CertificateError as error:
                raise CertificateError(f"mappings: of {name}: {error}") from None
            latency, energy = latency + asked.times * time, energy + asked.times * work
        values = {"latency": latency, "energy": energy, "edp": latency * energy}
        again = values[certificate.objective]
        if not math.isclose(again, certificate.value, rel_tol=ROUNDING):
            raise CertificateError(
                f"value: {certificate.value:.9g} is claimed, the schedule comes to {again:.9g}"
            )

    # -------------------------------------------------------------- what stays and is fused

    def _steps(self) -> Iterator[ScheduleStep]:
        rooms, nodes, claims = self._at.rooms, self._at.graph.nodes, self._claims()
        chosen = self._chosen()
        place = 0
        while place < len(nodes):
            count, fused = claims.get(place, (1, None))
            last, name = place + count - 1, brief(nodes[place].name)
            taken = frozenset(
                n for n in chosen if rooms[n].first <= last and rooms[n].last >= place
            )
            for number in taken:
                if place <= rooms[number].first < last:
                    inside = brief(rooms[number].tensors[0])
                    raise CertificateError(f"stays: {inside} is inside the group of {name}")
            bits = taken_bits(rooms, taken, place)
            if bits > self._at.capacity:
                raise CertificateError(
                    f"stays: tensors take {bits / 8:,.0f} B during {name}, where there are "
                    f"{self._at.capacity / 8:,.0f} B"
                )
            yield ScheduleStep(place, count, taken, fused)
            place += count

    def _chosen(self) -> list[int]:
        """Rooms of what stays."""
        number_of = {room.tensors[0]: number for number, room in enumerate(self._at.rooms)}
        stays = self._certificate.stays
        for name in stays:
            if name not in number_of:
                raise CertificateError(
                    f"stays: {brief(name)} is no tensor that may stay on this chip"
                )
        if len(set(stays)) != len(stays):
            raise CertificateError("stays: a tensor is named twice")
        return [number_of[name] for name in stays]

    def _claims(self) -> dict[int, tuple[int, FusedClaim]]:
        """Number of nodes and tiling of each claimed group, by its first node's place."""
        places = {node.name: place for place, node in enumerate(self._at.graph.nodes)}
        by_place = {} if self._groups is None else self._groups.by_place
        found: dict[int, tuple[int, FusedClaim]] = {}
        end = 0
        for claim in self._certificate.groups or ():
            where = f"groups: {brief(claim.first)} to {brief(claim.last)}"
            first, last = (places.get(name, -1) for name in (claim.first, claim.last))
            if last + 1 - first not in by_place.get(first, {}):
                raise CertificateError(
                    f"{where} is no chain that can be fused; expected two to four layers, each of "
                    "which alone reads what the one before writes"
                )
            if first < end:
                raise CertificateError(f"{where} does not come behind the group before it")
            end = last + 1
            found[first] = last + 1 - first, claim
        return found

    # -------------------------------------------------------------- what it asks

    def _alone(self, step: ScheduleStep) -> None:
        """A node by itself."""
        node = self._at.graph.nodes[step.place]
        if node.layer is None:
            latency, energy, _ = self._at.pass_of(node, step.taken)
            self._latency, self._energy = self._latency + latency, self._energy + energy
            return
        resident = self._at.resident(node, step.taken)
        room = self._at.room(step.place, step.taken)
        self._asked.append(
            MappedPart(node, PartTerms(node.layer.renamed(""), resident, room, ENERGY), 1)
        )

    def _cut(self, step: ScheduleStep, claim: FusedClaim) -> None:
        """A group: its parts, and what it costs besides."""
        assert self._groups is not None
        terms, left = self._groups.terms(step.place, step.nodes, step.taken)
        nodes = [self._at.graph.nodes[step.place + at] for at in terms.group.places]
        tiling = claim.tiling(terms.group, [node.name for node in nodes])
        if not tiling.filters <= max(terms.filters, key=len):
            raise CertificateError(
                f"groups: {brief(claim.first)} to {brief(claim.last)}: filters: one is a tensor "
                "that stays whole"
            )
        for energy, latency in terms.besides(tiling):
            self._latency, self._energy = self._latency + latency, self._energy + energy
        for number, (layer, resident, room, times) in terms.parts(tiling, left):
            if room <= 0:
                raise CertificateError(
                    f"groups: what is fused with {brief(nodes[number].name)} needs "
                    f"{left / 8 - room:,.0f} B of L2, which has {left / 8:,.0f} B left"
                )
            part = PartTerms(layer.renamed(""), resident, room, ENERGY)
            self._asked.append(MappedPart(nodes[number], part, times))
