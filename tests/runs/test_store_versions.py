"""Stores of other versions: brought up to date, or refused by name of who wrote them."""

import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from marl_runs import RunStatus, Store, StoreError
from marl_runs.store.schema import SCHEMA_VERSION, Base
from mpe_marl import TrainConfig, Training

DATA = Path(__file__).with_name("data")


@pytest.fixture
def old(tmp_path):
    """A store of version 1: four searches, a training run, and one that was interrupted."""
    path = tmp_path / "old.sqlite"
    with sqlite3.connect(path) as raw:
        raw.executescript((DATA / "store-1.sql").read_text())
    raw.close()
    return path


def differences(store):
    def ours(name, kind, _parents):
        return kind != "table" or name in Base.metadata.tables

    options = {"include_name": ours, "version_table": "runs_version", "compare_type": False}
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=options)
        return [d for d in compare_metadata(context, Base.metadata) if "runs_version" not in str(d)]


def test_a_store_of_the_first_version_opens_with_all_it_holds(old):
    with Store.open(old, create=False) as store:
        runs = store.runs()
        assert [run.kind for run in runs] == ["search"] * 4 + ["mpe"] * 2
        assert [run.status for run in runs][4:] == [RunStatus.FINISHED, RunStatus.INTERRUPTED]
        assert store.damaged() == []
        for run in runs[:4]:
            actions, values = store.samples(run.id)
            assert len(actions) == run.samples == run.budget
            assert values.min() == run.best_value
        assert store.metrics(5, "mean_reward")[0].tolist() == [2, 4]
        assert runs[2].spec["options"] == {"hidden": 8, "elites": 20}
        assert differences(store) == []


def test_an_upgraded_store_is_written_like_a_new_one(old, tmp_path):
    with Store.open(old) as store:
        assert store.remove([1]) == 1
        assert differences(store) == []
    with Store.open(old) as store, Store.open(tmp_path / "new.sqlite") as new:
        assert [run.id for run in store.runs()] == [2, 3, 4, 5, 6]
        assert differences(new) == []
    with sqlite3.connect(old) as raw:
        assert raw.execute("select count(*) from runs_samples where run_id = 1").fetchone() == (0,)
        version = raw.execute("select value from mapper_meta").fetchone()
        assert version == (str(SCHEMA_VERSION),)  # which programs of version 1 refuse


def _count(path):
    with Store.open(path) as store:
        return len(store.runs())


def test_training_runs_are_called_after_the_law_they_used(old):
    """What was stored as ``neighbor`` took the end's transition: it is ``neighbor-clip`` now."""
    names = {5: ("neighbor", "neighbor-clip"), 6: ("neighbor-skip", "neighbor")}
    folders = old.with_name(old.name + ".files")
    with sqlite3.connect(old) as raw:
        for run, (was, _) in names.items():
            (spec,) = raw.execute("select spec from mapper_runs where id = ?", (run,)).fetchone()
            change = "update mapper_runs set spec = ?, name = ?, key = ?, seed = 0 where id = ?"
            values = (spec.replace("prioritised", was), f"tag {was}-joint-16 seed 0", f"{run}" * 64)
            raw.execute(change, (*values, run))
            (folders / (str(run) * 16)).mkdir(parents=True)
    raw.close()
    with Store.open(old) as store:
        for run, (_, law) in names.items():
            found = store.run(run)
            assert found.spec["config"]["law"] == law
            assert found.name == f"tag {law}-joint-16 seed 0"
            assert store.folder(found.key).is_dir()
        trained = Training(TrainConfig.of(store.run(6).spec["config"]), 0, 6, 2)
        assert trained.identity().key == store.run(6).key


def test_two_processes_may_upgrade_at_once(old):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(_count, [str(old)] * 4) == [6] * 4


def test_an_old_store_that_cannot_be_written_says_what_to_do(old, monkeypatch):
    monkeypatch.setattr("marl_runs.store.engine._writable", lambda _path: False)
    with pytest.raises(StoreError, match="has schema version 1 and cannot be written to"):
        Store.open(old, create=False)


@pytest.mark.parametrize("version", ["99", "0", "new"])
def test_a_store_of_an_unknown_version_names_its_writer(old, version):
    Store.open(old).close()
    with sqlite3.connect(old) as raw:
        raw.execute("update runs_version set version_num = ?", (version,))
    with pytest.raises(StoreError, match=f"version {version}, written by marl-mapper 0.1.0; this"):
        Store.open(old)
