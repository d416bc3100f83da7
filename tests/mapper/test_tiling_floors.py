"""Floors of fused tilings, the search's and the checker's: no mapping of their parts is below."""

import math
from dataclasses import replace

import numpy as np
import pytest

from cost_models import Accelerator, Chain
from layers import Layer
from mapper.certificate.deep_floors import DeepPrices
from mapper.certificate.group_floors import GroupFloors
from mapper.fusing.fused_group import groups_of
from mapper.fusing.group_costs import GroupTilings
from mapper.fusing.group_terms import GroupTerms
from mapper.fusing.part_floors import least_cycles
from tests.mapper.certificates import EDGE
from tests.mapper.network_brute import NetworkBrute
from tests.mapper.small_networks import (
    Small,
    long_attention,
    placed,
    random_tiling,
    small_attention,
    small_chain,
)


@pytest.mark.parametrize(
    ("small", "seed", "filters", "free"),
    [
        (small_chain, 1, None, False),
        (small_chain, 1, None, True),
        (small_chain, 2, None, False),
        (small_attention, 11, None, False),
        (long_attention, 6, None, False),
        (small_chain, 1, True, True),
        (small_chain, 2, False, False),
        (long_attention, 2, True, False),
        (long_attention, 2, False, False),
    ],
)
def test_no_tiling_is_below_its_floor(
    small: Small, seed: int, filters: bool | None, free: bool
) -> None:
    """On two levels, and on lists whose first one holds filters or none; with padding free."""
    graph, setting = placed(small, seed, filters)
    if free:
        assert any(any(layer.padding) for layer in graph.layers)
        setting = replace(setting, options={**setting.options, "padding": "free"})
    brute = NetworkBrute(graph, setting)
    for group in groups_of(graph, setting.chip)[0]:
        terms = GroupTerms(setting.chip, setting.options, group, frozenset(), False)
        assert len(terms.filters) == (1 if filters is False else 2 ** len(group.layers))
        checked = GroupFloors(terms, all_pes=True)
        searched = GroupTilings(setting, group, frozenset(), counted=False).floors
        limit = math.inf if filters is None else brute.capacity
        for number in np.flatnonzero(checked.bits < limit).tolist():
            least = np.array(brute.least_of(terms, terms.tiling(number)))
            assert (np.array(checked.figures)[:, number] <= least).all()
            assert (np.array(searched)[:, number] <= least * (1 + 1e-12)).all()


def test_tilings_take_what_their_layers_leave() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        group, _ = random_tiling(rng)
        terms = GroupTerms(EDGE, {}, group, frozenset({(0, "filter")}), False)
        floors = GroupFloors(terms, all_pes=True)
        for number in rng.integers(len(floors.bits), size=40).tolist():
            tiling = terms.tiling(number)
            rooms = [tiling.room_bits(group, terms.chip, n) for n in range(len(group.layers))]
            assert floors.bits[number] == (max(rooms) if tiling.tiles > 1 else math.inf)


SPREAD = Layer("", "CONV", 6, 1, 5, 4, 1, 1)
OVER = Chain.from_dict({"levels": [
    {"name": "DRAM"},
    {"name": "Glb", "bytes": 64, "fanout": {"axes": [4, 2], "dims": ["KY", "KX"]}},
    {"name": "Pe", "bytes": 8},
    {"lanes": {"units": 3, "any": True}},
]})  # fmt: skip


def test_cycles_are_those_of_the_best_spread() -> None:
    flat = least_cycles(SPREAD, np.array([5]), np.array([4]), Accelerator(8, 64, 64))
    assert flat.tolist() == [[min(6 * 5 * 1, 3 * 1 * 5, 6 / 6 * 5 * 4, 2 * 2 * 5, 3 * 5)]]
    found = least_cycles(SPREAD, np.array([5, 1]), np.array([4]), OVER)
    steps = min(1 * 5 * 4, 2 * 5 * 2, 3 * 2 * 4, 6 * 2 * 2)  # along KK, KX, YK or YX
    assert found[0, 0] == pytest.approx(steps / 3)
    assert found[1, 0] == pytest.approx(min(1 * 4, 2 * 2, 3 * 4, 6 * 2) / 3)
    elements = {"input": 20.0, "filter": 6.0, "output": 120.0}
    sizes = {tensor: np.array([[size]]) for tensor, size in elements.items()}
    cycles = DeepPrices(OVER, False).of_parts(SPREAD, ((5,), (4,)), sizes, frozenset())[1]
    assert cycles == -(-steps // 3)
