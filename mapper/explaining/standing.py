"""How far a search's answer is from the optimum: what a proof of the whole space says of it."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import baselines
from cost_models import ChainMapping, Mapping, mapping_from
from mapper.search.search_run import proof_values

if TYPE_CHECKING:
    from baselines import Proof, ProofProgress
    from mapper.search.found import Found

CLOSE = 1e-9
"""Values that differ by less than this share are equal to a proof."""


@dataclass(frozen=True)
class Standing:
    """An answer beside a proof.

    Args:
        status: How the proof ended, see :class:`baselines.Proof`; ``"interrupted"`` by Ctrl-C.
        own: Value of the answer; inf where there is none.
        value: Best value known: the answer's, or that of a better mapping which the proof found.
        bound: No mapping of the space is below it.
        mapping: The better mapping; None where the answer is as good.
        boxes: Parts of the space that were looked at.
        seconds: Processor time of the proof [s].
    """

    status: str
    own: float
    value: float
    bound: float
    mapping: Mapping | ChainMapping | None
    boxes: int
    seconds: float

    @property
    def proven(self) -> bool:
        """Whether the best value known is the optimum."""
        return self.status == "optimal"

    @property
    def empty(self) -> bool:
        """Whether it is proven that no mapping is feasible."""
        return self.status == "empty"

    @property
    def gap(self) -> float:
        """How far the answer is above the bound, as a share; inf where nothing is known."""
        if not (math.isfinite(self.own) and self.bound > 0):
            return math.inf
        return max(0.0, self.own / self.bound - 1.0)

    @property
    def optimal(self) -> bool:
        """Whether the answer is the optimum."""
        return self.proven and self.mapping is None

    def to_dict(self) -> dict[str, Any]:
        """As ``mapper search --json`` has it."""
        names = ("status", "optimal", "value", "bound", "gap", "mapping", "boxes", "seconds")
        mapping = None if self.mapping is None else self.mapping.to_dict()
        return {name: getattr(self, name) for name in names} | {"mapping": mapping}


def standing(found: Found, gap: float = 0.0, timeout: float | None = None) -> Standing | None:
    """What is proven of a search's answer.

    A search that proved it itself says so; after any other the proof is made now. Ctrl-C ends that
    proof, and what it had reached holds.

    Args:
        found: The search.
        gap: Stop when the best value is proven to be at most this share above the optimum.
        timeout: Stop after so much time [s]; None for the time that the search took.

    Returns:
        None where the cost model offers no bounds for the problem.

    Raises:
        ProveError: An option makes no sense.
    """
    kept = standing_kept(found)
    if kept is not None:
        return kept
    if baselines.can_prove(found.problem) is not None:
        return None
    reached: deque[ProofProgress] = deque(maxlen=1)
    own = found.problem.best_value
    try:
        proof = baselines.prove(
            found.problem,
            start=None if found.best is None else found.best[0],
            gap=gap,
            timeout=found.seconds if timeout is None else timeout,
            progress=reached.append,
        )
    except KeyboardInterrupt:
        if reached:
            return of_proof(own, reached[0])
        bound = found.problem.bound or 0.0
        return Standing("interrupted", own, own, min(own, bound), None, 0, 0.0)
    return of_proof(own, proof)


def of_proof(own: float, proof: Proof | ProofProgress) -> Standing:
    """An answer of the value `own` beside a proof, or as far as one came."""
    return _beside(own, proof_values(proof))


def standing_kept(found: Found) -> Standing | None:
    """What a search that proves kept of its proof; None of any other search."""
    kept = found.result.get("proof")
    return None if kept is None else _beside(found.problem.best_value, kept)


def _beside(own: float, kept: dict[str, Any]) -> Standing:
    """An answer of the value `own` beside what is kept of a proof."""
    value, bound = (math.inf if kept[what] is None else kept[what] for what in ("value", "bound"))
    better = kept["mapping"] is not None and value < own * (1 - CLOSE)
    return Standing(
        status=kept["status"],
        own=own,
        value=min(own, value),
        bound=min(own, bound),
        mapping=mapping_from(kept["mapping"]) if better else None,
        boxes=kept["boxes"],
        seconds=kept["seconds"],
    )
