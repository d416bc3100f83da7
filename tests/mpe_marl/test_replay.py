"""Layouts hold what was stored; laws draw with their probabilities."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mpe_marl.errors import MpeError, ReplayMemoryError
from mpe_marl.replay import LAWS, LAYOUTS, Replay, Schema, make_law
from mpe_marl.replay.laws import Neighbor, Recent, Runs
from mpe_marl.replay.memory import total_bytes
from mpe_marl.replay.ring import Ring
from mpe_marl.worlds import BatchWorlds, make_spec
from tests.mpe_marl.filling import draws, fill
from tests.programs import python


@settings(max_examples=16, deadline=None)
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    continuous=st.booleans(),
    worlds=st.integers(1, 3),
    capacity=st.integers(10, 60),
    steps=st.integers(1, 80),
    seed=st.integers(0, 1000),
)
def test_every_layout_gives_back_what_was_stored(layout, continuous, worlds, capacity, steps, seed):
    env = BatchWorlds(make_spec("simple_tag", 2, continuous=continuous, episode_length=7), worlds)
    replay = Replay(Schema.of(env), capacity, layout)
    stored = fill([replay], env, steps, seed)[-replay.ring.capacity :]
    assert len(replay) == len(stored)
    rows = replay.ring.physical(np.arange(len(replay)))
    batch = replay.layout.gather(rows).joined()
    obs, act, rewards, after, done = zip(*stored, strict=True)
    close = {"rtol": 1e-6, "atol": 1e-6}  # `state` rebuilds observations in float32
    np.testing.assert_allclose(batch.obs, obs, **close)
    np.testing.assert_allclose(batch.next_obs, after, **close)
    one_hot = act if continuous else np.eye(5)[np.array(act)]
    np.testing.assert_array_equal(batch.actions, np.array(one_hot, dtype=np.float32))
    np.testing.assert_array_equal(batch.rewards, np.array(rewards, dtype=np.float32))
    np.testing.assert_array_equal(batch.done, done)
    if batch.obs_actions is not None:
        parts = [part.reshape(len(rows), -1) for part in (batch.obs, batch.actions)]
        np.testing.assert_array_equal(batch.obs_actions, np.concatenate(parts, axis=1))


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("law", sorted(LAWS))
def test_any_law_on_any_layout_draws_stored_rows_only(layout, law):
    env = BatchWorlds(make_spec("simple_tag", 2, episode_length=5), 2)
    replay = Replay(Schema.of(env), 40, layout, law, batch=64)
    for _ in range(4):
        fill([replay], env, 11)
        held = set(replay.ring.physical(np.arange(len(replay))).tolist())
        for _ in range(5):
            batch = replay.sample()
            assert set(batch.rows.tolist()) <= held
            assert batch.joined().obs.shape == (64, 2, env.obs_dim)


def test_a_cut_keeps_the_state_after_the_newest_transition():
    env = BatchWorlds(make_spec("simple_tag", 2), 2)
    for layout in sorted(LAYOUTS):
        replay = Replay(Schema.of(env), 20, layout)
        stored = fill([replay], env, 6, seed=1) + fill([replay], env, 3, seed=2)
        got = replay.layout.gather(np.arange(18)).joined()
        np.testing.assert_allclose(got.next_obs, [t[3] for t in stored], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(got.obs, [t[0] for t in stored], rtol=1e-6, atol=1e-6)


def ring_after(writes, capacity=101, spare=0):
    ring = Ring(capacity, 1, spare)
    for _ in range(writes):
        ring.advance()
    return ring


def chances(law, ring):
    """Probability that a slot of a batch holds each row, by listing what may be drawn."""
    held = ring.physical(np.arange(ring.size)).tolist()
    if isinstance(law, Neighbor):
        centres = range(ring.size)[law.n : -law.n] if law.edges == "drop" else range(ring.size)
        near = [i + j for i in centres for j in range(-law.n, law.n + 1) if j]
        if law.edges == "clip":
            near = np.clip(near, 0, ring.size - 1)
        rows = [held[i] for i in near if 0 <= i < ring.size]
    elif isinstance(law, Runs):
        blocks = (range(i, i + law.length) for i in range(0, ring.rows, law.length))
        rows = [i for b in blocks if {*b} <= {*held} and ring.start not in b[1:] for i in b]
    else:
        rows = held
    found = np.bincount(rows, minlength=ring.rows) / len(rows)
    if isinstance(law, Recent):
        newest = np.bincount(held[-law.newest :], minlength=ring.rows) / min(law.newest, len(held))
        found = (1 - law.share) * found + law.share * newest
    return found


@pytest.mark.parametrize("law", sorted(set(LAWS) - {"prioritised"}))
@pytest.mark.parametrize(
    ("listed", "writes", "spare"),
    [(False, 40, 0), (False, 150, 0), (True, 150, 3)],
)
def test_rows_are_drawn_with_the_probabilities_of_their_laws(law, listed, writes, spare):
    law, ring = make_law(law), ring_after(writes, spare=spare)
    rng, python_rng = np.random.default_rng(1), random.Random(1)
    # one slot of each of many short batches: slots of one batch are not independent
    draws = [
        (law.draw_list(ring, 96, python_rng) if listed else law.draw(ring, 96, rng))[slot % 96]
        for slot in range(2_000)
    ]
    check_counts(draws, chances(law, ring))


@pytest.mark.parametrize("size", [50, 10])
def test_recent_rows_are_drawn_more_often(size):
    ring, law = ring_after(size, 50), Recent(20, 0.3)
    check_counts(law.draw(ring, 30_000, np.random.default_rng(2)), chances(law, ring))
    with pytest.raises(MpeError, match="from 0 to 1"):
        Recent(3, 1.5)


def check_counts(draws, inclusion):
    seen = np.bincount(draws, minlength=len(inclusion))
    live = inclusion > 0
    assert not seen[~live].any()
    assert stats.chisquare(seen[live], inclusion[live] * len(draws)).pvalue > 1e-3


def test_prioritised_rows_and_weights():
    law, ring = make_law("prioritised"), ring_after(0)
    for row in range(50):
        ring.advance()
        law.written(ring, np.array([row]))
    errors = np.random.default_rng(0).gamma(1.0, 1.0, 50)
    law.update(np.arange(50), errors)
    expected = (errors + law.floor) ** law.alpha
    rng = np.random.default_rng(1)
    rows = law.draw(ring, 20_000, rng)
    seen = np.bincount(rows, minlength=50)
    # stratified: every count within one of its expectation on both sides
    assert (abs(seen - 20_000 * expected / expected.sum()) <= 2).all()
    weights = law.weights(ring, rows)
    assert weights.max() == 1.0
    likely = rows == errors.argmax()
    assert (weights[likely] == weights.min()).all()


def test_neighborhoods_do_not_cross_the_write_cursor():
    ring = ring_after(150)  # rows 0..48 are new, 49..100 old
    for edges in ("drop", "clip"):
        rows = Neighbor(edges=edges).draw(ring, 6 * 400, np.random.default_rng(0))
        age = (rows - ring.start) % ring.rows
        for near in age.reshape(-1, 6):
            assert near.max() - near.min() <= 6


@pytest.mark.parametrize("n", [1, 2, 3])
def test_neighborhoods_are_those_that_the_paper_prints(n):
    """Every row's probability: how many of the listed neighborhoods hold it."""
    d, ring = 9, ring_after(9, capacity=20)
    printed = [[j for j in range(max(0, i - n), min(d, i + n + 1)) if j != i] for i in range(d)]
    whole = [near for near in printed if len(near) == 2 * n]
    clipped = [[min(max(j, 0), d - 1) for j in range(i - n, i + n + 1) if j != i] for i in range(d)]
    laws = {"neighbor": printed, "neighbor-drop": whole, "neighbor-clip": clipped}
    for name, neighborhoods in laws.items():
        rows = [j for near in neighborhoods for j in near]
        for law in (make_law(name, n), make_law(f"shared-{name}", n)):
            assert law.shared == law.name.startswith("shared")
            expected = np.bincount(rows, minlength=20) / len(rows)
            check_counts(law.draw(ring, 30_000, np.random.default_rng(3)), expected)
            check_counts(law.draw_list(ring, 30_000, random.Random(3)), expected)


