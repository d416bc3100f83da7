"""What a forward pass of a language model takes for each of its new tokens."""

from __future__ import annotations

from dataclasses import dataclass

from cost_models import Accelerator, Chain, clock_of
from marl_common import engineering

HZ_PER_MHZ, NJ_PER_J = 1e6, 1e9


@dataclass(frozen=True)
class TokenFigures:
    """Speed and energy by token.

    Args:
        tokens: New tokens of all sequences in the pass.
        clock_mhz: Clock [MHz].
        tokens_per_s: Tokens in a second.
        j_per_token: Energy of a token [J].
    """

    tokens: int
    clock_mhz: float
    tokens_per_s: float
    j_per_token: float

    @classmethod
    def of(
        cls, tokens: int, chip: Accelerator | Chain, latency_cycles: float, energy_nj: float
    ) -> TokenFigures:
        """Divide a pass among its tokens.

        Args:
            tokens: New tokens of all sequences.
            chip: Where it runs; one that gives no clock runs at 1 GHz.
            latency_cycles: Latency of the pass [cycles].
            energy_nj: Energy of the pass [nJ].
        """
        clock = clock_of(chip)
        speed = tokens * clock * HZ_PER_MHZ / latency_cycles
        return cls(tokens, clock, speed, energy_nj / NJ_PER_J / tokens)

    @property
    def speed(self) -> str:
        """Tokens in a second, and the clock that they are counted at."""
        return f"{engineering(self.tokens_per_s, digits=4)} tokens/s at {self.clock_mhz:,.0f} MHz"

    @property
    def energy(self) -> str:
        """Energy of a token."""
        return f"{engineering(self.j_per_token * NJ_PER_J, 'nJ', 4)}/token"
