"""In which order searches run, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.paper.searches import Search

SECONDS = {
    "ppo": 2.5,
    "ppo-matched": 1.7,
    "bo": 1.6,
    "tpe": 2.2,
    "marl:mode=paper": 0.27,
    "marl": 0.3,
    "zero-shot": 0.09,
}
"""Processor time of a thousand samples on one core of an AMD EPYC [s], roughly."""
USUAL = 0.03
DEAR = 25.0
"""Searches of more processor time than this wait for the others of their seed [s]."""
WAVES = (1, 3)
"""Seeds below the first come first, then those below the second, then the others."""


def expected_seconds(search: Search) -> float:
    """Processor time of a search [s], to a factor of two."""
    if search.seconds:
        return search.seconds
    name = next((n for n in SECONDS if search.method == n or search.method.startswith(f"{n}:")), "")
    wide = 2.0 if "hidden=64" in search.method else 1.0
    return wide * SECONDS.get(name, USUAL) * search.budget / 1000.0


def in_order(searches: Iterable[Search]) -> list[Search]:
    """Wave by wave; in each the cheap ones first, and the paper's cost model before `exact`.

    Seeds of datasets (100) are of the first wave.
    """

    def place(one: Search) -> tuple[int, bool, bool]:
        wave = sum(one.seed % 100 >= end for end in WAVES)
        return wave, expected_seconds(one) > DEAR, one.cost_model != "maestro"

    return sorted(searches, key=place)