def test_runs_are_whole_aligned_blocks():
    ring = ring_after(250)  # the cursor stands at 48
    rows = Runs(8).draw(ring, 800, np.random.default_rng(0)).reshape(-1, 8)
    assert (rows[:, 0] % 8 == 0).all()
    assert (np.diff(rows, axis=1) == 1).all()
    assert 48 in rows[:, 0]  # the oldest block starts at the cursor
    with pytest.raises(MpeError, match="needs 7 stored transitions or more; has 6"):
        make_law("neighbor-drop").draw(ring_after(6), 8, np.random.default_rng(0))
    with pytest.raises(MpeError, match="no block of 8 rows"):
        Runs(8).draw(ring_after(7), 8, np.random.default_rng(0))


def test_the_same_seed_draws_the_same_in_another_process(capsys):
    draws()
    here = capsys.readouterr().out
    code = "from tests.mpe_marl.filling import draws; draws()"
    assert here == python(code, PYTHONHASHSEED="1")
    assert here.count("\n") == 2 * len(LAWS)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize(  # before and after the cursor came round
    ("law", "steps"), [("uniform", 6), ("prioritised", 23)]
)
def test_a_restored_store_draws_on_as_if_nothing_happened(layout, law, steps):
    env = BatchWorlds(make_spec("simple_tag", 2, episode_length=5), 2)
    first = Replay(Schema.of(env), 30, layout, law, batch=16, seed=1)
    fill([first], env, steps)
    first.sample()
    tables = {k: np.array(v) for k, v in first.state_dict().items()}
    second = Replay(Schema.of(env), 30, layout, law, batch=16, seed=9)
    second.load_state_dict(tables)
    for _ in range(3):
        fill([first, second], env, 4)
        one, two = first.sample(), second.sample()
        np.testing.assert_array_equal(one.rows, two.rows)
        np.testing.assert_array_equal(one.joined().next_obs, two.joined().next_obs)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_a_checkpoint_holds_written_rows_only_and_fits_no_other_store(layout):
    env = BatchWorlds(make_spec("simple_tag", 2), 2)
    store = Replay(Schema.of(env), 10_000, layout)
    fill([store], env, 6)
    tables = store.state_dict()
    assert sum(v.nbytes for k, v in tables.items() if "finals" not in k) < 20_000
    other = Replay(Schema.of(env), 5_000, layout)
    with pytest.raises(MpeError, match=r"1000\d rows from 2 worlds"):
        other.load_state_dict(tables)


