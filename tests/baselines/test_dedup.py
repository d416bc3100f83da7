"""No loop nest twice."""

import numpy as np

from baselines.dedup import Dedup
from baselines.nest_memory import NestMemory
from cost_models import Symmetry
from maestro_env import Problem, nest_keys

PROBLEM = Problem("gemm:M=4,N=4,K=4", "edge", "edp")


def drawn(count: int = 500) -> np.ndarray:
    return PROBLEM.space.sample(count, 0)


def nests(actions: np.ndarray) -> np.ndarray:
    mappings = PROBLEM.space.decode(actions)
    return nest_keys(PROBLEM.layer, PROBLEM.accelerator, mappings, Symmetry.NEST)


def test_fresh_rows_are_the_first_of_each_nest_and_known_afterwards() -> None:
    actions, dedup = drawn(), Dedup(PROBLEM)
    _, first = np.unique(nests(actions), return_index=True)
    assert len(first) < len(actions)
    assert np.flatnonzero(dedup.fresh(actions)).tolist() == sorted(first)
    assert not dedup.fresh(actions).any()
    assert len(dedup) == len(first)


def test_rows_beyond_the_most_stay_unknown() -> None:
    actions, dedup = drawn(), Dedup(PROBLEM)
    mask = dedup.fresh(actions, most=10)
    assert mask.sum() == len(dedup) == 10
    assert dedup.fresh(actions, most=10).sum() == 10


def test_distinct_asks_without_remembering() -> None:
    actions, dedup = drawn(), Dedup(PROBLEM)
    mappings = PROBLEM.space.decode(actions)
    rows = dedup.distinct(mappings)
    assert sorted(nests(actions)[rows]) == sorted(set(nests(actions)))
    assert len(dedup) == 0
    dedup.fresh(actions[rows[:5]])
    assert len(dedup.distinct(mappings)) == len(rows) - 5
    assert len(dedup.distinct(mappings, repeats=True)) == len(rows)


def test_fill_takes_spares_where_the_generator_repeats_itself() -> None:
    dedup, one = Dedup(PROBLEM), drawn(1)
    spare = drawn(3)
    found = dedup.fill(lambda n: np.repeat(one, n, axis=0), 3, lambda n: spare[:n])
    assert found.tolist() == [*one.tolist(), *spare[:2].tolist()]


def test_a_long_search_forgets_the_oldest_nests(monkeypatch):
    monkeypatch.setattr(NestMemory, "MOST", 100)
    memory = NestMemory()
    for key in range(1000):
        memory.add(key, key / 2)
        assert len(memory) <= 200
        assert all(recent in memory for recent in range(max(0, key - 99), key + 1))
    assert 0 not in memory
    assert memory.value(999, -1.0) == 499.5
    assert memory.value(0, -1.0) == -1.0
    assert sorted(NestMemory(memory)) == sorted(memory)
