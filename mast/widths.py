"""Widths of networks, which tiny arms have their own."""

from __future__ import annotations

from dataclasses import dataclass

from mast.config import MastConfig


@dataclass(frozen=True)
class NetworkWidths:
    """Widths of all networks.

    Attributes:
        hidden: Of the agents' first hidden layer.
        second: Of the agents' second hidden layer, or of what they remember.
        mixer: Of the mixing layer.
        hyper: Of the hypernetworks' hidden layers, and of the central mixer's.
    """

    hidden: int
    second: int
    mixer: int
    hyper: int

    @classmethod
    def of(cls, config: MastConfig) -> NetworkWidths:
        """Those that a configuration names."""
        return cls(config.hidden, config.hidden, config.mixer_width, config.hyper_width)