@pytest.mark.parametrize("layout", sorted(set(LAYOUTS) - {"lists"}))
def test_mapped_to_a_file_when_memory_is_short(layout, tmp_path):
    env = BatchWorlds(make_spec("simple_tag", 2))
    mapped = Replay(Schema.of(env), 50, layout, batch=20, directory=tmp_path, limit=1000)
    plain = Replay(Schema.of(env), 50, layout, batch=20)
    assert mapped.layout.mapped
    assert not plain.layout.mapped
    fill([mapped, plain], env, 70)
    np.testing.assert_array_equal(mapped.sample().joined().obs, plain.sample().joined().obs)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_no_room_says_how_much_is_needed(layout, tmp_path):
    schema = Schema.of(BatchWorlds(make_spec("simple_tag", 48)))
    with pytest.raises(ReplayMemoryError, match=r"needs .*iB.*memory allows 1000 B"):
        Replay(schema, 10**6, layout, limit=1000)


def test_a_million_transitions_of_48_agents_fit_in_2_gb():
    shapes = LAYOUTS["state"].shapes(Schema.of(BatchWorlds(make_spec("simple_tag", 48))), 10**6 + 1)
    assert total_bytes(shapes) <= 2e9


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda s: Replay(s, layout="jiont"), "Did you mean 'joint'"),
        (lambda s: Replay(s, batch=0), "batch=0"),
        (lambda s: Replay(s, 100).sample(), "empty replay store"),
        (lambda s: Replay(Schema(2, 3, 5), 100, "state"), "use layout 'joint'"),
        (lambda s: Replay(Schema(2, 3, 5, streams=64), 10), "capacity=10"),
        (lambda s: Neighbor(edges="wrap"), "clip, drop, short"),
        (lambda s: make_law("neighbor", 0), "neighbors=0"),
    ],
)
def test_wrong_use_is_explained(make, message):
    with pytest.raises(MpeError, match=message):
        make(Schema.of(BatchWorlds(make_spec("simple_tag", 2))))
