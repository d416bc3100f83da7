"""The searcher: what it spends, finds and repeats, and which agents it takes."""

import subprocess
import sys

import numpy as np
import pytest

import baselines
from cost_models import Accelerator, capabilities_of
from maestro_env import BudgetExhausted, Problem, nest_keys
from mapper.clustering.assignment import Assignment, AssignmentError
from mapper.clustering.library import nearest_layer, stored
from mapper.marl.agents import choosing, resolve
from mapper.marl.config import MarlConfig
from tests.mapper.marl_runs import problem, samples_of

pytest.importorskip("torch", reason="needs the extra rl")


WHOLE_COMMAND = """
import sys
from mapper.cli import main
try:
    main(["search", "--layer", "mobilenetv2.7", "--json", *sys.argv[1:]])
finally:
    heavy = {"torch", "torch._dynamo", "sqlalchemy", "ray"}
    print(*sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("options", "heavy"), [((), ""), (("--method", "marl", "--budget", "200"), "torch")]
)
def test_a_search_starts_without_torchs_compiler_and_the_store(options, heavy):
    """Each costs every search from a quarter of a second to more than one."""
    command = [sys.executable, "-c", WHOLE_COMMAND, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == heavy


@pytest.mark.parametrize("budget", [1, 63, 64, 600])
def test_spends_the_budget_to_the_last_sample_and_none_on_a_known_nest(budget):
    actions, result = samples_of(baselines.load("marl"), budget)
    assert len(actions) == result.samples == budget
    counted = problem()
    mappings, symmetry = counted.space.decode(actions), capabilities_of(counted.cost_model).symmetry
    nests = nest_keys(counted.layer, counted.accelerator, mappings, symmetry)
    assert len(np.unique(nests)) == budget


@pytest.mark.parametrize("method", ["marl", "marl-rllib"])
@pytest.mark.parametrize("chip", ["simba", Accelerator(1)])
def test_the_only_mapping_of_a_layer_needs_no_agents(method, chip):
    found = baselines.load(method).search(Problem("gemm:M=1,N=1,K=1", chip, "edp"), 20, 0)
    assert (found.samples, found.mapping is not None) == (1, True)


def started(kind, config, budget):
    """A problem with a budget, and a learner of it."""
    counted = problem()
    counted.start(budget)
    rng = np.random.default_rng(0)
    return counted, kind(counted, resolve("auto", counted), config, rng)


def test_in_the_papers_mode_repeats_cost_samples_and_agents_see_the_last_mapping():
    from mapper.marl.paper import PaperLearner

    torch = pytest.importorskip("torch")
    counted, learner = started(PaperLearner, MarlConfig(mode="paper"), 300)
    seen = []
    with torch.no_grad():
        learner.policies.head_bias[..., 0] += 9.0  # agents with favourites
    free, look = learner.worlds.free, []

    def spied(policies, figures, count, rng):
        seen.append(figures)
        return free(policies, figures, count, rng)

    def keep(batch, evaluation):
        look.append((batch, learner.feedback(evaluation)))

    learner.worlds.free, counted.on_evaluate = spied, keep
    with pytest.raises(BudgetExhausted):
        learner.run()
    assert not seen[0].any()
    for shown, (_, (observed, _)) in zip(seen[1:], look, strict=False):
        np.testing.assert_array_equal(shown, observed)
    actions = np.concatenate([batch for batch, _ in look])
    assert len(actions) == counted.samples == 300
    assert len(np.unique(actions, axis=0)) < 100
    values = counted.look(actions).values
    rewards = np.concatenate([reward for _, (_, reward) in look])
    np.testing.assert_allclose(rewards, counted.bound / values)


def test_agents_learn_from_refused_draws_with_the_values_that_are_known():
    """Every draw until enough are new enters PPO: what was refused for repeating included."""
    from mapper.marl.batched import BatchedLearner

    config = MarlConfig(surrogate=0, pretrained="none", share=1.0, policy=True)
    counted, learner = started(BatchedLearner, config, 900)
    kept, keep = [], learner._keep

    def spied(choices, values):
        keep(choices, values)
        kept.append((choices.chosen, values))

    learner._keep = spied
    learner.run()
    chosen = np.concatenate([choices for choices, _ in kept])
    values = np.concatenate([given for _, given in kept])
    assert len(chosen) > 900
    np.testing.assert_array_equal(counted.look(learner._actions(chosen)).values, values)


def test_rewards_do_not_saturate():
    from mapper.marl.observation_and_reward import Observer

    rng, observer = np.random.default_rng(0), Observer(problem())
    for scale in (0.01, 1.0, 5.0):
        parents, values = np.ones(400), np.exp(scale * np.abs(rng.normal(size=400)))
        values[:40] = np.inf
        for _ in range(30):
            rewards = observer.gain(parents, values)
        assert (rewards[:40] == -1).all()
        assert (np.abs(rewards[40:]) < 0.99).all()
        assert np.median(rewards[40:]) == pytest.approx(-0.5, abs=0.05)
        order = np.argsort(values[40:])
        assert (np.diff(rewards[40:][order]) < 0).all()


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "paper", "agents": 1},
        {"policy": True, "share": 1.0, "patience": 0},
        {"policy": True, "reward": "rank", "own_choice": False},
        {"policy": True, "reward": "relative", "agents": 5, "self_imitation": 0.1},
        {"policy": True, "autoregressive": True, "self_imitation": 0.1},
        {"avoid_repeats": False, "exchange": 0.0, "agents": "15"},
        {"patience": 2, "reunion": 0, "alike": 0, "idle": 0},
        {"patience": 2, "reunion": 1, "alike": 1, "idle": 0},
    ],
)
def test_every_option_runs_and_finds_a_mapping(options):
    actions, result = samples_of(baselines.load("marl", **options), 300)
    assert len(actions) == 300
    assert np.isfinite(result.best_value)


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
            entry = nearest_layer(counted.layer, counted.accelerator)
            assert entry.kind == counted.layer.kind.value
            assert entry.limited == (accelerator == "edge")


def test_a_reunion_begins_with_the_bests_of_every_epoch():
    from mapper.marl.batched import BatchedLearner

    counted, learner = started(BatchedLearner, MarlConfig(patience=3, reunion=2), 1500)
    starts, populate = [], learner._populate

    def spied():
        bests, before = learner.archive.values.copy(), counted.samples
        populate()
        starts.append(
            (learner.elites.values.copy(), bests, counted.samples - before, counted.best_value)
        )

    learner._populate = spied
    learner.run()
    assert len(starts) >= 4
    for epoch, (elites, bests, spent, best) in enumerate(starts):
        if epoch and epoch % 2 == 0:
            assert spent == 0
            np.testing.assert_array_equal(elites, bests)
            assert elites[0] == best
        else:
            assert spent > 0


def test_a_search_begins_with_what_pretrained_agents_propose():
    firsts = []
    for options in ({}, {"pretrained": "none"}):
        asked, problem = [], Problem("mobilenetv2.2", "edge", "edp")
        problem.on_evaluate = lambda actions, evaluation, kept=asked: kept.append(
            (actions, evaluation.values)
        )
        baselines.load("marl", **options).search(problem, 48, 3)
        assert len(np.unique(np.concatenate([a for a, _ in asked]), axis=0)) == 48
        firsts.append(np.median(np.concatenate([v for _, v in asked])[:32]))
    assert firsts[0] < 0.5 * firsts[1]


def test_a_search_that_agents_began_ends_where_nothing_is_left_to_gain(tmp_path):
    problem = Problem("gemm:M=16,N=24,K=32", "edge", "edp")
    options = {"surrogate": 0, "idle": 2, "checkpoint": str(tmp_path / "search.pt")}
    ended = baselines.load("marl", **options).search(problem, 20_000, 0)
    assert ended.samples < 20_000
    again = Problem("gemm:M=16,N=24,K=32", "edge", "edp")
    gone_on = baselines.load("marl", **options).search(again, 20_000, 0)
    assert (gone_on.samples, gone_on.best_value) == (ended.samples, ended.best_value)
    for other in ({"idle": 0}, {"pretrained": "none"}):
        found = baselines.load("marl", **{**options, "checkpoint": "", **other})
        assert found.search(problem, ended.samples + 400, 0).samples == ended.samples + 400


def test_a_discount_gives_every_sample_of_the_papers_mode_its_return():
    from mapper.marl.paper import _returned
    from mapper.marl.ppo import Transitions

    rewards = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    none = np.zeros((2, 1), np.int64)
    parts = [
        Transitions(none.astype(np.float32), none, none, none > 0, none[:, 0] > 0, one)
        for one in rewards
    ]
    found = [part.reward.tolist() for part in _returned(parts, 0.5)]
    assert found == [[1 + 0.5 * (3 + 2.5), 2 + 0.5 * (4 + 3)], [5.5, 7.0], [5.0, 6.0]]
    assert [part.reward.tolist() for part in _returned(parts, 0.0)] == rewards.tolist()
    with pytest.raises(ValueError, match="only the mode paper"):
        MarlConfig(discount=0.5)
