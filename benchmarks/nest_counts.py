"""What counts a loop nest, by name: the kernel's formula, and two executions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cost_models.exact.nest import Nest
from cost_models.exact.nest_counts import count
from cost_models.exact.simulator import simulate
from tests.cost_models.set_execution import execute

Counts = Mapping[str, int]


COUNTERS: dict[str, Callable[[Nest], Counts]] = {
    "kernel": count,
    "simulator": simulate,
    "sets": execute,
}


def differing(left: Counts, right: Counts) -> dict[str, tuple[int, int]]:
    """Counts that are not the same, by name; one that is not given is 0."""
    pairs = {name: (left.get(name, 0), right.get(name, 0)) for name in (*left, *right)}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
