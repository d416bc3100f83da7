"""Update modes compute the same; checkpoints go on where they stopped."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mpe` is not installed")

from mpe_marl.clock import Clock
from mpe_marl.errors import MpeError
from mpe_marl.learners import ALGORITHMS, MODES, LearnerConfig, make_learner
from mpe_marl.replay import Replay, Schema, Transition
from mpe_marl.worlds import BatchWorlds, make_spec


def grid(array):
    """Round to 1/1024, so that differences of states are exact in float32 too."""
    return np.round(array * 1024) / 1024


def filled(layout, law, scenario="simple_tag", continuous=False, n=3, steps=150):
    spec = make_spec(scenario, n, continuous=continuous, episode_length=10)
    worlds = BatchWorlds(spec)
    replay = Replay(Schema.of(worlds), 120, layout, law, batch=32, seed=5)
    rng = np.random.default_rng(0)
    worlds.reset(0)
    for _ in range(steps):
        worlds.exact_states[:] = grid(worlds.exact_states)
        states = worlds.states()
        obs = seen(worlds)
        if continuous:
            actions = rng.random((1, n, 5), dtype=np.float32)
        else:
            actions = rng.integers(0, 5, (1, n))
        step = worlds.step(actions)
        worlds.exact_states[:] = grid(worlds.exact_states)
        done = rng.random(1) < 0.05
        rewards, ended = step.rewards + rng.random((1, n)), step.ended | done
        replay.add(
            Transition(obs, actions, rewards, seen(worlds), done, ended, states, worlds.states())
        )
        if ended[0]:
            worlds.restart(np.ones(1, dtype=bool))
    return replay


def seen(worlds):
    """Observations of the rounded states."""
    padded = np.concatenate([worlds.exact_states, np.zeros((len(worlds.exact_states), 1))], 1)
    first, second = worlds.spec.observation_terms
    return (padded[:, first] - padded[:, second]).astype(np.float32)


def same(one, two, **tolerances):
    """Two learners have the same parameters."""
    theirs = two.state_dict()
    assert one.state_dict().keys() == theirs.keys()
    for name, value in one.state_dict().items():
        torch.testing.assert_close(theirs[name], value, msg=name, **tolerances)


def after(mode, layout, law, algorithm, updates=3, **options):
    replay = filled(layout, law, **options)
    config = LearnerConfig(algorithm=algorithm, mode=mode, hidden=16, dtype="float64")
    learner = make_learner(replay.schema, config, seed=7)
    for _ in range(updates):
        learner.update(replay, Clock())
    return learner


CASES = [
    ("loop", "joint", "uniform", "batched", "joint"),
    ("loop", "lists", "neighbor", "batched", "lists"),
    ("loop", "joint", "shared", "batched", "state"),
    ("loop", "arrays", "shared", "shared", "joint"),
    ("loop", "joint", "shared", "folded", "state"),
    ("batched", "joint", "runs", "loop", "arrays"),
]


PAIRS = [
    (case, algorithm, (place + number) % 2 == 1)
    for place, case in enumerate(CASES)
    for number, algorithm in enumerate(ALGORITHMS)
]
"""Every algorithm in every case, half of them with continuous actions."""


@pytest.mark.parametrize(("case", "algorithm", "continuous"), PAIRS)
def test_modes_that_compute_the_same_end_with_the_same_parameters(case, algorithm, continuous):
    mode, layout, law, other_mode, other_layout = case
    scenario = "simple_spread" if law == "shared" else "simple_tag"
    options = {"continuous": continuous, "scenario": scenario}
    one = after(mode, layout, law, algorithm, **options)
    two = after(other_mode, other_layout, law, algorithm, **options)
    same(one, two, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("algorithm", ALGORITHMS[:2])
@pytest.mark.parametrize("layout", ["joint", "state"])
def test_one_network_for_all_is_their_mean(layout, algorithm):
    """Networks that see an id step along the mean of the gradients of what each agent plays."""
    mode = "folded" if layout == "state" else "shared"
    replay = filled(layout, "shared")
    options = {"algorithm": algorithm, "hidden": 16, "dtype": "float64", "lr": 1e-3, "clip": 1e9}
    one = make_learner(replay.schema, LearnerConfig(mode=mode, share_parameters=True, **options), 7)
    many = make_learner(replay.schema, LearnerConfig(mode=mode, **options), 7)
    own = [one.actors.online, one.actors.target], [many.actors.online, many.actors.target]
    for shared, each in zip(*own, strict=True):
        for place, layer in enumerate(one._of_all(shared)):
            each[place].copy_(layer)
    twins, n = one.config.twins, 3
    for kind in ("online", "target"):
        shared, each = getattr(one.critics, kind), getattr(many.critics, kind)
        each[0].copy_(shared[0][:-n].repeat(1, n, 1))
        ids = shared[0][-n:].reshape(n * twins, -1)
        each[1].copy_(shared[1].repeat(n, 1) + ids)
        for p, q in zip(each[2:], shared[2:], strict=True):
            p.copy_(q.repeat(n, *[1] * (q.dim() - 1)))
    obs = np.random.default_rng(0).normal(size=(2, n, replay.schema.obs_dim)).astype(np.float32)
    np.testing.assert_allclose(one._outputs(obs), many._outputs(obs))
    state = {k: np.array(v) for k, v in replay.state_dict().items()}
    first = one.update(replay, Clock())
    replay.load_state_dict(state)
    second = many.update(replay, Clock())
    assert first["q_loss"] == pytest.approx(second["q_loss"])
    assert first["target_q"] == pytest.approx(second["target_q"])
    # Adam's first moment is a tenth of the first gradient
    gradient = one.critics.mean[2]
    torch.testing.assert_close(gradient, many.critics.mean[2].view(n, twins, 16, 16).mean(0))
    names = [k for k in one.state_dict() if k.startswith("actor.mean")]
    assert all(one.state_dict()[k].abs().sum() > 0 for k in names)


def test_critics_of_iddpg_see_their_own_agent():
    learner = after("batched", "joint", "uniform", "iddpg", updates=3)
    for table in (learner.critics.online[0], learner.critics.target[0]):
        obs, actions = table[:, : 3 * 16].view(3, 3, 16, -1), table[:, 3 * 16 :].view(3, 3, 5, -1)
        for i in range(3):
            for j in range(3):
                assert (obs[i, j] != 0).all() == (actions[i, j] != 0).all() == (i == j)
                assert (obs[i, j] == 0).all() == (i != j)


def test_policies_of_matd3_move_every_second_update():
    start, one, two = (after("batched", "joint", "uniform", "matd3", updates=k) for k in (0, 1, 2))
    for bank in ("actors", "critics"):
        banks = [getattr(learner, bank) for learner in (start, one, two)]
        assert torch.equal(banks[0].target[0], banks[1].target[0])
        assert not torch.equal(banks[1].target[0], banks[2].target[0])
    assert torch.equal(start.actors.online[0], one.actors.online[0])
    assert not torch.equal(one.actors.online[0], two.actors.online[0])
    assert not torch.equal(start.critics.online[0], one.critics.online[0])


def test_grouped_trainers_compute_the_same(monkeypatch):
    from mpe_marl.learners import stacked

    one = after("batched", "joint", "uniform", "maddpg", n=4)
    monkeypatch.setattr(stacked, "_GROUP_BYTES", 3 * 32 * 4 * 200)  # room for a few batches
    two = after("batched", "joint", "uniform", "maddpg", n=4)
    assert len(two.actors.parts) > 1
    same(one, two, rtol=1e-7, atol=1e-9)


MODES_OF = list(zip(MODES, ALGORITHMS, strict=True))
"""Every mode and every algorithm once."""


@pytest.mark.parametrize(("mode", "algorithm"), MODES_OF)
def test_a_restored_learner_goes_on_as_if_nothing_happened(mode, algorithm):
    law = "shared" if mode in ("shared", "folded") else "uniform"
    straight = after(mode, "state", law, algorithm, updates=6)
    replay = filled("state", law)
    config = LearnerConfig(algorithm=algorithm, mode=mode, hidden=16, dtype="float64")
    first = make_learner(replay.schema, config, seed=7)
    for _ in range(3):
        first.update(replay, Clock())
    second = make_learner(replay.schema, config, seed=99)
    second.load_state_dict(first.state_dict())
    for _ in range(3):
        second.update(replay, Clock())
    same(straight, second)


@pytest.mark.parametrize(("mode", "algorithm"), list(zip(MODES, ALGORITHMS[:2] * 2, strict=True)))
def test_critics_learn_a_constant_reward(mode, algorithm):
    # with reward 1 and gamma 0 every critic's value is 1 everywhere
    replay = filled("state", "shared" if mode in ("shared", "folded") else "uniform")
    replay.layout.tables["rewards"][:] = 1.0
    config = LearnerConfig(algorithm=algorithm, mode=mode, hidden=32, gamma=0.0, entropy=0.0)
    learner = make_learner(replay.schema, config)
    first = learner.update(replay, Clock())["q_loss"]
    for _ in range(50):
        last = learner.update(replay, Clock())
    assert last["q_loss"] < 0.05 * first
    assert last["p_loss"] == pytest.approx(-1.0, abs=0.2)
    assert last["target_q"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("algorithm", "continuous"), [("maddpg", True), ("masac", False), ("masac", True)]
)
def test_policies_learn_the_action_that_is_paid(algorithm, continuous):
    # reward for agent i: its action's second entry (a move to the left)
    replay = filled("joint", "uniform", continuous=continuous)
    batch = replay.layout.gather(np.arange(120))
    width = replay.schema.n_agents
    rewards = replay.layout.tables["records"]
    at = replay.schema.record_width - 1 - width
    rewards[:120, at : at + width] = batch.actions[:, :, 1]
    config = LearnerConfig(algorithm=algorithm, hidden=32, gamma=0.0, entropy=0.01)
    learner = make_learner(replay.schema, config)
    for _ in range(60):
        learner.update(replay, Clock())
    obs = np.random.default_rng(0).normal(0, 0.5, (50, 3, replay.schema.obs_dim))
    actions = learner.act(obs.astype(np.float32), explore=False)
    chosen = actions[..., 1] if continuous else actions == 1
    assert chosen.mean() > 0.8


def test_compiled_and_tensor_acting_agree():
    replay = filled("joint", "uniform")
    learner = make_learner(replay.schema, LearnerConfig(), seed=3)
    obs = np.random.default_rng(0).normal(size=(20, 3, replay.schema.obs_dim)).astype(np.float32)
    few = np.concatenate([learner._outputs(obs[w : w + 2]) for w in range(0, 20, 2)])
    np.testing.assert_allclose(learner._outputs(obs), few, rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("mode", MODES)
def test_a_gpu_computes_the_same(mode):
    layout, law = ("state", "shared") if mode in ("shared", "folded") else ("joint", "uniform")
    config = LearnerConfig(mode=mode, hidden=16, dtype="float64", device="cuda")
    replay = filled(layout, law)
    there = make_learner(replay.schema, config, seed=7)
    losses = there.update(replay, Clock())
    assert np.isfinite(list(losses.values())).all()
    here = make_learner(replay.schema, replace(config, device="cpu"), seed=8)
    for bank, other in ((here.actors, there.actors), (here.critics, there.critics)):
        for mine, theirs in zip(bank.online, other.online, strict=True):
            mine.copy_(theirs)
    obs = np.random.default_rng(0).normal(size=(9, 3, replay.schema.obs_dim)).astype(np.float32)
    np.testing.assert_allclose(here._outputs(obs), there._outputs(obs), rtol=1e-9)


def test_exploration_follows_the_policy():
    replay = filled("joint", "uniform")
    learner = make_learner(replay.schema, LearnerConfig(), seed=3)
    obs = np.repeat(np.random.default_rng(0).normal(size=(1, 3, replay.schema.obs_dim)), 3000, 0)
    moves = learner.act(obs.astype(np.float32))
    logits = learner._outputs(obs[:1].astype(np.float32))[0]
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    seen_p = np.stack([np.bincount(moves[:, i], minlength=5) / 3000 for i in range(3)])
    np.testing.assert_allclose(seen_p, p, atol=0.04)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LearnerConfig("iddpg", "shared", share_parameters=True), "expected 'maddpg'"),
        (lambda: make_learner(Schema(2, 3, 5), LearnerConfig(mode="folded")), "mode 'shared'"),
        (lambda: after("shared", "joint", "uniform", "maddpg"), "use law 'shared'"),
        (lambda: after("folded", "joint", "shared", "maddpg"), "use replay layout 'state'"),
        (
            lambda: after("loop", "joint", "uniform", "maddpg", updates=0).load_state_dict(
                after("loop", "joint", "uniform", "maddpg", updates=0, n=2).state_dict()
            ),
            "continue with the world",
        ),
    ],
)
def test_wrong_use_is_explained(make, message):
    with pytest.raises(MpeError, match=message):
        make()


def test_folding_is_the_same_on_the_path_that_other_devices_take():
    from mpe_marl.learners.fold import Fold

    spec = make_spec("simple_spread", 3)
    fold = Fold(spec, torch.device("cpu"))
    rng = torch.Generator().manual_seed(0)
    size = 3 * spec.obs_dim + 6
    weight = torch.rand(size, 2, 7, generator=rng, dtype=torch.float64, requires_grad=True)
    found = []
    for compiled in (True, False):
        for terms in (fold._all, fold._each):
            terms.compiled = compiled
        folded = fold.all(weight)
        found.append((folded, *torch.autograd.grad(folded.square().sum(), weight)))
    torch.testing.assert_close(*found)


def test_straight_through_draws_the_softmax_and_has_its_gradient():
    from mpe_marl.learners.heads import Head

    head = Head(LearnerConfig(), 5, discrete=True)
    rng = torch.Generator().manual_seed(0)
    logits = torch.randn(7, 5, generator=rng, dtype=torch.float64, requires_grad=True)
    noise = torch.empty(7, 5, dtype=torch.float64)
    head.draw(noise, rng)
    weights = torch.randn(7, 5, generator=rng, dtype=torch.float64)
    sample = head.act(logits, noise)
    assert (sample.sum(-1) == 1).all()
    assert ((sample == 0) | (sample == 1)).all()
    (gradient,) = torch.autograd.grad((sample * weights).sum(), logits)
    soft = torch.softmax(logits + noise, -1)
    (expected,) = torch.autograd.grad((soft * weights).sum(), logits)
    torch.testing.assert_close(gradient, expected)
    logits = torch.tensor([0.0, 1.0, -1.0, 2.0, 0.5]).expand(40_000, 5)
    noise = torch.empty(40_000, 5)
    head.draw(noise, torch.Generator().manual_seed(1))
    share = head.act(logits, noise).mean(0)
    torch.testing.assert_close(share, torch.softmax(logits[0], -1), atol=0.01, rtol=0)


def test_quick_products_are_products():
    """Of rows that lie apart and of turned matrices too, with and without a bias."""
    from mpe_marl.learners.products import product, slopes

    table = torch.randn((40, 30), generator=torch.Generator().manual_seed(0))
    weights = torch.randn((17, 24), generator=torch.Generator().manual_seed(1))
    bias = torch.linspace(-1, 1, 8)
    for x in (table[:, :17], table[:, :17].contiguous(), table.t()[:, :17]):
        for w in (weights[:, :8], weights[:, :8].contiguous(), weights.t()[:17, :8], None):
            w = torch.randn(8, 17).t() if w is None else w
            exact = (x.double() @ w.double() + bias).float()
            torch.testing.assert_close(product(x, w, bias), exact)
            torch.testing.assert_close(product(x, w, bias, relu=True), exact.relu())
            torch.testing.assert_close(product(x, w), exact - bias)
        for after in (table[: len(x), 3:9], torch.ones(len(x), 20)):
            torch.testing.assert_close(slopes(x, after), (x.double().t() @ after.double()).float())
