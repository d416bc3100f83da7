"""Samples of trained agents: hard problems, children of the best, moved arrangements."""

from types import SimpleNamespace

import numpy as np
import pytest

from maestro_env import Problem
from mapper.pretrained import best_first as picking
from mapper.pretrained import trials
from mapper.pretrained.best_first import best_first, drawn_with_care
from mapper.pretrained.bettering import bred
from mapper.pretrained.cases import case_of
from mapper.pretrained.judging import in_order
from mapper.pretrained.mapping import propose_actions
from mapper.pretrained.offering import different, fingerprints, offered_first
from mapper.pretrained.proposer import ProposedMappings, Proposer, arrangement
from mapper.pretrained.rearranging import rearranged
from mapper.pretrained.state import State
from mapper.pretrained.tables import tabulate
from mapper.pretrained.variation import DRAWS, varied
from tests.mapper.pretrained_cases import MODEL, random_cases


def test_hard_problems_are_drawn_for_again(untrained, monkeypatch):
    _, cases = random_cases(6, seed=20)
    tables, proposer = tabulate(cases), Proposer(untrained.weights)
    hard = np.array([True, False, False, True, False, False])
    monkeypatch.setattr(picking, "_is_hard", lambda *_: hard)
    found = drawn_with_care(proposer, tables, 8, np.random.default_rng(1))
    counts = np.bincount(found.which)
    assert (counts[hard] == 8 * (1 + picking.MORE + picking.KEPT)).all()
    assert (counts[~hard] == 8).all()
    kinds, freely = arrangement(found.which, found.state), 48 + 16 * picking.MORE
    free, kept = kinds[:freely], kinds[freely:]
    assert set(kept) <= set(free)
    plain, rows = best_first(proposer, tables, 8, np.random.default_rng(1))
    assert [len(order) for order in rows] == [8] * 6
    np.testing.assert_array_equal(plain.state.tiles, found.state.tiles[:48])


def test_half_of_the_samples_are_proposals_and_the_others_children_of_the_best(
    untrained, monkeypatch
):
    problems = [Problem(layer, "edge", "edp") for layer in ("mobilenetv2.2", "bert_base.6")]
    parents = []

    def watched(proposer, tables, best, mates, rng):
        values = [
            problem.look(problem.space.encode(best.proposals.mappings(best.which == n))).values
            for n, problem in enumerate(problems)
        ]
        parents.append(values)
        return bred(proposer, tables, best, mates, rng)

    monkeypatch.setattr(trials, "bred", watched)
    found = trials.Trials(untrained, problems, np.random.default_rng(0)).run(16)
    assert [len(values) for values in found] == [16, 16]
    assert len(parents) == 2  # after 8 samples, and after 12
    for done, both in zip((8, 12), parents, strict=True):
        for values, best in zip(found, both, strict=True):
            np.testing.assert_array_equal(best, np.sort(values[:done])[: trials.PARENTS])
    plain = [
        problem.look(actions[:8]).values
        for problem, actions in zip(
            problems,
            propose_actions(untrained, problems, 16, np.random.default_rng(0)),
            strict=True,
        )
    ]
    for values, proposed in zip(found, plain, strict=True):
        assert values[0] == proposed[0]
    alone = trials.Trials(untrained, problems, np.random.default_rng(0), varied=False).run(8)
    offered = propose_actions(untrained, problems, 8, np.random.default_rng(0))
    for problem, values, actions in zip(problems, alone, offered, strict=True):
        np.testing.assert_array_equal(values, problem.look(actions).values)
    assert len(parents) == 2


def test_no_mapping_is_sampled_twice_and_a_seed_gives_the_same_samples(untrained):
    problem = Problem("mobilenetv2.2", "edge", "edp")
    sampled = []
    problem.on_evaluate = lambda actions, _: sampled.append(actions)
    run = trials.Trials(untrained, [problem], np.random.default_rng(3))
    values = [run.run(count)[0] for count in (1, 3, 24, 24)]
    assert [len(part) for part in values] == [1, 3, 24, 24]
    actions = np.concatenate(sampled)
    assert len(np.unique(actions, axis=0)) == len(actions) == 52
    again = trials.Trials(untrained, [problem], np.random.default_rng(3))
    for count, part in zip((1, 3, 24), values, strict=False):
        np.testing.assert_array_equal(again.run(count)[0], part)


def test_where_nothing_fits_nothing_is_bred_but_other_arrangements_are_tried(
    untrained, monkeypatch
):
    problem = Problem("mobilenetv2.2", "edge", "edp")

    def refuse(actions):
        return SimpleNamespace(values=np.full(len(actions), np.inf))

    monkeypatch.setattr(problem, "evaluate", refuse)
    (values,) = trials.Trials(untrained, [problem], np.random.default_rng(0)).run(16)
    assert len(values) == 8 + trials.AT_A_TIME
    assert np.isinf(values).all()


