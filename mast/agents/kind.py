"""What a kind of agent network is; nothing here or in its files needs PyTorch until it learns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from marl_common import named
from mast.parts import LearnerPart, Registry

Play = Callable[[str, Any, bool], Any]
"""Multiplies by a layer: its name, ``(I, rows)`` inputs, whether a ReLU follows."""


class AgentKind(LearnerPart):
    """A kind of network of one agent, or of all of them.

    Attributes:
        reads: Layers in their order, each with the layer whose outputs it reads (empty: the
            observation), and by what its inputs are fewer than those outputs.
        net: ``module:Class`` of its network; empty: :meth:`build` makes one.
    """

    reads: ClassVar[Mapping[str, tuple[str, int]]] = MappingProxyType({})
    net: ClassVar[str] = ""

    def build(self, inputs: int, hidden: tuple[int, int], actions: int, make: Any) -> Any:
        """The network as a module of one agent, or of all of them.

        It is called with ``(F, rows, T)`` inputs and what it remembers: ``(H, rows)``, or None at
        the start of an episode and where it remembers nothing. It gives ``(A, rows, T)`` values,
        and what it remembers now.

        Args:
            inputs: ``F``.
            hidden: Widths of its two hidden layers.
            actions: ``A``.
            make: Makes its layers, see :data:`mast.nets.MakeLayer`.
        """
        return named(self.net)(inputs, hidden, actions, make)

    def play(self, layer: Play, x: Any, hidden: Any) -> tuple[Any, Any]:
        """One step on arrays: ``(F, rows)`` to ``(A, rows)`` values, and what it remembers."""
        raise NotImplementedError  # every kind has its own


AGENTS: Registry[AgentKind] = Registry("agents", "mast.agents", ("build", "play", "reads"))
