"""Algorithms by name: who learns, and what an update asks of each network."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class AlgorithmKind:
    """An algorithm.

    Attributes:
        learner: ``module:Class`` of its :class:`mast.algorithms.ValueLearner`.
        mixer: Its mixer where the configuration names none.
        central: It has an unrestricted joint value beside the mixed one, with agents of its own.
        agents_forward: Passes of the agents without a backward pass, those of their target
            included.
        mixer_forward: Passes of the mixer without one.
        central_forward: Passes of the central mixer without one.
    """

    learner: str
    mixer: str = "qmix"
    central: bool = False
    agents_forward: int = 1
    mixer_forward: int = 1
    central_forward: int = 0


_PACKAGE = "mast.algorithms"
ALGORITHMS = MappingProxyType(
    {
        "qmix": AlgorithmKind(f"{_PACKAGE}.decomposed:Decomposed"),
        "vdn": AlgorithmKind(f"{_PACKAGE}.decomposed:Decomposed", "vdn"),
        # the targets of WQMIX are the central networks' own
        "cw-qmix": AlgorithmKind(f"{_PACKAGE}.wqmix:Weighted", "qmix", True, 0, 0, 2),
        "ow-qmix": AlgorithmKind(f"{_PACKAGE}.wqmix:Weighted", "qmix", True, 0, 0, 1),
        "res": AlgorithmKind(f"{_PACKAGE}.res:Regularised", mixer_forward=2),
    }
)
