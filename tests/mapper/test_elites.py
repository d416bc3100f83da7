"""Which mappings worlds start from, and when a search restarts."""

import numpy as np

from mapper.marl.elites import Elites, Plateau


def test_elites_keep_the_best_and_prefer_them_as_parents():
    elites = Elites.empty(1, 1)
    values = np.array([3.0, np.inf, 1.0, 2.0])
    actions = np.arange(4)[:, None]
    elites = elites.join(actions, values, np.zeros((4, 1), np.float32), 3)
    np.testing.assert_array_equal(elites.actions[:, 0], [2, 3, 0])
    drawn = np.bincount(elites.parents(9000, 0.5, np.random.default_rng(0)), minlength=3)
    assert drawn[0] > 1.5 * drawn[1] > 2.0 * drawn[2] > 0


def test_elites_of_one_value_are_limited_but_infeasible_ones_are_not():
    values = np.array([2.0, 1.0, 2.0, np.inf, 2.0, np.inf, 1.0, np.inf])
    rows = np.arange(8)[:, None], values, np.zeros((8, 1), np.float32)
    elites = Elites.empty(1, 1).join(*rows, size=8, alike=2)
    np.testing.assert_array_equal(elites.actions[:, 0], [1, 6, 0, 2, 3, 5, 7])
    once = Elites.empty(1, 1).join(*rows, size=3, alike=1)
    np.testing.assert_array_equal(once.values, [1.0, 2.0, np.inf])


def test_plateaus_restart_and_grow():
    plateau = Plateau(4, patience=10, growth=2.0)
    plateau.begin(5.0)
    assert not plateau.reached(5.0, 40)
    assert not plateau.reached(4.0, 8)  # progress
    assert not plateau.reached(3.9999, 40)  # too little to count
    assert plateau.reached(3.9999, 1)
    plateau.grow()
    assert plateau.size == 8
    never = Plateau(4, patience=0, growth=2.0)
    never.begin(1.0)
    assert not never.reached(1.0, 10**9)
