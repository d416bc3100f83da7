"""Trained agents: what they see, that proposals fit, and files of them."""

from types import SimpleNamespace

import numpy as np
import pytest

import baselines
import cost_models
import layers
from cost_models import Accelerator, MappingBatch
from layers import DIMS, Layer
from maestro_env import MapSpace, Objective, Problem
from mapper.pretrained import best_first as picking
from mapper.pretrained import trials
from mapper.pretrained.best_first import best_first, drawn_with_care
from mapper.pretrained.bettering import bred
from mapper.pretrained.cases import case_of, outside_training
from mapper.pretrained.decisions import first_decisions
from mapper.pretrained.flows import FLOW_FEATURES, FLOWS, PARTS
from mapper.pretrained.judge_view import look_at_whole
from mapper.pretrained.judging import in_order
from mapper.pretrained.mapping import propose_actions
from mapper.pretrained.network import fresh, scores
from mapper.pretrained.offering import different, fingerprints, offered_first
from mapper.pretrained.proposer import ProposedMappings, Proposer, alike, arrangement
from mapper.pretrained.rearranging import rearranged
from mapper.pretrained.state import State
from mapper.pretrained.tables import tabulate
from mapper.pretrained.training.random_problems import draw, zoo_shapes
from mapper.pretrained.turns import KINDS
from mapper.pretrained.variation import DRAWS, varied
from mapper.pretrained.view import CHOICE_FEATURES
from mapper.pretrained.weights import Agents, PretrainedError, load, save

MODEL = cost_models.load("exact")


def random_cases(count: int, seed: int):
    rng = np.random.default_rng(seed)
    problems = [draw(rng) for _ in range(count)]
    return problems, [
        case_of(MapSpace(p.layer, p.accelerator), Objective.parse(p.objective), MODEL)
        for p in problems
    ]


@pytest.fixture(scope="module")
def untrained() -> Agents:
    return Agents(fresh(np.random.default_rng(0), hidden=16))


def test_every_proposal_is_in_its_space_and_nearly_all_fit_the_buffers(untrained):
    problems, cases = random_cases(40, seed=1)
    tables = tabulate(cases)
    which = np.repeat(np.arange(len(cases)), 20)
    proposals = Proposer(untrained.weights).propose(tables, which, np.random.default_rng(2))
    possible = broken = 0
    for number, problem in enumerate(problems):
        mappings = proposals.mappings(np.flatnonzero(which == number))
        actions = cases[number].space.encode(mappings)
        again = cases[number].space.decode(actions)
        np.testing.assert_array_equal(again.tiles, mappings.tiles)
        feasible = MODEL.evaluate_batch(problem.layer, problem.accelerator, mappings).feasible
        if feasible.any():  # where a whole filter is too large for L1, nothing fits
            possible += len(feasible)
            broken += int((~feasible).sum())
    assert possible > 400
    assert broken / possible < 0.02


def test_agents_without_masks_propose_what_buffers_cannot_hold(untrained):
    problems, cases = random_cases(10, seed=1)
    tables, which = tabulate(cases), np.repeat(np.arange(10), 20)
    hidden = np.zeros(CHOICE_FEATURES, np.float32)
    proposer = Proposer(untrained.weights, features=hidden, masked=False)
    proposals = proposer.propose(tables, which, np.random.default_rng(2), keep=True)
    assert not any(decision.view.choices.any() for decision in proposals.decisions)
    feasible = [
        MODEL.evaluate_batch(p.layer, p.accelerator, proposals.mappings(np.flatnonzero(which == n)))
        for n, p in enumerate(problems)
    ]
    assert np.mean([costs.feasible.mean() for costs in feasible]) < 0.6


