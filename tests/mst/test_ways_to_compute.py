"""Products in bfloat16, models that torch translates, batches that processes share."""

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `mst` is not installed")

from marl_runs import SilentReporter, Store, run_all
from mst.config import GptShape, PretrainConfig, SparseSettings
from mst.errors import TeamError
from mst.experiment import SparsePretraining
from mst.following import job_of
from mst.presets import three_phases
from mst.team import team_of
from mst.trainer import Pretrainer

SPARSE = SparseSettings(
    sparsity=0.8, phases=three_phases(0.2, 0.2), every=5, moves=3, window=8, stride=16
)
SHAPE = GptShape(layers=1, width=16, heads=2, context=64)
CONFIG = PretrainConfig(shape=SHAPE, sparse=SPARSE, batch=4, micro_batch=1)
UPDATES = 16


def losses(config, corpus, updates=UPDATES):
    trainer = Pretrainer(config, 3, updates, corpus)
    while trainer.done < updates:
        trainer.step()
    return trainer.losses


@pytest.mark.parametrize("pattern", ["local+strided", "span:8", "dense"])
def test_products_in_bfloat16_learn_alike(corpus, pattern):
    config = replace(CONFIG, sparse=replace(SPARSE, pattern=pattern))
    wide, narrow = (losses(replace(config, dtype=d), corpus) for d in ("float32", "bfloat16"))
    assert not np.array_equal(wide, narrow)
    np.testing.assert_allclose(wide, narrow, rtol=5e-3)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_translated_model_learns_alike(corpus):
    config = replace(CONFIG, micro_batch=4)
    plain, translated = (losses(replace(config, compile=c), corpus, 3) for c in (False, True))
    np.testing.assert_allclose(plain, translated, rtol=1e-4)


def test_processes_share_a_run_and_go_on_with_it(corpus, corpus_folder, tmp_path, monkeypatch):
    """Two processes, stopped after six updates and continued, are one process to rounding."""
    budget = UPDATES * CONFIG.tokens_per_update
    digest = corpus.manifest.digest
    shared = replace(CONFIG, processes=2)
    one, two = (
        SparsePretraining("mst", c, digest, str(corpus_folder), 3, budget, windows=8)
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
    from mst.checkpoints import FORMAT

    straight = losses(CONFIG, corpus)
    first = Pretrainer(CONFIG, 3, UPDATES, corpus)
    while first.done < 6:
        first.step()
    FORMAT.save(tmp_path / "checkpoint.pt", first.state_dict())
    shared = replace(CONFIG, processes=2)
    job = job_of(
        shared, seed=3, updates=UPDATES, corpus=str(corpus_folder), above={}, threads=1,
        checkpoint=str(tmp_path / "checkpoint.pt"),
    )  # fmt: skip
    json.dumps(job)
    with team_of(2, job, tmp_path) as team:
        trainer = Pretrainer(shared, 3, UPDATES, corpus, {}, team)
        FORMAT.restore(tmp_path / "checkpoint.pt", trainer.load_state_dict)
        team.wait()
        while team.go_on(trainer.done < UPDATES):
            trainer.step()
    np.testing.assert_allclose(trainer.losses, straight, rtol=1e-5)


def test_a_process_that_is_lost_is_told(corpus, tmp_path):
    job = job_of(
        replace(CONFIG, processes=2), seed=3, updates=UPDATES, corpus=str(tmp_path / "nowhere"),
        above={}, threads=1, checkpoint=None,
    )  # fmt: skip
    with (
        pytest.raises(TeamError, match="the same command goes on from the last checkpoint"),
        team_of(2, job, tmp_path) as team,
    ):
        team.wait()
