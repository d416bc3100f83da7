"""Products in bfloat16, models that torch translates, batches that processes share."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")

from marl_runs import SilentReporter, Store, run_all
from mst.checkpoints import FORMAT
from mst.errors import TeamError
from mst.experiment import SparsePretraining
from mst.following import follower, job_of
from mst.team import ALONE, team_of
from tests.mst import small

CONFIG = replace(small.CONFIG, shape=replace(small.SHAPE, context=64), micro_batch=1)
UPDATES = 9


def losses(config, corpus, updates=UPDATES):
    return small.trained(config, corpus, updates).losses


@pytest.mark.parametrize("pattern", ["local+strided", "span:8", "dense"])
def test_products_in_bfloat16_learn_alike(corpus, pattern):
    config = small.config_of(CONFIG, pattern=pattern)
    wide, narrow = (losses(replace(config, dtype=d), corpus) for d in ("float32", "bfloat16"))
    assert not np.array_equal(wide, narrow)
    np.testing.assert_allclose(wide, narrow, rtol=5e-3)


def test_a_translated_model_learns_alike(corpus, monkeypatch):
    """As far as the graph; what inductor makes of our operators is tests/sparse_training's."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    config = replace(CONFIG, micro_batch=4)
    plain, translated = (losses(replace(config, compile=c), corpus, 3) for c in (False, True))
    np.testing.assert_allclose(plain, translated, rtol=1e-4)


def test_processes_share_a_run_and_go_on_with_it(corpus, corpus_folder, tmp_path, monkeypatch):
    """Two processes are one to rounding."""
    budget = UPDATES * CONFIG.tokens_per_update
    digest = corpus.manifest.digest
    shared = replace(CONFIG, processes=2)
    one, two = (
        SparsePretraining("mst", c, digest, str(corpus_folder), 3, budget, windows=4)
        for c in (CONFIG, shared)
    )
    results = []
    with Store.open(tmp_path / "runs.db") as store:
        for run in (one, two):
            summary = run_all([run], store, workers=1, reporter=SilentReporter())
            assert summary.failed == []
            (found,) = store.runs(key=summary.keys[0])
            results.append(found.result)
    alone, together = results
    assert together["train_loss"] == pytest.approx(alone["train_loss"], rel=1e-5)
    assert together["bpb"]["files"] == pytest.approx(alone["bpb"]["files"], rel=1e-5)
    assert together["density"] == 1
    assert not list(tmp_path.glob("**/meeting-*"))


def test_followers_begin_where_the_checkpoint_is(corpus, corpus_folder, tmp_path):
    straight = small.trained(CONFIG, corpus, UPDATES)
    first = small.trained(CONFIG, corpus, UPDATES, until=6)
    FORMAT.save(tmp_path / "checkpoint.pt", first.state_dict())
    job = job_of(
        CONFIG, seed=3, updates=UPDATES, corpus=str(corpus_folder), above={}, threads=1,
        checkpoint=str(tmp_path / "checkpoint.pt"),
    )  # fmt: skip
    for given, done in ((job, 6), ({**job, "checkpoint": None}, 0)):
        trainer = follower(json.loads(json.dumps(given)), ALONE)
        assert trainer.done == done
        np.testing.assert_array_equal(small.train(trainer).losses, straight.losses)


def test_a_process_that_is_lost_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("mst.team.DIES_S", 60)  # a loaded machine ends processes late
    job = job_of(
        replace(CONFIG, processes=2), seed=3, updates=UPDATES, corpus=str(tmp_path / "nowhere"),
        above={}, threads=1, checkpoint=None,
    )  # fmt: skip
    with (
        pytest.raises(TeamError, match="the same command goes on from the last checkpoint"),
        team_of(2, job, tmp_path) as team,
    ):
        team.wait()