def test_batches_and_single_problems_are_seen_alike(untrained):
    _, cases = random_cases(6, seed=3)
    tables = tabulate(cases)
    whole = Proposer(untrained.weights).propose(
        tables, np.arange(6), np.random.default_rng(0), greedy=np.ones(6, bool)
    )
    for number, case in enumerate(cases):
        alone = Proposer(untrained.weights).propose(
            tabulate([case]), np.zeros(1, int), np.random.default_rng(9), greedy=np.ones(1, bool)
        )
        np.testing.assert_array_equal(alone.state.tiles[0], whole.state.tiles[number])
        np.testing.assert_array_equal(alone.state.orders[0], whole.state.orders[number])


def test_retracing_a_proposal_finds_its_decisions(untrained):
    _, cases = random_cases(12, seed=4)
    tables = tabulate(cases)
    which = np.repeat(np.arange(12), 4)
    proposer = Proposer(untrained.weights)
    made = proposer.propose(tables, which, np.random.default_rng(5), keep=True)
    again = proposer.retrace(tables, which, made.state)
    for first, second in zip(made.decisions, again, strict=True):
        np.testing.assert_array_equal(first.view.context, second.view.context)
        rows = first.open
        if first.turn.is_order:
            count = first.view.legal.sum(axis=1)
            for row in np.flatnonzero(rows):
                n = count[row]
                np.testing.assert_array_equal(first.picks[row, :n], second.picks[row, :n])
        else:
            np.testing.assert_array_equal(first.picks[rows, 0], second.picks[rows, 0])


def test_torch_and_numpy_score_alike_and_orders_follow_plackett_and_luce(untrained):
    torch = pytest.importorskip("torch", reason="needs the extra rl")
    from mapper.pretrained.training.torch_networks import Networks, pack

    _, cases = random_cases(5, seed=6)
    tables = tabulate(cases)
    which = np.repeat(np.arange(5), 3)
    proposer = Proposer(untrained.weights)
    made = proposer.propose(tables, which, np.random.default_rng(7), keep=True)
    expected = np.zeros(len(which))
    for decision in made.decisions:
        for row in np.flatnonzero(decision.open):
            found = scores(
                untrained.weights,
                decision.turn.kind,
                decision.view.context[row : row + 1],
                decision.view.choices[row : row + 1],
                decision.view.legal[row : row + 1],
            )[0].astype(float)
            picks = list(decision.picks[row, : decision.view.legal[row].sum()])
            left = list(np.flatnonzero(decision.view.legal[row]))
            for pick in picks if decision.turn.is_order else picks[:1]:
                expected[row] += found[pick] - np.log(np.exp(found[left]).sum())
                left.remove(pick)
    likely = Networks(untrained.weights).likelihood(pack(made.decisions), len(which))
    np.testing.assert_allclose(likely.total.detach().numpy(), expected, rtol=1e-4, atol=1e-3)
    assert float(likely.entropy.detach()) > 0
    assert torch.isfinite(likely.total).all()


def test_draws_follow_the_scores():
    weights = fresh(np.random.default_rng(1), hidden=16)
    case = case_of(
        MapSpace(layers.parse("mobilenetv2.2"), Accelerator.preset("edge")),
        Objective.parse("edp"),
        MODEL,
    )
    tables = tabulate([case])
    made = Proposer(weights).propose(
        tables, np.zeros(4000, int), np.random.default_rng(0), keep=True
    )
    first = made.decisions[0]
    logits = first.scores[0].astype(float)
    wanted = np.exp(logits) / np.exp(logits).sum()
    drawn = np.bincount(first.picks[:, 0], minlength=len(wanted)) / 4000
    assert np.abs(drawn - wanted).max() < 0.04


def test_no_layer_of_the_zoo_is_ever_trained_on():
    rng = np.random.default_rng(8)
    extents = {(shape.extents, shape.stride) for shape in zoo_shapes()}
    for _ in range(500):
        layer = draw(rng).layer
        assert (layer.extents, layer.stride) not in extents


def test_proposals_are_the_same_for_the_same_seed_and_differ_among_each_other(untrained):
    problem = Problem("mobilenetv2.2", "edge", "edp")
    first = propose_actions(untrained, [problem], 16, np.random.default_rng(0))[0]
    second = propose_actions(untrained, [problem], 16, np.random.default_rng(0))[0]
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first, axis=0)) == len(first) == 16


