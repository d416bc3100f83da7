"""`bo` and `tpe`: batches, a window of samples, nothing global."""

import numpy as np
import pytest

import baselines
from baselines.window import batch_size, best_and_newest
from maestro_env import Problem

torch = pytest.importorskip("torch", reason="needs the extra `bo`")
PROBLEM = Problem("mobilenetv2.2", "edge", "edp", "exact")


@pytest.mark.parametrize("count", [5, 16, 17, 400])
def test_the_window_keeps_the_newest_and_the_best_of_the_others(count: int) -> None:
    values = np.random.default_rng(0).random(count)
    kept = best_and_newest(values, 16)
    assert kept.tolist() == sorted(kept)
    assert len(kept) == min(count, 16)
    newest = set(range(max(0, count - 8), count))
    assert newest <= set(kept)
    left = sorted(set(range(count)) - newest, key=lambda row: values[row])
    assert set(kept) - newest == set(left[:8])


def test_batches_grow_with_what_is_known() -> None:
    sizes = [batch_size(taken, 32) for taken in range(3_000)]
    assert sizes[0] == 1
    assert sizes[200] < 8
    assert sizes[-1] == 32
    assert (np.diff(sizes) >= 0).all()


@pytest.mark.parametrize(
    ("name", "package", "startup", "budget"),
    [("bo", "botorch", 60, 72), ("tpe", "optuna", 20, 120)],
)
def test_the_whole_budget_is_spent_and_nothing_global_is_touched(name, package, startup, budget):
    pytest.importorskip(package, reason="needs the extra `bo`")
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    numbers = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    searcher = baselines.load(name, startup=startup, window=40)
    try:
        result = searcher.search(PROBLEM, budget, 0)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert result.samples == budget
    assert searcher.capabilities.max_samples is None
    assert torch.equal(torch.get_rng_state(), numbers[0])
    assert (np.random.get_state()[1] == numbers[1]).all()  # noqa: NPY002
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize("multivariate", [True, False])
def test_the_first_candidate_is_what_optuna_itself_suggests(multivariate: bool) -> None:
    optuna = pytest.importorskip("optuna", reason="needs the extra `bo`")
    from baselines.tpe_densities import Densities

    space = PROBLEM.space
    actions = space.canonical(space.sample(60, 0))
    values = PROBLEM.look(actions).values
    densities = Densities(space, 256, multivariate, np.random.default_rng(3))
    densities.add(actions, values)
    group = densities.draw(1, 24)[0]

    seed = int(np.random.default_rng(3).integers(2**31))
    sampler = optuna.samplers.TPESampler(
        n_startup_trials=1, multivariate=multivariate, seed=seed, constant_liar=False
    )
    study = optuna.create_study(sampler=sampler)
    study.add_trials(densities._study.get_trials(states=[optuna.trial.TrialState.COMPLETE]))
    trial = study.ask(densities._distributions)
    suggested = np.zeros((1, len(space.nvec)), np.int64)
    for name, choice in trial.params.items():
        suggested[0, space.names.index(name)] = choice
    if multivariate:
        assert space.canonical(suggested)[0].tolist() == group[0].tolist()
    assert len(np.unique(group, axis=0)) > 1


def test_the_estimator_never_sees_more_than_its_window() -> None:
    optuna = pytest.importorskip("optuna", reason="needs the extra `bo`")
    from baselines.tpe_densities import Densities

    space = PROBLEM.space
    densities = Densities(space, 50, True, np.random.default_rng(0))
    for seed in range(12):
        actions = space.sample(16, seed)
        densities.add(actions, PROBLEM.look(actions).values)
        told = densities._study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
        assert len(told) <= 50
        assert densities.draw(2, 5).shape == (2, 5, len(space.nvec))
    assert densities.taken == 12 * 16


def test_a_batch_covers_what_the_draws_disagree_about() -> None:
    from baselines.bo import _greedy

    rng = np.random.default_rng(0)
    first = np.tile([-2.0, 2.0], 250)
    drawn = np.stack([first, first - 0.1, -first, np.full(500, 3.0)])
    picked = _greedy(drawn, np.ones(4), 1.0, 2, rng)
    assert picked.tolist() == [1, 2]  # not 0, which is as good as 1 but in the same draws
    doubtful = np.array([1.0, 0.1, 1.0, 1.0])
    assert 1 not in _greedy(drawn, doubtful, 1.0, 2, rng)
    assert sorted(_greedy(drawn, np.ones(4), 1.0, 4, rng)) == [0, 1, 2, 3]


def test_the_process_predicts_a_smooth_function_better_than_its_mean() -> None:
    pytest.importorskip("botorch", reason="needs the extra `bo`")
    from baselines.gaussian_process import GaussianProcess, joint_draws

    rng = np.random.default_rng(0)
    points = rng.random((80, 6))
    truth = np.sin(3 * points[:, 0]) + points[:, 1] ** 2
    process = GaussianProcess()
    process.condition(points[:60], truth[:60], fit=True)
    mean, covariance = process.predict(points[60:])
    assert np.std(mean - truth[60:]) < 0.2 * np.std(truth[60:])
    drawn = joint_draws(mean, covariance, 4_000, rng)
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(drawn), covariance, atol=0.02)
