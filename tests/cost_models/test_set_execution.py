"""The simulator against an execution with a set of elements for each instance."""

import numpy as np
import pytest

from cost_models.exact.simulator import simulate
from tests.cost_models.nests import random_nest
from tests.cost_models.set_execution import execute


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_the_simulator_equals_an_execution_by_sets(depth: int) -> None:
    rng = np.random.default_rng(depth)
    for number in range(8):
        nest = random_nest(rng, depth, 400)
        left, right = simulate(nest), execute(nest)
        differ = {n for n in {*left, *right} if left.get(n, 0) != right.get(n, 0)}
        assert not differ, (depth, number)
