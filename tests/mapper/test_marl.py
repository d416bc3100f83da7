import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import baselines
from baselines import SearcherError
from maestro_env import BudgetExhausted, Problem
from maestro_env.symmetry import keys
from mapper.clustering import Assignment, AssignmentError
from mapper.clustering.library import nearest, stored
from mapper.marl.agents import choosing, resolve

torch = pytest.importorskip("torch", reason="needs the extra rl")

from mapper.marl.adam import Adam
from mapper.marl.checkpoint import VERSION, CheckpointError
from mapper.marl.config import MarlConfig
from mapper.marl.elites import Elites, Plateau
from mapper.marl.policies import OBSERVATION, Mixture, Policies, Space
from mapper.marl.ppo import PPO, Transitions

SPACE = Space(np.array([5, 3, 7, 2]), np.array([True, False, True, True]), np.array([0, 0, 1, 2]))


def policies(space=SPACE, **options):
    return Policies(space, 8, 0, options.pop("own_choice", False), options.pop("earlier", False))


def problem():
    return Problem("mobilenetv2.7", "edge", "edp")


def samples_of(searcher, budget=400, seed=0):
    counted = problem()
    actions = []
    counted.on_evaluate = lambda batch, evaluation: actions.append(batch.copy())
    result = searcher.search(counted, budget, seed)
    return np.concatenate(actions), result


SCRIPT = """
import hashlib
import baselines
from maestro_env import Problem

problem, digest = Problem("mobilenetv2.7", "edge", "edp"), hashlib.sha256()
problem.on_evaluate = lambda batch, evaluation: digest.update(batch.tobytes())
result = baselines.load("marl").search(problem, 400, 0)
print(digest.hexdigest(), repr(result.best_value))
"""


def test_same_seed_same_samples_in_another_process():
    actions, result = samples_of(baselines.load("marl"))
    here = f"{hashlib.sha256(actions.tobytes()).hexdigest()} {result.best_value!r}"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    there = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=True
    )
    assert there.stdout.strip() == here


