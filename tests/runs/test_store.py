import re
import sqlite3
import time
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

from marl_runs import ClaimLostError, RunStatus, Store, StoreError, plain
from marl_runs.store.blobs import pack, unpack
from marl_runs.store.records import ClaimState, Ending, RunIdentity


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.sqlite"


def identity(number: int = 0) -> RunIdentity:
    return RunIdentity(f"{number:064x}", "toy", f"toy {number}", number, 100, {"number": number})


def samples(count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 40, size=(count, 5)), rng.random(count)


@settings(max_examples=40)
@given(
    nst.arrays(np.int64, st.tuples(st.integers(0, 20), st.integers(1, 5))),
    st.randoms(use_true_random=False),
)
def test_samples_survive_packing(actions, random):
    values = np.array([random.choice([np.inf, random.random() * 1e12]) for _ in actions])
    back_actions, back_values = unpack(pack(7, actions, values))
    np.testing.assert_array_equal(back_actions, actions)
    np.testing.assert_array_equal(back_values, values)


@pytest.mark.parametrize(("high", "dtype"), [(255, "u1"), (256, "u2"), (1 << 20, "u4")])
def test_actions_take_the_smallest_type(high, dtype):
    assert pack(0, np.array([[0, high]]), np.array([1.0])).dtype == dtype


def test_damaged_samples_are_refused():
    chunk = pack(0, *samples(10))
    for wrong, says in (
        ({"actions": b"no zlib"}, "damaged"),
        ({"objective": zlib.compress(bytes(1 << 20))}, "damaged"),
        ({"dtype": "O"}, "unknown type"),
    ):
        with pytest.raises(StoreError, match=says):
            unpack(replace(chunk, **wrong))


def test_a_run_from_claim_to_end(path):
    with Store.open(path) as store:
        claim = store.claim(identity())
        assert claim.state is ClaimState.CLAIMED
        actions, values = samples(30)
        store.append(claim.run_id, pack(0, actions[:20], values[:20]))
        store.append(claim.run_id, pack(20, actions[20:], values[20:]))
        store.add_metrics(claim.run_id, [("m", 1, 0.5), ("m", 2, float("nan")), ("m", 1, 0.7)])
        assert store.claim(identity()).state is ClaimState.BUSY
        store.end(
            claim.run_id,
            Ending(RunStatus.FINISHED, 30, float(values.min()), 1.0, 0.5, {"a": np.float64(2)}),
        )
        assert store.claim(identity()).state is ClaimState.FINISHED
    with Store.open(path, create=False) as store:
        (run,) = store.runs(kind="toy", status="finished")
        assert run.samples == 30
        assert run.best_value == values.min()
        assert run.result == {"a": 2.0}
        assert run.versions["python"].startswith("3.")
        got_actions, got_values = store.samples(run.id)
        np.testing.assert_array_equal(got_actions, actions)
        np.testing.assert_array_equal(got_values, values)
        steps, figures = store.metrics(run.id, "m")
        assert steps.tolist() == [1, 2]
        np.testing.assert_array_equal(figures, [0.7, np.nan])
        assert store.metric_names(run.id) == ["m"]


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.INTERRUPTED])
def test_a_run_that_did_not_finish_is_given_again_without_its_samples(status):
    with Store.open() as store:
        claim = store.claim(identity())
        store.append(claim.run_id, pack(0, *samples(5)))
        store.end(claim.run_id, Ending(status, 5, 0.1))
        again = store.claim(identity())
        assert (again.state, again.run_id, again.attempt) == (ClaimState.CLAIMED, claim.run_id, 2)
        assert store.samples(claim.run_id)[1].size == 0
        assert store.run(claim.run_id).samples == 0


def test_who_lost_a_claim_cannot_write(path):
    with Store.open(path) as first, Store.open(path) as second:
        claim = first.claim(identity())
        first.end(claim.run_id, Ending(RunStatus.INTERRUPTED))
        assert second.claim(identity()).state is ClaimState.CLAIMED
        with pytest.raises(ClaimLostError):
            first.append(claim.run_id, pack(0, *samples(5)))
        with pytest.raises(ClaimLostError):
            first.end(claim.run_id, Ending(RunStatus.FINISHED))
        assert second.run(claim.run_id).samples == 0


def test_removed_runs_leave_nothing(path):
    with Store.open(path) as store:
        claim = store.claim(identity())
        store.append(claim.run_id, pack(0, *samples(5)))
        store.add_metrics(claim.run_id, [("m", 0, 1.0)])
        assert store.remove([claim.run_id, 99]) == 1
        assert store.runs() == []
        assert store.metric_names(claim.run_id) == []
        assert store.claim(identity()).run_id != claim.run_id


def test_runs_are_found_by_number_and_key():
    with Store.open() as store:
        for key in ("0" * 64, "000000abc" + "0" * 55, "99ab34" + "0" * 58):
            store.claim(replace(identity(), key=key))
        assert store.run("2").id == store.run("000000abc").id == 2
        assert store.run("99ab34").id == 3
        for text, says in (
            ("000000", "2 runs begin like this"),
            ("zzz", "mapper runs list"),
            ("99", "not in the store"),  # a wrong number is not taken for the beginning of a key
            ("99ab3", "not in the store"),
        ):
            with pytest.raises(StoreError, match=says):
                store.run(text)


