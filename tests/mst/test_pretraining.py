"""Training: equal to plain torch, to itself when interrupted, and to what was counted."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")

from marl_runs import CheckpointError
from mst.arms import ARMS, arm_run, counted_ratio
from mst.attention import Attention
from mst.checkpoints import FORMAT
from mst.config import AdamSettings, GptShape, PretrainConfig, SparseSettings
from mst.errors import MstError
from mst.evaluating import bits_per_byte, loss_rise
from mst.flops import planned, schedule_of, update_work
from mst.model import SparseGpt
from mst.plain import PlainGpt
from mst.presets import preset, three_phases
from mst.trainer import Pretrainer
from tests.mst import small
from tests.mst.small import config_of, continued, trained

SHAPE = GptShape(layers=2, width=16, heads=2, context=32)
CONFIG = replace(small.CONFIG, shape=SHAPE, micro_batch=2)
DENSE = replace(CONFIG, sparse=SparseSettings())
UPDATES = 30


def same(one, two):
    theirs = two.model.state_dict()
    return all(torch.equal(value, theirs[name]) for name, value in one.model.state_dict().items())


def test_the_model_is_the_plain_one():
    model = SparseGpt(SHAPE, seed=1, dtype=torch.float64)
    plain = PlainGpt(model)
    x = torch.randint(0, 256, (3, 32), generator=torch.Generator().manual_seed(0))
    ours, theirs = model.loss(x, x), plain.loss(x, x)
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
    ours.backward()
    theirs.backward()
    expected = {n.replace("embedding", "head"): p.grad for n, p in plain.named_parameters()}
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.grad, expected[name], rtol=1e-8, atol=1e-10, msg=name)


def test_a_dense_arm_is_plain_torch_training(corpus):
    ours = trained(DENSE, corpus, 8)
    again = Pretrainer(DENSE, 3, 8, corpus)
    plain = PlainGpt(again.model)
    matrices = [p for p in plain.parameters() if p.dim() > 1]
    vectors = [p for p in plain.parameters() if p.dim() == 1]
    groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    adam = DENSE.adam
    optimizer = torch.optim.AdamW(
        groups, lr=adam.lr, betas=adam.betas, weight_decay=adam.weight_decay
    )
    losses = []
    for update in range(8):
        for group in optimizer.param_groups:
            group["lr"] = again.lr(update)
        x, y = again._sampler.batch(update)
        optimizer.zero_grad()
        loss = plain.loss(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), adam.clip)
        optimizer.step()
        losses.append(float(loss.detach()))
    np.testing.assert_allclose(ours.losses, losses, rtol=2e-5)


VARIANTS = {
    "mst": {},
    "head": {"mask_head": True},
    "faithful": {"faithful": True},
    "reset": {"optimizer_state": "reset", "growth": "rigl"},
    "block4": {"unit": "block4", "rule": "uniform"},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_run_saved_and_continued_is_the_run(name, corpus, tmp_path):
    config = config_of(CONFIG, **VARIANTS[name])
    straight, second = continued(config, corpus, tmp_path / "run.pt", UPDATES, until=17)
    assert same(straight, second)
    if name == "mst":
        assert not same(straight, trained(config, corpus, UPDATES, seed=4))


def test_masks_are_exact_at_every_change_and_full_at_the_end(corpus):
    trainer = Pretrainer(CONFIG, 0, UPDATES, corpus)
    steps = {m.update: m for m in trainer.schedule.moments()}
    masked = sum(layer.weight.numel() for layer in trainer.model.sparse_layers().values())
    fewest = masked
    while trainer.done < UPDATES:
        moment = steps.get(trainer.done)
        trainer.step()
        kept = sum(trainer.sparsifier.counts().values())
        assert kept == round(trainer.density * masked)
        fewest = min(fewest, kept)
        if moment is not None:
            assert trainer.density == moment.density
        for name, mask in trainer.sparsifier.masks().items():
            weight = trainer.model.sparse_layers()[name].dense().numpy()
            assert not weight[~mask].any()
    assert fewest == round(0.2 * masked)
    assert all(mask.all() for mask in trainer.sparsifier.masks().values())
    assert trainer.density == 1


@pytest.mark.parametrize("arm", ARMS)
def test_what_a_run_does_is_what_was_counted(arm, corpus):
    run = arm_run(arm, CONFIG, UPDATES * CONFIG.tokens_per_update)
    updates = run.config.updates(run.tokens)
    trainer = trained(run.config, corpus, updates)
    assert trainer.work == planned(run.config, updates)
    assert np.isfinite(trainer.losses).all()


def test_counted_by_hand():
    """One layer of width 4 on two windows of 8: every product written out."""
    shape = GptShape(layers=1, width=4, heads=2, context=8)
    config = PretrainConfig(shape=shape, batch=2, micro_batch=2)
    rows = 2 * 8
    linear = 4 * 12 + 4 * 4 + 4 * 16 + 16 * 4
    pairs = 8 * 9 // 2
    work = update_work(config, 1.0, None, False).theory
    assert work.linear == 3 * 2 * rows * linear
    assert work.head == 3 * 2 * rows * 256 * 4
    assert work.attention == 3 * 2 * (2 * 2 * 2 * pairs) * 2  # scores and values, 2 heads of 2
    assert work.topology == 0
    sparse = SparseSettings(sparsity=0.75, phases=three_phases(0.5, 0.25), window=2, stride=4)
    config = replace(config, sparse=sparse)
    work = update_work(config, 0.25, sparse.phases[1], True).theory
    assert work.linear == 3 * 2 * rows * (linear // 4)
    assert work.topology == 2 * rows * (linear - linear // 4)
    assert work.attention == 3 * 4 * 4 * 2 * (1 + 2 + 2 + 2 + 3 + 3 + 3 + 3)


def test_masks_execute_what_a_dense_run_does():
    """The masked backend multiplies everything; only the pattern's product is larger."""
    config = preset("small").config
    dense, ours = (arm_run(a, config, 4_096_000).config for a in ("dense", "static"))
    assert planned(ours, 1000).executed == planned(dense, 1000).executed
    compiled = planned(replace(ours, backend="compiled"), 1000).executed
    assert compiled.linear == planned(ours, 1000).theory.linear


