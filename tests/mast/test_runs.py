"""Whole runs: resumed ones are uninterrupted ones, backends agree, what is kept plays the same."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mast.arms import ARMS
from mast.comparing import summary
from mast.config import ALGORITHMS, MastConfig
from mast.exporting import SparsePolicy
from mast.flops import layer_costs, run_cost, sparse_counterpart
from mast.playing import Team, evaluate
from mast.scaling import RewardScale
from mast.show import print_comparison
from mast.tasks import TeamWorlds, find_task
from mast.tiny import CLOSE, STEPS, widths_of
from mast.trainer import MastTrainer
from mast.widths import NetworkWidths
from tests.mast import small
from tests.mast.small import SMALL, trained


def weights(trainer):
    return {name: layer.dense().numpy() for name, layer in trainer.learner.layers.items()}


def same(one, other, **close):
    for name, weight in weights(one).items():
        np.testing.assert_allclose(weight, weights(other)[name], **close)


@pytest.mark.parametrize("arm", ["mast", "block4"])
def test_a_resumed_run_is_the_uninterrupted_one_and_backends_agree(arm):
    config = replace(SMALL, arm=arm, backend="compiled", dtype="float64", sparsity=0.7)
    whole = trained(config)
    half = MastTrainer(config, small.STEPS, 0, episodes=4)
    while half.progress.steps < 700:
        half.step()
    resumed = MastTrainer(config, small.STEPS, 0, episodes=4)
    resumed.load_state_dict(half.state_dict())
    resumed.run()
    same(whole, resumed, rtol=0, atol=0)
    assert resumed.progress.evaluations == whole.progress.evaluations
    masked = trained(replace(config, backend="masked"))
    same(whole, masked, rtol=0, atol=1e-10)
    assert whole.learner.sparsifier.steps > 2
    for name, target in whole.learner._target_layers.items():
        off = ~whole.learner.layers[name].structure.mask
        assert not target.dense().numpy()[off].any()


def test_two_seeds_differ_and_costs_are_what_was_kept():
    one, other = trained(SMALL), trained(SMALL, seed=1)
    assert any((weights(one)[n] != w).any() for n, w in weights(other).items())
    costs = layer_costs(SMALL, one.worlds.shape, NetworkWidths.of(SMALL))
    assert {n: c.kept for n, c in costs.items()} == one.learner.sparsifier.counts()


@pytest.mark.parametrize("left", ["agents", "mixer"])
def test_networks_that_are_left_dense_keep_and_cost_everything(left):
    config = replace(SMALL, left_dense=left, backend="compiled")
    learner = trained(config).learner
    layers = learner.layers.items()
    assert {n for n, layer in layers if layer.structure is None} == {
        n for n, _ in layers if n.startswith(left)
    }
    costs = layer_costs(config, learner.shape, NetworkWidths.of(config))
    kept = sum(cost.kept for cost in costs.values())
    assert kept == sum(cost.multiplied for cost in costs.values())
    whole = sum(layer.in_features * layer.out_features for _, layer in layers)
    assert learner.sparsity == pytest.approx(1 - kept / whole)
    other = MastTrainer(config, small.STEPS, 1).learner
    other.take_masks(learner.sparsifier.state_dict())
    assert other.sparsifier.counts() == learner.sparsifier.counts()


def test_rewards_are_centred_only_where_episodes_cannot_end_early():
    trainer, rewards = MastTrainer(SMALL, small.STEPS), np.array([-3.0, -1.0, -1.5])
    for part in (rewards[:1], rewards[1:]):
        trainer.moments.add(part)
    centred = (rewards - rewards.mean()) / rewards.std()
    np.testing.assert_allclose(trainer.scale(rewards), centred)
    trainer.task = replace(trainer.task, endless=None)
    np.testing.assert_allclose(trainer.scale(rewards), rewards / rewards.std())
    trainer.config = replace(SMALL, standardise=False)
    np.testing.assert_array_equal(trainer.scale(rewards), rewards)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_counted_operations_are_those_of_the_layers(algorithm):
    config = replace(SMALL, algorithm=algorithm, arm="dense+")
    trainer = trained(config, steps=200)
    seen = {}
    parts = (trainer.learner.networks, trainer.learner.targets)
    for part in parts:
        for name, layer in part.named_modules():
            if hasattr(layer, "in_features"):

                def note(layer, inputs, output, name=name):
                    size = layer.in_features * layer.out_features
                    seen[name] = seen.get(name, 0) + 2 * size * inputs[0].shape[1]

                layer.register_forward_hook(note)
    trainer.learner.update(trainer.store.sample(), RewardScale(), 100)
    costs = layer_costs(config, trainer.worlds.shape, NetworkWidths.of(config))
    assert {n: c.update().theoretical.forward for n, c in costs.items()} == seen


@pytest.mark.parametrize(("agents", "share"), [("mlp", True), ("gru", False)])
def test_what_is_kept_plays_as_the_run_does_without_torch(agents, share, tmp_path):
    trainer = trained(replace(SMALL, agents=agents, share=share, worlds=2), steps=400)
    path = tmp_path / "x.safetensors"
    SparsePolicy.of(trainer.learner).save(path)
    policy = SparsePolicy.load(path)

    def team(n):
        return Team(policy.shape, n, share, policy.values, "float32")

    ours = evaluate(trainer.task, None, team, 16)
    np.testing.assert_array_equal(ours, evaluate(trainer.task, None, trainer.team, 16))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match="is no trained team"):
        SparsePolicy.load(path)


def test_arms_are_compared_where_dense_networks_earn_nothing_too():
    cost = dict.fromkeys(("weights", "train_flops", "inference_flops", "train_flops_executed"), 1)
    rows = [
        {"task": task, "arm": arm, "return": value, "train_cpu_s": [1.0], **cost}
        for task, full in (("one", 11.0), ("other", -1.0))
        for arm, values in (("dense+", (full, full)), ("tiny+ 0.9", (1, 3)), ("mast 0.9", (4, 5)))
        for value in values
    ]
    rows[-1]["train_flops"] = rows[-2]["train_flops"] = 0  # too short for an update
    found = summary(rows, {"one": 1.0, "other": 0.0})
    assert [row["train_times"] for row in found] == [1, 1, 1, 1, 1, None]
    assert [row["mean_score"] for row in found] == [100, 10, 35, None, None, None]
    assert [row["wins"] for row in found if row["arm"] == "mast 0.9"] == [1, 1]
    print_comparison(found)


@pytest.mark.parametrize("sparsity", [0.9, 0.95])
def test_tiny_networks_cost_what_sparse_ones_do(sparsity):
    shape = TeamWorlds(find_task("spread-6"), 1).shape
    config = MastConfig(arm="tiny+", sparsity=sparsity)
    ours = run_cost(config, shape, STEPS, widths_of(config, shape)).training.theoretical.total
    theirs = run_cost(sparse_counterpart(config), shape, STEPS).training.theoretical.total
    assert abs(ours / theirs - 1) <= CLOSE


@pytest.mark.parametrize("arm", sorted(ARMS))
def test_a_configuration_comes_back_from_its_plain_values(arm):
    config = replace(SMALL, arm=arm, sparsity=0.9, lam=0.3)
    assert MastConfig.of(config.plain()) == config
