"""A surrogate that picks the candidates of other searchers than marl."""

import numpy as np
import pytest

import baselines
from baselines.conformance import tiny_problem

pytest.importorskip("torch", reason="screening needs the extra `rl`")


def actions_of(name: str, **options: object) -> list[np.ndarray]:
    problem, asked = tiny_problem(), []
    problem.on_evaluate = lambda actions, evaluation: asked.append(actions.copy())
    result = baselines.load(name, **options).search(problem, 200, 3)
    assert result.samples == sum(map(len, asked)) == 200
    return asked


@pytest.mark.parametrize("name", ["ga", "annealing"])
def test_a_screened_search_asks_for_few_new_samples_at_a_time_and_the_same_again(name: str) -> None:
    first, again = actions_of(name, screened=True), actions_of(name, screened=True)
    assert all(map(np.array_equal, first, again))
    sizes = [len(asked) for asked in first]
    assert sizes[0] == baselines.Screening.START
    assert sizes.count(baselines.Screening.PICKED) > 10
    asked = [batch for batch in first if len(batch) == baselines.Screening.PICKED]
    picked = tiny_problem().space.canonical(np.concatenate(asked))
    assert len(np.unique(picked, axis=0)) == len(picked)