def test_children_are_mappings_of_their_problems_that_fit(untrained):
    problems, cases = random_cases(5, seed=20)
    tables, proposer = tabulate(cases), Proposer(untrained.weights)
    found = drawn_with_care(proposer, tables, 16, np.random.default_rng(1))
    rows = in_order(found, 5)
    best = found.take(np.concatenate([rows[n][:3] for n in (0, 2, 3)]))
    mates = found.take(np.concatenate([order[:8] for order in rows]))
    children = bred(proposer, tables, best, mates, np.random.default_rng(2))
    assert set(children.which) <= {0, 2, 3}
    for n in set(children.which):
        mappings = children.proposals.mappings(children.which == n)
        cases[n].space.encode(mappings)
        costs = MODEL.evaluate_batch(problems[n].layer, problems[n].accelerator, mappings)
        assert costs.feasible.mean() > 0.9


def test_moved_arrangements_are_new_and_the_agents_choose_their_tiles(untrained):
    problems = [Problem(layer, "edge", "edp") for layer in ("mobilenetv2.2", "bert_base.6")]
    tables = tabulate([case_of(p.space, p.objective, p.cost_model) for p in problems])
    proposer, rng = Proposer(untrained.weights), np.random.default_rng(0)
    found = drawn_with_care(proposer, tables, 16, rng)
    others = rearranged(proposer, tables, found, in_order(found, 2), rng)
    kinds = arrangement(others.which, others.state)
    assert len(np.unique(kinds)) == len(kinds) > 50
    before = set(arrangement(found.which, found.state).tolist())
    assert np.mean([kind in before for kind in kinds.tolist()]) < 0.5
    for number, problem in enumerate(problems):
        mine = others.proposals.mappings(others.which == number)
        values = problem.look(problem.space.encode(mine)).values
        assert np.isfinite(values).mean() > 0.9
        leaders = found.state.spread[found.which == number]
        for pair in others.state.spread[others.which == number]:
            assert (pair == leaders).any() or (pair[::-1] == leaders).all(axis=1).any()


@pytest.mark.parametrize("layer", ["mobilenetv2.2", "mobilenetv2.1", "bert_base.6"])
def test_variations_are_mappings_of_the_space_whose_idle_loops_are_innermost(untrained, layer):
    problem = Problem(layer, "edge", "edp")
    tables = tabulate([case_of(problem.space, problem.objective, problem.cost_model)])
    rng, which = np.random.default_rng(0), np.zeros(200, np.int64)
    drawn = Proposer(untrained.weights).propose(tables, which, rng).state
    mates, start = (
        State(*(part[order] for part in drawn)) for order in rng.integers(0, 200, (2, 200))
    )
    before = State(*(part.copy() for part in start))
    state = varied(tables, which, start, mates, rng.random((200, DRAWS)))
    assert (state.tiles[:, 0] >= state.tiles[:, 1]).all()
    changed = (state.tiles != before.tiles).any(axis=(1, 2))
    assert 0.5 < changed.mean() <= 1
    mappings = ProposedMappings(which, state).mappings()
    actions = problem.space.encode(mappings)
    again = problem.space.decode(actions)
    np.testing.assert_array_equal(again.tiles, mappings.tiles)
    steps = np.stack([problem.layer.extents] * 200) / state.tiles[:, 0]
    for row in range(200):  # a loop of one step stands behind those that may iterate
        alone = [
            d for d in state.orders[row, 0] if steps[row, d] > 1 and d not in state.spread[row]
        ]
        idle = [d for d in state.orders[row, 0] if steps[row, d] <= 1]
        places = {d: place for place, d in enumerate(state.orders[row, 0])}
        assert max((places[d] for d in alone), default=-1) < min(places[d] for d in idle)


def test_equal_mappings_have_one_fingerprint_and_are_offered_once(untrained):
    _, cases = random_cases(1, seed=5)
    tables = tabulate(cases)
    made = Proposer(untrained.weights).propose(tables, np.zeros(6, int), np.random.default_rng(0))
    twice = State(*(np.concatenate([part, part]) for part in made.state))
    numbers = fingerprints(twice)
    np.testing.assert_array_equal(numbers[:6], numbers[6:])
    assert len(set(numbers)) == 6
    expected = np.tile(np.arange(6.0), 2).astype(np.float32)
    order = np.argsort(expected, kind="stable")
    kept = different(order, np.zeros(12, np.int64), expected, numbers)
    np.testing.assert_array_equal(kept, np.arange(6))


def test_a_like_of_what_is_offered_waits_for_something_else(untrained):
    _, cases = random_cases(1, seed=5)
    made = Proposer(untrained.weights).propose(
        tabulate(cases), np.zeros(3, int), np.random.default_rng(0)
    )
    state = State(*(part.copy() for part in made.state))
    state.tiles[1] = state.tiles[0]
    state.spread[1], state.cluster[1] = state.spread[0], state.cluster[0]
    state.tiles[2] = 64 * state.tiles[0]
    expected = np.array([0.0, 0.01, 0.02], np.float32)
    assert list(offered_first(np.arange(3), expected, state, 3)) == [0, 2, 1]
    assert list(offered_first(np.arange(3), 10 * expected, state, 3)) == [0, 1, 2]