@pytest.mark.parametrize(
    ("name", "mask_head", "times"),
    [("small", False, 4.21), ("small", True, 4.77), ("gpt2", True, 4.08), ("gpt2", False, 2.15)],
)
def test_counted_savings_of_the_presets(name, mask_head, times):
    chosen = preset(name)
    sparse = replace(chosen.config.sparse, mask_head=mask_head)
    ratio = counted_ratio(replace(chosen.config, sparse=sparse), chosen.tokens)
    assert ratio == pytest.approx(times, abs=0.006)


def test_tiny_and_short_cost_what_mst_does():
    chosen = preset("small")
    totals = {}
    for arm in ("mst", "tiny", "dense-short", "dense", "mst-long"):
        run = arm_run(arm, chosen.config, chosen.tokens)
        totals[arm] = planned(run.config, run.config.updates(run.tokens)).theory.total
    for arm in ("tiny", "dense-short"):
        assert totals[arm] == pytest.approx(totals["mst"], rel=0.005)
    assert totals["mst-long"] == pytest.approx(totals["dense"], rel=0.01)


def test_faithful_moves_no_weight_on_a_topology_step(corpus):
    config = config_of(CONFIG, faithful=True)
    trainer = Pretrainer(config, 0, UPDATES, corpus)
    before = trainer.model.positions.detach().clone()
    trainer.step()  # a topology step comes with the first update
    assert torch.equal(before, trainer.model.positions)
    trainer.step()
    assert not torch.equal(before, trainer.model.positions)


def test_a_checkpoint_of_another_model_is_refused(corpus, tmp_path):
    FORMAT.save(tmp_path / "run.pt", trained(CONFIG, corpus, UPDATES, until=2).state_dict())
    other = Pretrainer(replace(CONFIG, shape=replace(SHAPE, width=32)), 3, UPDATES, corpus)
    with pytest.raises(MstError, match="checkpoint: is of a model"):
        FORMAT.restore(tmp_path / "run.pt", other.load_state_dict)
    (tmp_path / "run.pt").write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match="is no checkpoint"):
        FORMAT.restore(tmp_path / "run.pt", other.load_state_dict)


def test_micro_batches_learn_as_the_batch(corpus):
    config = config_of(CONFIG, growth="rigl")
    whole, parts = (
        trained(replace(config, micro_batch=m), corpus, UPDATES, until=12) for m in (4, 1)
    )
    np.testing.assert_allclose(whole.losses, parts.losses, rtol=1e-4)


def test_bits_of_a_model_that_knows_nothing(corpus):
    model = SparseGpt(SHAPE)
    with torch.no_grad():
        model.head.weight.zero_()
    assert bits_per_byte(model, corpus.texts["package"], 8) == pytest.approx(8)
    wide = bits_per_byte(SparseGpt(SHAPE), corpus.texts["package"], 8, Attention("local", 8, 16))
    assert wide == pytest.approx(8, abs=0.3)


def test_the_rise_behind_topology_steps():
    schedule = schedule_of(preset("small").config, 1000)
    steps = [m for m in schedule.moments() if m.phase == "ultra"]
    losses = np.zeros(1000)
    for step in steps:
        losses[step.update + 1 : step.update + 11] = 0.5
    assert loss_rise(losses, steps) == pytest.approx(0.5)


@pytest.mark.parametrize(("law", "flat"), [("cosine", 1), ("trapezoid", 4)])
def test_learning_rate_rises_and_falls(corpus, law, flat):
    adam = AdamSettings(lr=0.1, warm_up=0.2, floor=0.1, law=law, decay=0.4)
    config = replace(DENSE, adam=adam)
    trainer = Pretrainer(config, 0, 10, corpus)
    rates = [trainer.lr(update) for update in range(10)]
    assert rates[:2] == pytest.approx([0.05, 0.1])
    assert rates[2] == pytest.approx(0.1)
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert sum(rate > 0.0999 for rate in rates) == flat + 1
    assert 0.01 < rates[-1] < 0.03


@pytest.mark.parametrize(("power", "times"), [(0.0, 1.0), (0.5, 2.0), (1.0, 4.0)])
def test_sparse_layers_learn_faster_by_a_power_of_their_density(corpus, power, times):
    adam = AdamSettings(lr=0.01, by_density=power)
    config = replace(config_of(CONFIG, sparsity=0.75), adam=adam)
    trainer = trained(config, corpus, 20, until=12, seed=0)
    assert trainer.density == 0.25
    layers, *others = [group["lr"] for group in trainer.optimizer.param_groups]
    assert others == [trainer.lr(11)] * 2
    assert layers == pytest.approx(times * others[0])


def test_settings_of_earlier_runs_are_read():
    """Of when a rate by density was a flag, and before rates had laws."""
    plain = DENSE.plain()
    for flag, power in ((True, 1.0), (False, 0.0)):
        plain["adam"]["by_density"] = flag
        assert PretrainConfig.of(plain).adam.by_density == power
    del plain["adam"]["law"], plain["adam"]["decay"]
    assert PretrainConfig.of(plain).adam.law == "cosine"