def test_files_of_agents(untrained, tmp_path):
    path = tmp_path / "agents.safetensors"
    save(path, Agents(untrained.weights, {"seed": 3}))
    again = load(path)
    assert again.card == {"seed": 3}
    assert set(again.weights) == set(untrained.weights)
    assert all(np.array_equal(again.weights[n], untrained.weights[n]) for n in again.weights)
    whole = path.read_bytes()
    for damaged in (b"", b"junk", whole[: len(whole) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(PretrainedError, match="train them with"):
            load(path)
    path.unlink()
    with pytest.raises(PretrainedError, match="not found"):
        load(path)


def test_agents_of_another_version_are_refused(untrained, tmp_path, monkeypatch):
    path = tmp_path / "agents.safetensors"
    monkeypatch.setattr("mapper.pretrained.weights.VERSION", 0)
    save(path, untrained)
    monkeypatch.undo()
    with pytest.raises(PretrainedError, match="another version"):
        load(path)


def test_arrays_that_are_not_the_agents_are_refused(untrained, tmp_path):
    path = tmp_path / "agents.safetensors"
    for change in ({f"{KINDS[0]}.pointer": np.ones(3, np.float32)}, {"more": np.ones(1)}):
        save(path, Agents({**untrained.weights, **change}))
        with pytest.raises(PretrainedError, match="damaged"):
            load(path)


def test_what_lies_outside_of_training_is_said():
    chip = Accelerator(20_000, 64 << 10, 1 << 20, 64, 16)
    found = outside_training(Problem("mobilenetv2.2", chip, "power"))
    assert any("20,000 PEs" in clause for clause in found)
    assert any("L1" in clause for clause in found)
    assert any("objective" in clause for clause in found)
    assert outside_training(Problem("mobilenetv2.2", "edge", "edp")) == []


def test_layers_with_batch_and_groups_have_decisions_of_their_own(untrained):
    layer = Layer.gemm("heads", M=64, N=64, K=32, batch=12)
    problem = Problem(layer, "edge", "edp")
    assert any(p.name == "outer_tile_N" for p in problem.space.parameters)
    actions = propose_actions(untrained, [problem], 8, np.random.default_rng(0))[0]
    tiles = problem.space.decode(actions).tiles[:, :, DIMS.index("N")]
    assert tiles.max() > 1


OPTIONS = [
    {"filters": "free"},
    {"orders": "permutation"},
    {"tiles": "divisors"},
    {"co_search": ("num_pes",)},
    {"dataflow": "nvdla"},
    {"dataflow": "tpu"},
    {"only": {"outer_parallel": ["K"], "cluster_size": [16]}},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_agents_propose_in_spaces_that_they_were_not_trained_in(untrained, options):
    chip = Accelerator.preset("edge")
    space = MapSpace(layers.network("mobilenetv2")[2], chip, **options)
    problem = Problem("mobilenetv2.2", chip, "edp", "exact", space)
    actions = propose_actions(untrained, [problem], 8, np.random.default_rng(0))[0]
    assert len(actions)
    assert np.isfinite(problem.evaluate(actions).values).all()
    untrained_for = {"filters", "co_search", "dataflow", "only"}
    assert bool(outside_training(problem)) == (options.keys() <= untrained_for)


def test_a_problem_for_agents_of_another_cost_model_is_doubted():
    searcher = baselines.load("zero-shot")
    assert not searcher.doubts(Problem("mobilenetv2.2", "edge", "edp"))
    (doubt,) = searcher.doubts(Problem("mobilenetv2.2", "edge", "edp", "maestro"))
    assert "cost model maestro (trained: exact)" in doubt


def test_zero_shot_without_agents_is_refused_before_it_starts():
    searcher = baselines.load("zero-shot", pretrained="none")
    with pytest.raises(baselines.SearcherError, match="there are no trained agents"):
        searcher.doubts(Problem("mobilenetv2.2", "edge", "edp"))


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


def test_every_decision_of_the_first_proposal_is_explained(untrained):
    problem = Problem("mobilenetv2.2", "edge", "edp")
    mapping, choices = first_decisions(untrained, problem, np.random.default_rng(0))
    first = propose_actions(untrained, [problem], 16, np.random.default_rng(0))[0][:1]
    batch = MappingBatch.from_mappings([mapping], problem.layer.extents)
    np.testing.assert_array_equal(problem.space.encode(batch), first)
    found = {choice.decision: choice for choice in choices}
    assert found["outer_parallel"].chosen == mapping.parallel[0]
    assert found["cluster_size"].chosen == str(mapping.cluster_size)
    assert found["inner_tile_K"].chosen == str(mapping.tiles[1]["K"])
    orders = [choice for choice in choices if choice.decision.endswith("_order")]
    assert orders
    assert all(set(order.chosen) == set(order.runner_up) for order in orders)
    for choice in choices:
        assert choice.chosen != choice.runner_up
        assert 0 < choice.probability + choice.runner_up_probability <= 1 + 1e-9


def test_the_judge_sees_the_loop_orders(untrained):
    problem = Problem("mobilenetv2.2", "edge", "edp")
    tables = tabulate([case_of(problem.space, problem.objective, problem.cost_model)])
    which = np.zeros(30, np.int64)
    state = Proposer(untrained.weights).propose(tables, which, np.random.default_rng(0)).state
    seen = look_at_whole(tables, which, state)
    assert np.isfinite(seen).all()
    turned = state._replace(orders=state.orders[:, :, ::-1].copy())
    assert (look_at_whole(tables, which, turned) != seen).any(axis=1).mean() > 0.5


@pytest.mark.parametrize("chip", ["eyeriss", "nvdla-small", "nvdla-full", "tpu-v1", "gemmini-16"])
def test_proposals_fit_chips_whose_tensors_have_buffers_of_their_own(untrained, chip):
    problem = Problem("mobilenetv2.2", chip, "edp")
    actions = propose_actions(untrained, [problem], 16, np.random.default_rng(0))[0]
    assert np.isfinite(problem.evaluate(actions).values).mean() > 0.9


def test_flows_and_cycles_are_near_the_exact_ones(untrained):
    problems, cases = random_cases(30, seed=12)
    tables = tabulate(cases)
    which = np.repeat(np.arange(len(cases)), 8)
    made = Proposer(untrained.weights).propose(tables, which, np.random.default_rng(1))
    seen = look_at_whole(tables, which, made.state).astype(float)
    found = np.exp2(8 * seen[:, -FLOW_FEATURES:])  # undoes the features' logarithm
    cycles = found[:, FLOWS * 3 + PARTS] + found[:, FLOWS * 3 + PARTS + 1]
    for number, problem in enumerate(problems):
        rows = np.flatnonzero(which == number)
        costs = MODEL.evaluate_batch(problem.layer, problem.accelerator, made.mappings(rows))
        fits = costs.feasible
        for column, name in ((1, "dram_fil"), (2, "dram_out_w")):
            counts = np.asarray(costs.counts[name], float)[fits]
            np.testing.assert_allclose(found[rows, column][fits], counts, rtol=1e-4)
        compute = np.asarray(costs.counts["compute_cycles"], float)[fits]
        np.testing.assert_allclose(found[rows, FLOWS * 3][fits], compute, rtol=1e-4)
        cycles[rows] /= np.where(fits, costs.latency_cycles, np.nan)
    off = np.abs(np.log(cycles[np.isfinite(cycles)]))
    assert len(off) > 150
    assert np.median(off) < 0.01
    assert np.quantile(off, 0.9) < 0.15


def test_rows_alike_are_found():
    numbers = np.array([7, 3, 7, 9, 3])
    first, member = alike(numbers)
    np.testing.assert_array_equal(numbers[first][member], numbers)
    assert len(first) == 3
