"""The agents' networks, what they draw from, and how they learn."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra rl")

from baselines import Adam
from mapper.marl.config import MarlConfig
from mapper.marl.elites import Elites
from mapper.marl.policies import OBSERVATION, Mixture, Policies, Space
from mapper.marl.ppo import PPO, Transitions

SPACE = Space(np.array([5, 3, 7, 2]), np.array([True, False, True, True]), np.array([0, 0, 1, 2]))


def policies(space=SPACE, **options):
    return Policies(space, 8, 0, options.pop("own_choice", False), options.pop("earlier", False))


def test_adam_steps_as_torchs_optimizer_does():
    def learn(make):
        torch.manual_seed(0)
        weights = [torch.nn.Parameter(torch.randn(3, 2)), torch.nn.Parameter(torch.randn(4))]
        optimizer = make(weights)
        for step in range(5):
            optimizer.zero_grad()
            loss = (weights[0] ** 2).sum() * step + torch.sin(weights[1]).sum()
            loss.backward()
            optimizer.step()
        return [weight.detach() for weight in weights]

    ours = learn(lambda weights: Adam(weights, 1e-2))
    theirs = learn(lambda weights: torch.optim.Adam(weights, lr=1e-2, eps=1e-5, foreach=True))
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_draws_weigh_what_the_policies_alone_would_draw():
    """Importance weights turn shares of the mixture's draws into the policies' probabilities."""
    mixture, agents = Mixture(SPACE, share=0.5, local=0.8), policies()
    with torch.no_grad():
        agents.head_bias.normal_(generator=torch.Generator().manual_seed(3))
    current, count = np.array([[4, 1, 3, 0]]), 60_000
    observation = torch.zeros(1, OBSERVATION)
    starts = np.tile(current, (count, 1))
    acting = np.ones(starts.shape, dtype=bool)
    acting[0] = False
    seen = observation.repeat(count, 1).numpy()
    drawn = mixture.draw(agents, seen, starts, acting, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn[0], current[0])
    held = np.zeros((4, 1), dtype=bool)
    with torch.no_grad():
        logs, _ = agents(observation, torch.zeros(4, 1, dtype=torch.int64), current)
    for column, choices in enumerate(SPACE.nvec):
        share = np.bincount(drawn[1:, column], minlength=choices) / (count - 1)
        stay = current[0, column]
        assert share[stay] == 0.0
        held_by = [np.where(np.arange(4) == column, n, 0)[:, None] for n in range(choices)]
        own = np.array([logs.of(one)[column, 0].exp() for one in held_by])
        own[stay] = 0.0
        own /= own.sum()
        for choice in set(range(choices)) - {stay}:
            chosen = current.T.copy()
            chosen[column] = choice
            likely = mixture.log_policy(logs, chosen, current.T, held)
            weight = mixture.log_weight(likely, chosen, current.T, held).exp()[column, 0].item()
            assert likely.exp()[column, 0].item() == pytest.approx(own[choice], abs=1e-5)
            assert weight <= 2.0 + 1e-6
            assert weight * share[choice] == pytest.approx(own[choice], abs=0.015)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("still", [None, 1])
def test_autoregressive_draws_what_their_joint_density_says(free, still):
    """Exactly, over all joint choices; the second parameter may hold still."""
    space = SPACE._replace(agent=np.array([0, 0, 1, 0]))
    agents, mixture = policies(space, earlier=True), Mixture(space, 1.0, 0.0)
    with torch.no_grad():
        agents.earlier.normal_(generator=torch.Generator().manual_seed(1))
        agents.head.normal_(generator=torch.Generator().manual_seed(2))
    start = np.array([4, 1, 3, 0])
    every = np.array(list(np.ndindex(*space.nvec)))
    if still is not None:
        every = every[every[:, still] == start[still]]
    acts = np.arange(4) != (-1 if still is None else still)
    rows = torch.arange(len(every)).expand(4, -1)
    with torch.no_grad():
        logs, _ = agents(torch.zeros(len(every), OBSERVATION), rows, every)
        current = np.tile(start, (len(every), 1))
        frees = np.full(every.T.shape, free)
        density = mixture.log_policy(logs, every.T, current.T, frees)
    likely = (density.numpy() * acts[:, None]).sum(axis=0)
    moved = ((every != start) | ~acts).all(axis=1) | free
    expected = np.where(moved, np.exp(likely), 0.0)
    assert expected.sum() == pytest.approx(1.0, abs=1e-4)
    count = 60_000
    seen, starts = np.zeros((count, OBSERVATION), np.float32), np.tile(start, (count, 1))
    acting = np.tile(acts, (count, 1))
    drawn = mixture.draw(agents, seen, starts, acting, np.random.default_rng(0), free=free)
    place = np.ravel_multi_index(every.T, space.nvec)
    share = np.bincount(np.ravel_multi_index(drawn.T, space.nvec), minlength=210)[place] / count
    assert share.sum() == 1.0
    np.testing.assert_allclose(share, expected, atol=0.01)


def test_autoregressive_heads_learn_what_independent_ones_cannot():
    """Two parameters are rewarded for being alike, whatever they are: alike, and still varied."""
    space = Space(np.array([4, 4]), np.array([False, False]), np.array([0, 0]))

    def alike(earlier):
        agents, mixture = policies(space, earlier=earlier), Mixture(space, 1.0, 0.0)
        ppo, rng = PPO(agents, mixture, MarlConfig()), np.random.default_rng(0)
        for _ in range(40):
            batch = played(agents, mixture, rng, 64, np.zeros(2))
            same = (batch.chosen[:, 0] == batch.chosen[:, 1]).astype(float)
            ppo.update(batch._replace(reward=same), 0.2, Elites.empty(2, OBSERVATION))
        chosen = played(agents, mixture, rng, 2000, np.zeros(2)).chosen
        return (chosen[:, 0] == chosen[:, 1]).mean(), np.bincount(chosen[:, 0]).max() / 2000

    same, most = alike(earlier=True)
    assert same > 0.8
    assert most < 0.5
    same, most = alike(earlier=False)
    assert same < 0.6 or most > 0.9


def played(agents, mixture, rng, count, target):
    observation = np.zeros((count, OBSERVATION), np.float32)
    current = np.zeros((count, len(target)), np.int64)
    acting = np.ones(current.shape, dtype=bool)
    chosen = mixture.draw(agents, observation, current, acting, rng, free=True)
    reward = (chosen == target).mean(axis=1)
    free = np.ones(count, dtype=bool)
    return Transitions(observation, current, chosen, acting, free, reward)


@pytest.mark.parametrize("owners", [[0, 0, 0, 0], [0, 0, 1, 2], [0, 1, 2, 3]])
def test_ppo_learns_a_target_from_one_shared_reward(owners):
    space = SPACE._replace(agent=np.array(owners))
    agents, mixture = policies(space), Mixture(space, 0.5, 0.8)
    ppo, rng = PPO(agents, mixture, MarlConfig()), np.random.default_rng(0)
    target = np.array([3, 2, 6, 1])
    for _ in range(60):
        ppo.update(played(agents, mixture, rng, 64, target), 0.0, Elites.empty(4, OBSERVATION))
    assert played(agents, mixture, rng, 512, target).reward.mean() > 0.9


def test_an_agent_that_did_not_act_does_not_learn():
    agents, mixture = policies(), Mixture(SPACE, 0.5, 0.8)
    before = {name: value.detach().clone() for name, value in agents.named_parameters()}
    batch = played(agents, mixture, np.random.default_rng(0), 64, np.array([3, 2, 6, 1]))
    batch.acting[:, 2:] = False
    PPO(agents, mixture, MarlConfig()).update(batch, 0.0, Elites.empty(4, OBSERVATION))
    for name in ("head", "head_bias"):
        change = (dict(agents.named_parameters())[name] - before[name]).detach().abs()
        assert change[:2].max() > 0
        assert change[2:].max() == 0
    assert (agents.trunk - before["trunk"]).detach().abs()[1:].max() == 0