WHOLE_COMMAND = """
import sys
from mapper.cli import main
try:
    main(["search", "--layer", "mobilenetv2.7", "--budget", "200", "--json"])
finally:
    heavy = {"torch", "torch._dynamo", "sqlalchemy", "ray"}
    print(*sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def test_a_search_starts_without_torchs_compiler_and_the_store():
    """Each costs every search from a quarter of a second to more than one."""
    done = subprocess.run(
        [sys.executable, "-c", WHOLE_COMMAND], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "torch"


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


@pytest.mark.parametrize("budget", [1, 63, 64, 201])
def test_spends_the_budget_to_the_last_sample(budget):
    actions, result = samples_of(baselines.load("marl"), budget)
    assert len(actions) == result.samples == budget


def test_no_loop_nest_costs_a_second_sample():
    actions, _ = samples_of(baselines.load("marl"), 600)
    counted = problem()
    mappings = counted.space.decode(actions)
    nests = keys(counted.layer, counted.accelerator, mappings, counted.cost_model.name)
    assert len(np.unique(nests)) == len(nests)


def test_beats_random_search():
    def best(name):
        return [baselines.load(name).search(problem(), 1000, seed).best_value for seed in range(3)]

    assert np.median(best("marl")) < np.median(best("random"))


@pytest.mark.parametrize(
    "options",
    [
        {"elites": 0, "local": 0.0, "uniform": 0.0},
        {"policy": False},
        {"reward": "rank"},
        {"reward": "relative"},
        {"self_imitation": 0.1},
        {"own_choice": True},
        {"autoregressive": True, "self_imitation": 0.1},
        {"avoid_repeats": False, "exchange": 0.0},
        {"patience": 0},
        {"patience": 2, "reunion": 0, "alike": 0},
        {"patience": 2, "reunion": 1, "alike": 1},
        {"agents": 1},
        {"agents": 5},
        {"agents": "15"},
    ],
)
def test_every_option_runs_and_finds_a_mapping(options):
    actions, result = samples_of(baselines.load("marl", **options), 300)
    assert len(actions) == 300
    assert np.isfinite(result.best_value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "torch"}, "expected batched or rllib"),
        ({"reward": "raw"}, "expected one of improvement"),
        ({"local": 0.8, "uniform": 0.3}, r"local \+ uniform"),
        ({"worlds": 0}, "worlds: got 0"),
        ({"elites": -1}, "elites: got -1"),
        ({"surrogate": -1}, "surrogate: got -1"),
        ({"proposals": 0}, "proposals: got 0"),
        ({"growth": 0.5}, "growth: got 0.5"),
        ({"agent": 3}, "Did you mean 'agents'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(SearcherError, match=message):
        baselines.load("marl", **options)


def test_mixture_draws_what_its_density_says():
    mixture = Mixture(SPACE, local=0.4, uniform=0.1, policy=True)
    agents = policies()
    with torch.no_grad():
        agents.head_bias.normal_(generator=torch.Generator().manual_seed(3))
    observation = torch.zeros(1, OBSERVATION)
    current = np.array([[4, 1, 3, 0]])
    count = 60_000
    rng = np.random.default_rng(0)
    starts = np.tile(current, (count, 1))
    acting = np.ones(starts.shape, dtype=bool)
    acting[0] = False
    drawn = mixture.draw(agents, observation.repeat(count, 1).numpy(), starts, acting, rng)
    np.testing.assert_array_equal(drawn[0], current[0])
    with torch.no_grad():
        log_probabilities, _ = agents(observation, torch.zeros(4, 1, dtype=torch.int64), current)
    for column, choices in enumerate(SPACE.nvec):
        share = np.bincount(drawn[1:, column], minlength=choices) / (count - 1)
        assert share[current[0, column]] == 0.0
        total = 0.0
        for choice in set(range(choices)) - {current[0, column]}:
            chosen = current.T.copy()
            chosen[column] = choice
            density = mixture.log_density(
                log_probabilities, chosen, current.T, np.zeros((4, 1), dtype=bool)
            )
            expected = density[column, 0].exp().item()
            total += expected
            assert share[choice] == pytest.approx(expected, abs=0.01)
        assert total == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("still", [None, 1])
def test_autoregressive_draws_what_their_joint_density_says(free, still):
    """Exactly, over all joint choices; the second parameter may hold still."""
    space = SPACE._replace(agent=np.array([0, 0, 1, 0]))
    agents, mixture = policies(space, earlier=True), Mixture(space, 0.4, 0.1, True)
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
        log_probabilities, _ = agents(torch.zeros(len(every), OBSERVATION), rows, every)
        current = np.tile(start, (len(every), 1))
        frees = np.full(every.T.shape, free)
        density = mixture.log_density(log_probabilities, every.T, current.T, frees)
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
        agents, mixture = policies(space, earlier=earlier), Mixture(space, 0.0, 0.0, True)
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
    agents = policies(space)
    mixture = Mixture(space, 0.4, 0.1, True)
    ppo = PPO(agents, mixture, MarlConfig())
    rng = np.random.default_rng(0)
    target = np.array([3, 2, 6, 1])
    for _ in range(60):
        ppo.update(played(agents, mixture, rng, 64, target), 0.0, Elites.empty(4, OBSERVATION))
    assert played(agents, mixture, rng, 512, target).reward.mean() > 0.9


def test_an_agent_that_did_not_act_does_not_learn():
    agents = policies()
    mixture = Mixture(SPACE, 0.4, 0.1, True)
    before = {name: value.detach().clone() for name, value in agents.named_parameters()}
    batch = played(agents, mixture, np.random.default_rng(0), 64, np.array([3, 2, 6, 1]))
    batch.acting[:, 2:] = False
    PPO(agents, mixture, MarlConfig()).update(batch, 0.0, Elites.empty(4, OBSERVATION))
    for name in ("head", "head_bias"):
        change = (dict(agents.named_parameters())[name] - before[name]).detach().abs()
        assert change[:2].max() > 0
        assert change[2:].max() == 0
    assert (agents.trunk - before["trunk"]).detach().abs()[1:].max() == 0


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


def test_agents_come_from_a_number_a_file_or_the_nearest_layer(tmp_path):
    counted = problem()
    names = choosing(counted)
    for count in range(1, len(names) + 1):
        assignment = resolve(count, counted)
        assert len(assignment) == count
        assignment.check(names)
    auto = resolve("auto", counted)
    assert 1 < len(auto) < len(names)
    auto.check(names)
    path = tmp_path / "agents.yaml"
    Assignment((names[:3], names[3:])).save(path)
    assert resolve(str(path), counted).agents == (names[:3], names[3:])
    for wrong in (0, len(names) + 1):
        with pytest.raises(AssignmentError, match=rf"expected 1\.\.{len(names)}"):
            resolve(wrong, counted)
    with pytest.raises(AssignmentError, match="expected auto"):
        resolve("all", counted)


def test_stored_assignments_are_of_other_layers_and_the_nearest_is_alike():
    compared = {"mobilenetv2.2", "resnet18.1", "vgg16.1", "alexnet.2"}
    compared |= {"mobilenetv2.7", "resnet18.10", "vgg16.8", "alexnet.4"}
    assert len(stored()) >= 10
    assert not compared & {entry.source["layer"] for entry in stored()}
    for name in ("mobilenetv2.2", "vgg16.8", "bert_base.3"):
        for accelerator in ("edge", "archgym"):
            counted = Problem(name, accelerator)
            entry = nearest(counted.layer, counted.accelerator)
            assert entry.kind == counted.layer.kind.value
            assert entry.limited == (accelerator == "edge")


def interrupted(tmp_path, after, **options):
    """Samples of a search that stops once, as a killed process does, and continues."""

    class KilledError(Exception):
        pass

    path = tmp_path / "state.pt"
    searcher = baselines.load("marl", checkpoint=str(path), checkpoint_every=100, **options)
    counted, actions = problem(), []

    def hook(batch, evaluation):
        actions.append(batch.copy())
        if counted.samples >= after:
            raise KilledError

    counted.on_evaluate = hook
    with pytest.raises(KilledError):
        searcher.search(counted, 600, 0)
    stopped = torch.load(path, weights_only=True)["problem"]["samples"]
    return searcher, np.concatenate(actions)[:stopped]


@pytest.mark.parametrize("options", [{}, {"autoregressive": True}])
def test_a_resumed_search_takes_the_samples_it_would_have_taken(tmp_path, options):
    whole, result = samples_of(baselines.load("marl", **options), 600)
    searcher, before = interrupted(tmp_path, 333, **options)
    after, resumed = samples_of(searcher, 600)
    np.testing.assert_array_equal(np.concatenate([before, after]), whole)
    assert resumed.best_value == result.best_value
    assert resumed.improvements == result.improvements


def test_a_checkpoint_of_another_search_is_refused(tmp_path):
    searcher, _ = interrupted(tmp_path, 200)
    path = searcher.config.checkpoint
    with pytest.raises(CheckpointError, match="another seed"):
        searcher.search(problem(), 600, 1)
    with pytest.raises(CheckpointError, match="another config"):
        baselines.load("marl", checkpoint=path, worlds=4).search(problem(), 600, 0)
    with pytest.raises(CheckpointError, match="another problem"):
        searcher.search(Problem("mobilenetv2.7", "edge", "latency"), 600, 0)


def test_nothing_is_unpickled_from_a_checkpoint(tmp_path):
    path = tmp_path / "state.pt"
    torch.save({"version": VERSION, "evil": Elites.empty}, path)
    with pytest.raises(CheckpointError, match="is no checkpoint"):
        baselines.load("marl", warm_start=str(path)).search(problem(), 100, 0)


def test_a_warm_start_begins_where_a_neighbour_ended(tmp_path):
    path = tmp_path / "state.pt"
    neighbour = Problem("mobilenetv2.10", "edge", "edp")
    baselines.load("marl", checkpoint=str(path)).search(neighbour, 2000, 0)

    def early(**options):
        searcher = baselines.load("marl", **options)
        return np.median([searcher.search(problem(), 200, s).best_value for s in range(5)])

    assert early(warm_start=str(path)) < early()


def test_a_warm_start_is_screened_half_as_long(tmp_path, monkeypatch):
    from mapper.marl.surrogate import Surrogate

    picks, pick = [], Surrogate.pick
    monkeypatch.setattr(Surrogate, "pick", lambda *args: picks.append(1) or pick(*args))
    path = tmp_path / "state.pt"
    baselines.load("marl", checkpoint=str(path), surrogate=200).search(problem(), 400, 0)
    cold = len(picks)
    baselines.load("marl", warm_start=str(path), surrogate=200).search(problem(), 400, 1)
    assert 0 < len(picks) - cold < 0.7 * cold


def test_a_reunion_begins_with_the_bests_of_every_epoch():
    from mapper.marl.batched import BatchedLearner

    counted = problem()
    counted.start(1500)
    config = MarlConfig(patience=3, reunion=2)
    learner = BatchedLearner(counted, resolve("auto", counted), config, np.random.default_rng(0))
    starts, populate = [], learner._populate

    def spied():
        bests, before = learner.archive.values.copy(), counted.samples
        populate()
        starts.append(
            (learner.elites.values.copy(), bests, counted.samples - before, counted.best_value)
        )

    learner._populate = spied
    with pytest.raises(BudgetExhausted):
        learner.run()
    assert len(starts) >= 4
    for epoch, (elites, bests, spent, best) in enumerate(starts):
        if epoch and epoch % 2 == 0:
            assert spent == 0
            np.testing.assert_array_equal(elites, bests)
            assert elites[0] == best
        else:
            assert spent > 0


@pytest.mark.ray
def test_rllib_learns_what_the_batched_learner_learns(tmp_path):
    """Parity of the plain method: both beat random search, at about the same value."""
    pytest.importorskip("ray", reason="needs the extra rllib")
    budget = 1500
    plain = {"elites": 0, "local": 0.0, "uniform": 0.0, "exchange": 0.0, "avoid_repeats": False}
    path = tmp_path / "policies.pt"
    rllib = baselines.load("marl", learner="rllib", checkpoint=str(path))
    theirs = samples_of(rllib, budget)[1]
    ours = samples_of(baselines.load("marl", **plain), budget)[1]
    chance = samples_of(baselines.load("random"), budget)[1]
    assert theirs.samples == budget
    assert max(theirs.best_value, ours.best_value) < 1.05 * chance.best_value
    assert 0.7 < theirs.best_value / ours.best_value < 1.4
    weights = torch.load(path, weights_only=True)["agents"]
    assert len(weights) == len(resolve("auto", problem()))


def test_what_ends_an_rllib_search_comes_out_as_itself():
    """RLlib says RuntimeError for all that an environment raises; Ctrl-C is no fault."""
    pytest.importorskip("ray", reason="needs the extra rllib")
    from mapper.marl.rllib import ChoosingEnv, _until_it_ends

    class StoppedError(Exception):
        pass

    def stop(batch, evaluation):
        if counted.samples == 3:
            raise StoppedError

    class Algorithm:
        def train(self):
            agents = zip(world.possible_agents, world.columns, strict=True)
            try:
                world.step({name: np.zeros(len(columns), int) for name, columns in agents})
            except StoppedError:
                raise RuntimeError from None

    counted = problem()
    counted.on_evaluate = stop
    world = ChoosingEnv(counted, resolve("auto", counted))
    with pytest.raises(StoppedError):
        _until_it_ends(Algorithm(), world)
    assert counted.samples == 3
