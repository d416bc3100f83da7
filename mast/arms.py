"""Arms of a comparison: a network, and the targets that it learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from marl_common import check_name
from mast.errors import MastError

PARTS = ("sm", "hybrid", "dual")
"""The three parts of MAST that a plain arm lacks: Soft Mellowmax, hybrid targets, dual buffer."""


@dataclass(frozen=True)
class NetworkKind:
    """How the networks of an arm are connected.

    Attributes:
        growth: How weights grow at topology steps (:class:`sparse_training.SparsityConfig`);
            None: the network is dense.
        unit: What is kept or dropped as a whole, ``"free"`` or ``"block4"``.
        tiny: It is dense, with widths that cost what the sparse network's training costs.
    """

    growth: str | None = None
    unit: str = "free"
    tiny: bool = False


NETWORKS = MappingProxyType(
    {
        "dense": NetworkKind(),
        "tiny": NetworkKind(tiny=True),
        "static": NetworkKind("static"),
        "set": NetworkKind("set"),
        "rigl": NetworkKind("rigl"),
        "block4": NetworkKind("rigl", "block4"),
    }
)


@dataclass(frozen=True)
class Arm:
    """A network and its targets.

    Attributes:
        name: As the user writes it.
        network: Name in :data:`NETWORKS`.
        parts: Which of :data:`PARTS` it has.
        n_step: Steps of the returns after T0 where the hybrid part is not there; 1 but for RLx2.
    """

    name: str
    network: str
    parts: tuple[str, ...] = ()
    n_step: int = 1

    @property
    def kind(self) -> NetworkKind:
        """How its networks are connected."""
        return NETWORKS[self.network]

    @property
    def sparse(self) -> bool:
        """Whether weights are left out."""
        return self.kind.growth is not None

    @property
    def uses_sparsity(self) -> bool:
        """Whether a sparsity changes it: sparse networks, and tiny ones of equal cost."""
        return self.sparse or self.kind.tiny

    def without(self, parts: Sequence[str]) -> Arm:
        """The arm without some of its parts.

        Raises:
            MastError: No such part, or the arm has not got it.
        """
        for part in parts:
            check_name("part", part, PARTS, MastError)
            if part not in self.parts:
                raise MastError(
                    f"arm {self.name!r} has no part {part!r} to leave out; expected one of "
                    f"{', '.join(self.parts) or 'none: it has plain targets'}."
                )
        return replace(self, parts=tuple(p for p in self.parts if p not in parts))


ARMS = MappingProxyType(
    {
        arm.name: arm
        for network in NETWORKS
        for arm in (Arm(network, network), Arm(f"{network}+", network, PARTS))
    }
    | {
        # RLx2 (Tan et al. 2023): RigL and three-step returns after T0. Its shrinking buffer has
        # no sense for whole episodes.
        "rlx2": Arm("rlx2", "rigl", n_step=3),
        "mast": Arm("mast", "rigl", PARTS),
    }
)


def find_arm(name: str) -> Arm:
    """An arm by its name.

    Raises:
        MastError: No such arm.
    """
    check_name("arm", name, ARMS, MastError)
    return ARMS[name]
