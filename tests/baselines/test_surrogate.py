"""The surrogate that screens the proposals of agents and of other searchers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="marl needs the extra `rl`")

import baselines
from baselines.conformance import tiny_problem
from baselines.surrogate import Surrogate
from maestro_env import Problem

CHOICES = np.array([9, 9, 4])
"""Of two ordered parameters and a category."""


def cost(actions):
    """A valley across two ordered parameters, and one good category; a corner is infeasible."""
    first, second, kind = actions.T
    value = np.exp(0.3 * (first - 6) ** 2 + 0.1 * (second - 2) ** 2 + 2.0 * (kind != 1))
    return np.where((first == 0) & (second == 0), np.inf, value)


def features(actions):
    return np.column_stack([actions[:, :2] / 8.0, actions[:, 2, None] == np.arange(4)])


def trained(count=60):
    rng = np.random.default_rng(0)
    surrogate = Surrogate(6)
    actions = rng.integers(0, CHOICES, (count, 3))
    surrogate.add(features(actions), cost(actions))
    return surrogate, rng


def test_picks_are_far_better_than_chance_and_distinct():
    surrogate, rng = trained()
    proposals = rng.integers(0, CHOICES, (200, 3))
    picked = surrogate.pick(features(proposals), 8, rng)
    assert len(set(picked.tolist())) == 8
    values = cost(proposals)
    assert np.median(values[picked]) < np.quantile(values, 0.1)


def test_a_feature_without_influence_gets_a_long_scale():
    rng = np.random.default_rng(1)
    surrogate = Surrogate(6)
    for _ in range(6):
        actions = rng.integers(0, CHOICES, (40, 3))
        surrogate.add(features(actions), np.exp(0.3 * (actions[:, 0] - 4.0) ** 2))
        surrogate.pick(features(actions), 1, rng)
    steep, flat = surrogate.scales.detach()[:2]
    assert steep > flat + 1.0


def test_the_likelihood_is_climbed_along_its_gradient():
    surrogate, rng = trained()
    points = torch.from_numpy(surrogate.points)
    targets = torch.from_numpy(rng.standard_normal((len(points), 1)))
    scales, signal, noise = (
        p.detach().clone().requires_grad_()
        for p in (surrogate.scales, surrogate.signal, surrogate.noise)
    )
    square = (points[:, None] - points).square() @ scales.exp()
    apart = (5.0 * square + 1e-12).sqrt()
    covariance = signal.exp() * (1.0 + apart + apart.square() / 3.0) * (-apart).exp()
    covariance = covariance + torch.eye(len(points)) * (noise.exp() + 1e-6)
    zero = torch.zeros(len(points), dtype=torch.float64)
    law = torch.distributions.MultivariateNormal(zero, covariance)
    (-law.log_prob(targets[:, 0])).backward()
    with torch.no_grad():
        slopes = surrogate._slopes(points, targets)
    for slope, parameter in zip(slopes, (scales, signal, noise), strict=True):
        assert slope.numpy() == pytest.approx(parameter.grad.numpy(), rel=1e-6, abs=1e-6)


def test_it_keeps_the_latest_and_the_best():
    surrogate = Surrogate(6)
    rng = np.random.default_rng(0)
    actions = rng.integers(0, CHOICES, (1000, 3))
    values = np.arange(1000.0) + 1.0
    surrogate.add(features(actions), values)
    assert len(surrogate.values) == Surrogate.MOST
    assert surrogate.values.min() == 1.0
    assert surrogate.values[-1] == 1000.0


def test_state_goes_on_as_before():
    surrogate, _ = trained()
    other = Surrogate(6)
    surrogate.pick(surrogate.points, 1, np.random.default_rng(5))
    other.load_state_dict(surrogate.state_dict())
    proposals = np.random.default_rng(2).integers(0, CHOICES, (50, 3))
    picks = [
        s.pick(features(proposals), 5, np.random.default_rng(3)).tolist()
        for s in (surrogate, other)
    ]
    assert picks[0] == picks[1]


def test_screened_search_needs_fewer_samples():
    ratios = []
    for layer in ("vgg16.5", "resnet50.20", "resnet18.3", "mobilenetv2.12"):
        values = {}
        for samples in (0, 150):
            searcher = baselines.load("marl", surrogate=samples, pretrained="none")
            runs = [searcher.search(Problem(layer, "edge", "edp"), 150, s) for s in range(3)]
            values[samples] = np.median([run.best_value for run in runs])
        ratios.append(values[150] / values[0])
    assert np.exp(np.mean(np.log(ratios))) < 0.95


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
