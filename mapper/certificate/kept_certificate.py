"""The certificate of a network whose tensors may stay: its file, and the terms of its parts.

The file is a zip of ``kept.json``, the claim (which tensors stay, the mapping of every layer, value
and bound; where layers may be fused, the groups with their tilings); of ``network.yaml``, the
network; and of ``shape-1.cert`` and so on, each a certificate of a layer's shape, or of a part's,
with something of it in L2 and so much room for its tiles. What they say of the whole,
:mod:`mapper.certificate.kept_bound` works out.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Discriminator, Field, Tag

import layers
from cost_models import Chain, ChainMapping, mapping_from
from cost_models import Mapping as TwoLevelMapping
from layers import DIMS, TENSORS, Layer, NetworkGraph
from mapper.certificate.certificate_file import Certificate, CertificateError
from mapper.certificate.claim_file import ChainMappingFields, Finite, MappingFields, Size
from mapper.certificate.fused_claim import FusedClaim, GroupFields
from mapper.certificate.parts_file import PartsClaim, PartsFile
from mapper.search.problem_spec import ProblemSpec
from mapper.staying.rooms import limits_of, room_limit
from mapper.staying.shape_facts import BOTH, ENERGY, LATENCY, Resident, SumWeights
from marl_common import HIDDEN, Text

NETWORK, PARALLEL = "network.yaml", "parallel"
PRICES = 1e-30, 1e30
"""Least and largest price of a cycle [nJ] but 0: sums stay far from what floats can hold."""


LoopMapping = TwoLevelMapping | ChainMapping
TWO, DEEP = f"{HIDDEN}two", f"{HIDDEN}deep"
AnyMapping = Annotated[
    Annotated[MappingFields, Tag(TWO)] | Annotated[ChainMappingFields, Tag(DEEP)],
    Discriminator(lambda one: DEEP if isinstance(one, dict) and "levels" in one else TWO),
]


class KeptClaim(PartsClaim):
    """What it claims; `prices` are those of a cycle [nJ] that bound the product of two sums.

    Where no layers may be fused there are no `groups`, not even none.
    """

    network: Text
    objective: Literal["latency", "energy", "edp"]
    passes: Literal["free", "counted"]
    stays: list[Text]
    groups: list[GroupFields] | None = None
    mappings: Annotated[list[AnyMapping], Field(min_length=1)]
    prices: Annotated[list[Finite], Field(max_length=100)]
    value: Finite
    bound: Finite
    shapes: Size


FILE = PartsFile(
    "kept.json",
    KeptClaim,
    "marl-mapper certificate of tensors that stay",
    lambda claim: claim.shapes,
    (NETWORK,),
)


@dataclass(frozen=True)
class KeptCertificate:
    """A claim on a network whose tensors may stay in L2, and whose layers may be fused.

    Args:
        network: What the network is called.
        graph: The network.
        objective: ``latency``, ``energy`` or ``edp``, of the whole.
        counted: Whether nodes without MACs cost what they move in every place.
        stays: Tensors that are in L2 from their first node to their last; of those that take each
            other's place the first.
        mappings: Of each layer, in order; of a fused one those of its parts.
        prices: Of a cycle [nJ]: sums whose bounds are worked out for the EDP's.
        parts: Certificates of shapes.
        value: The objective with this schedule and these mappings.
        bound: No choice of what stays, and of what is fused, and no mappings, have less.
        groups: Layers that are fused; None where none may be.
    """

    network: str
    graph: NetworkGraph
    objective: str
    counted: bool
    stays: tuple[str, ...]
    mappings: tuple[LoopMapping, ...]
    prices: tuple[float, ...]
    parts: tuple[Certificate, ...]
    value: float
    bound: float
    groups: tuple[FusedClaim, ...] | None = None

    @property
    def gap(self) -> float:
        """How far above the optimum `value` may be, as a share."""
        return max(0.0, self.value / self.bound - 1.0) if self.bound > 0 else math.inf

    @property
    def is_known(self) -> bool:
        """Whether the zoo's network of this name is this one."""
        return layers.is_network(self.network) and layers.graph_of(self.network) == self.graph

    @property
    def terms(self) -> KeptTerms:
        """Chip, model and space, which all parts share."""
        return KeptTerms.of([part.problem for part in self.parts])


class PartTerms(NamedTuple):
    """What a certificate is of.

    Args:
        shape: The layer, without a name.
        resident: What of it is in L2.
        room: Bytes of L2 that its tiles may take.
        weights: What is bounded: a sum of energy and latency; on a list of levels `BOTH` is their
            product.
    """

    shape: Layer
    resident: Resident
    room: float
    weights: SumWeights