def test_locations_that_are_no_store(tmp_path):
    sqlite3.connect(tmp_path / "other.sqlite").execute("create table t (x)").connection.commit()
    for location, message in [
        (tmp_path / "other.sqlite", "holds no runs"),
        ("nonsense://user:secret@host/x", "database URL"),
    ]:
        with pytest.raises(StoreError, match=message) as caught:
            Store.open(location, create=False)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["a?b.sqlite", "exp%201.sqlite", "a#b&c=d.sqlite", "a+b c.sqlite"])
def test_a_path_is_taken_as_it_is_and_can_be_read_in_a_read_only_place(tmp_path, monkeypatch, name):
    with Store.open(tmp_path / name) as store:
        store.claim(identity())
    assert [path.name for path in tmp_path.iterdir()] == [name]
    monkeypatch.setattr("marl_runs.store.engine._writable", lambda _path: False)
    with Store.open(tmp_path / name, create=False) as store:
        assert [run.name for run in store.runs()] == ["toy 0"]
        with pytest.raises(StoreError, match="cannot write: attempt to write a readonly"):
            store.remove([1])
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_damaged_file_is_named_with_a_remedy(path):
    Store.open(path).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(StoreError, match=r"the file is damaged.*\.recover"):
        Store.open(path)


def test_a_file_whose_index_is_not_its_table_is_damaged(path):
    with Store.open(path) as store:
        run_id = store.claim(identity()).run_id
        store.append(run_id, pack(0, *samples(5)))
    with sqlite3.connect(path) as raw:
        raw.execute("pragma writable_schema = on")
        raw.execute("create index more on runs_samples (width)")
        raw.execute("update sqlite_master set rootpage = 2 where name = 'more'")
    with Store.open(path) as store, pytest.raises(StoreError, match=r"damaged.*\.recover"):
        store.check_file()


def test_text_that_is_no_utf_8_does_not_hide_the_others(path):
    with Store.open(path) as store:
        for number in range(2):
            store.claim(identity(number))
    with sqlite3.connect(path) as raw:
        raw.execute("update runs set command = cast(x'61ff62' as text) where id = 1")
    with Store.open(path) as store:
        first, _ = store.runs()
        assert first.command == "a\ufffdb"


def test_missing_samples_are_noticed():
    with Store.open() as store:
        claim = store.claim(identity())
        store.append(claim.run_id, pack(10, *samples(5)))
        with pytest.raises(StoreError, match=r"samples 0\.\.9 are missing"):
            store.samples(claim.run_id)


def test_plain_values_are_json():
    value = {"a": np.arange(2), "b": (np.inf, 1.5), 3: np.int64(4), "c": None}
    assert plain(value) == {"a": [0, 1], "b": [None, 1.5], "3": 4, "c": None}


def damage(path, column, value, number=1):
    with sqlite3.connect(path) as raw:
        raw.execute(f"update runs set {column} = ? where id = ?", (value, number))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("spec", '{"problem": '),
        ("spec", '{"problem": 1, "problem": 2}'),
        ("spec", 5),
        ("result", "[1]"),
        ("status", "finishd"),
        ("seed", "first"),
        ("best_value", b"\x00"),
        ("versions", "null"),
        ("started", 1e300),
        ("wall_s", -1.0),
        ("samples", -5),
    ],
)
def test_one_damaged_run_does_not_hide_the_others(path, column, value):
    with Store.open(path) as store:
        for number in range(2):
            run_id = store.claim(identity(number)).run_id
            store.end(run_id, Ending(RunStatus.FINISHED, result={"a": 1}))
    damage(path, column, value)
    with Store.open(path) as store:
        assert [run.id for run in store.runs()] == [2]
        (bad,) = store.damaged()
        assert (bad.id, bad.name) == (1, "toy 0")
        assert re.match(
            f"{column} is |{column}: (not valid JSON|member 'problem' is given)", bad.why
        )
        with pytest.raises(StoreError, match=r"damaged \(.*`mapper runs rm 1`"):
            store.run(1)
        assert store.number("1") == 1
        if column == "status":  # it can only be done again
            assert store.claim(identity()).state is ClaimState.CLAIMED
            assert store.damaged() == []
        else:
            assert store.remove([1]) == 1


@pytest.mark.parametrize("ahead_s", [3600.0, -3600.0])
def test_a_claim_of_another_machine_whose_clock_is_far_off_is_not_honoured(path, ahead_s):
    with Store.open(path) as store, Store.open(path) as other:
        store.claim(identity())
        damage(path, "owner", '["elsewhere/", 1, null, "0"]')
        assert other.claim(identity()).state is ClaimState.BUSY
        damage(path, "heartbeat", time.time() + ahead_s)
        assert other.claim(identity()).state is ClaimState.CLAIMED


@pytest.mark.parametrize(
    "owner", ["", "5", "[]", '["a", "b", null, 1]', "[null, null, null, null]"]
)
def test_an_owner_that_is_no_owner_is_judged_by_its_heartbeat(path, owner):
    with Store.open(path) as store:
        store.claim(identity())
        damage(path, "owner", owner)
        assert store.run(1).standing == "running"


def test_claims_that_are_let_go_may_be_claimed_in_the_same_process(path):
    with Store.open(path) as first, Store.open(path) as second:
        first.claim(identity())
        assert second.claim(identity()).state is ClaimState.BUSY
        first.let_go()
        assert second.claim(identity()).state is ClaimState.CLAIMED
    with Store.open(path) as third:
        assert third.claim(identity()).state is ClaimState.CLAIMED