@dataclass(frozen=True)
class KeptTerms:
    """Under what the layers of a network are costed.

    Args:
        plain: The problem of a layer of which nothing is in L2, and nothing else takes room.
    """

    plain: ProblemSpec

    @property
    def is_deep(self) -> bool:
        """Whether the chip is a list of levels."""
        return isinstance(self.plain.accelerator, Chain)

    @classmethod
    def of(cls, parts: Sequence[ProblemSpec]) -> KeptTerms:
        """The terms that problems of parts share: each names what its layer may be spread over."""
        own = ("resident", "cycle_nj")
        first = parts[0]
        options = {name: of for name, of in first.cost_model_options.items() if name not in own}
        space = dict(first.space)
        if PARALLEL in space:
            dims = dict.fromkeys(dim for part in parts for dim in part.space.get(PARALLEL, ""))
            space[PARALLEL] = "".join(dims)
        return cls(
            replace(first, cost_model_options=options, space=space, limits={}, objective="energy")
        )

    def spec(self, part: PartTerms, name: str = "") -> ProblemSpec:
        """A layer's problem.

        Raises:
            CertificateError: A cycle's price is out of range.
        """
        options: dict[str, Any] = dict(self.plain.cost_model_options)
        aim = "energy" if part.weights.energy else "latency"
        if part.resident:
            options["resident"] = "+".join(t for t in TENSORS if t in part.resident)
        if self.is_deep and part.weights == BOTH:
            aim = "edp"
        elif part.weights.energy and part.weights.latency:
            price = options["cycle_nj"] = part.weights.latency / part.weights.energy
            if not PRICES[0] <= price <= PRICES[1]:
                raise CertificateError(
                    f"prices: got {price:g} nJ for a cycle, expected 0, or {PRICES[0]:g} to "
                    f"{PRICES[1]:g}"
                )
        return replace(
            self.plain,
            layer=part.shape,
            layer_name=name,
            objective=aim,
            cost_model_options=options,
            limits=limits_of(self.plain.accelerator, part.room),
        )

    def canonical(self, layer: Layer, mapping: LoopMapping) -> LoopMapping:
        """A layer's mapping as the space gives it: loops that never iterate stand in one order."""
        if not self.is_deep:
            return mapping
        problem = self.spec(PartTerms(layer.renamed(""), frozenset(), math.inf, ENERGY)).build()
        found: LoopMapping = problem.space.decode(problem.action_of(mapping))[0]
        return found

    def terms_of(self, spec: ProblemSpec) -> PartTerms:
        """What the problem of a part is.

        Raises:
            CertificateError: It is not on these terms.
        """
        options: Mapping[str, Any] = spec.cost_model_options
        price = float(options.get("cycle_nj", 0.0))
        weights = SumWeights(1.0, price) if price else ENERGY
        if self.is_deep and spec.objective == "edp":
            weights = BOTH
        found = PartTerms(
            spec.layer.renamed(""),
            frozenset(str(options.get("resident", "")).split("+")) - {""},
            float(spec.limits.get(room_limit(self.plain.accelerator), math.inf)),
            LATENCY if spec.objective == "latency" else weights,
        )
        expected = self.spec(found)
        same = _space_of(spec) == _space_of(expected)
        for name in ("accelerator", "objective", "cost_model", "cost_model_options", "space",
                     "limits"):  # fmt: skip
            if not (same if name == "space" else getattr(spec, name) == getattr(expected, name)):
                raise CertificateError(f"its {name} is not that of a layer of this network")
        return found


def _space_of(spec: ProblemSpec) -> dict[str, Any]:
    """Options of a part's space, without spreads over dimensions of which its layer has one."""
    extents = dict(zip(DIMS, spec.layer.extents, strict=True))
    spread = {dim for dim in spec.space.get(PARALLEL, "") if dim not in "NG" or extents[dim] > 1}
    return {**spec.space, PARALLEL: spread}


def write_kept(path: Path, certificate: KeptCertificate) -> None:
    """Write a certificate, whole or not at all; the same gives the same bytes.

    Raises:
        OSError: The file cannot be written.
    """
    one = certificate
    claim = {
        "network": one.network,
        "objective": one.objective,
        "passes": "counted" if one.counted else "free",
        "stays": list(one.stays),
        **({} if one.groups is None else {"groups": [group.to_dict() for group in one.groups]}),
        "mappings": [mapping.to_dict() for mapping in one.mappings],
        "prices": list(one.prices),
        "value": one.value,
        "bound": one.bound,
        "shapes": len(one.parts),
    }
    with tempfile.TemporaryDirectory() as folder:
        network = Path(folder) / NETWORK
        layers.write_yaml(network, one.graph)
        FILE.write(path, claim, one.parts, {NETWORK: network.read_bytes()})


def read_kept(path: Path) -> KeptCertificate:
    """Read a certificate; that it is whole is checked, not that it holds.

    Raises:
        CertificateError: It is damaged.
    """
    claim, others, parts = FILE.read(path)
    with tempfile.TemporaryDirectory() as folder:
        network = Path(folder) / NETWORK
        network.write_bytes(others[NETWORK])
        try:
            graph = layers.read_graph(network)
        except layers.LayerError as error:
            said = str(error).replace(str(network), NETWORK)
            raise CertificateError(f"{path}: {said}") from None
    try:
        mappings = [mapping_from(one.model_dump()) for one in claim.mappings]
    except ValueError as error:
        raise CertificateError(f"{path}: {FILE.name}: mappings: {error}") from None
    return KeptCertificate(
        network=claim.network,
        graph=graph,
        objective=claim.objective,
        counted=claim.passes == "counted",
        stays=tuple(claim.stays),
        mappings=tuple(mappings),
        prices=tuple(claim.prices),
        parts=parts,
        value=claim.value,
        bound=claim.bound,
        groups=None if claim.groups is None else tuple(map(FusedClaim.of, claim.groups)),
    )
