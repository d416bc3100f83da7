"""Trained agents: what they observe, that proposals fit, and files of them."""

import numpy as np
import pytest

import baselines
from cost_models import CHAINS, Accelerator, Chain, MappingBatch, load_chip, with_fields
from layers import DIMS, Layer
from maestro_env import Problem
from mapper.pretrained.cases import outside_training
from mapper.pretrained.explanation import best_decisions
from mapper.pretrained.kernel import group_rows
from mapper.pretrained.local_search import PROPOSALS
from mapper.pretrained.nest_choices import index_of
from mapper.pretrained.network import fresh, scores
from mapper.pretrained.policy import propose, replay
from mapper.pretrained.policy_proposals import search_from, temperatures
from mapper.pretrained.problem_arrays import arrays_of
from mapper.pretrained.seen_records import DrawRow
from mapper.pretrained.training.random_problems import alike, draw, draw_chip, library, zoo_shapes
from mapper.pretrained.weights import Agents, load, save
from tests.mapper.pretrained_cases import MODEL, random_problems


def test_every_proposal_is_in_its_space_and_nearly_all_fit_the_buffers(untrained):
    problems = random_problems(40, seed=1)
    arrays, which = arrays_of(problems), np.repeat(np.arange(40), 20)
    rows = propose(untrained.weights, arrays, which, np.random.default_rng(2))
    possible = broken = 0
    for number, problem in enumerate(problems):
        mappings = arrays.nests[number].mappings(rows[which == number])
        actions = problem.space.encode(mappings)
        found = problem.look(actions)
        again = arrays.nests[number].mappings(arrays.nests[number].rows(found.mappings))
        same = [problem.space.canonical(problem.space.encode(m)) for m in (again, mappings)]
        np.testing.assert_array_equal(*same)  # a rival spread of one dimension has no units
        feasible = np.isfinite(found.values)
        if feasible.any():  # where a whole filter is too large for L1, nothing fits
            possible += len(feasible)
            broken += int((~feasible).sum())
    assert possible > 400
    assert broken / possible < 0.02


def likeliest(agents, problems):
    first = temperatures(np.zeros(len(problems), int))
    arrays, which = arrays_of(problems), np.arange(len(problems))
    return propose(agents.weights, arrays, which, np.random.default_rng(0), first)


def test_batches_and_single_problems_are_observed_alike(untrained):
    problems = random_problems(6, seed=3)
    whole = likeliest(untrained, problems)
    for number, problem in enumerate(problems):
        alone = likeliest(untrained, [problem])
        alone["problem"] = number
        assert alone[0] == whole[number]


def decisions_of(agents, problems, times, seed):
    arrays, which = arrays_of(problems), np.repeat(np.arange(len(problems)), times)
    rng = np.random.default_rng(seed)
    given = propose(agents.weights, arrays, which, rng, turned=which % 2 == 1)
    return arrays, which, given, replay(arrays, given)


def test_replaying_a_proposal_finds_decisions_that_lead_to_it(untrained):
    arrays, which, given, taken = decisions_of(untrained, random_problems(12, seed=4), 4, 5)
    chosen = 0
    for decision, _, choices, picks in taken:
        values, legal = choices["value"], choices["legal"]
        where = index_of(decision, given)
        part = given[decision.kind][where]
        for row in np.flatnonzero(legal.any(axis=1)):
            if decision.kind == "order":
                ranked = picks[row, : legal[row].sum()]
                assert legal[row, ranked].all()
                np.testing.assert_array_equal(part[row, : len(ranked)], values[row, ranked])
            else:
                assert legal[row, picks[row, 0]]
                assert values[row, picks[row, 0]] == part[row]
            chosen += 1
        dims = where[2] if decision.kind == "tile" else decision.dim
        place = decision.place + dims - decision.dim
        several = arrays.rows["counts"][which, place] > 1  # what agents drew was legal
        assert legal[several].any(axis=1).all() or decision.kind == "order"
    assert chosen > 400


NARROW = {
    "name": "narrow",
    "levels": [
        {"name": "DRAM"},
        {"name": "Operands", "bytes": 65536, "holds": ["input", "filter"]},
        {"name": "Sums", "bytes": 64, "holds": ["output"], "fanout": {"units": 64, "dims": "K"}},
    ],
}
"""Its sums, of a byte with a copy of each, are at most 32."""


def narrow_draws(agents, turned):
    problem = Problem("resnet18.2", Chain.from_dict(NARROW), "edp")
    arrays = arrays_of([problem])
    rng, which = np.random.default_rng(0), np.zeros(400, int)
    return propose(agents.weights, arrays, which, rng, turned=turned)


def test_units_whose_tiles_the_memory_cannot_hold_are_not_drawn(untrained):
    units = narrow_draws(untrained, False)["units"]
    assert 1 < units.max() <= 32


def test_the_tile_that_is_chosen_first_takes_more_of_the_memory(untrained):
    first, last = (narrow_draws(untrained, turned)["tile"][:, 0] for turned in (False, True))
    channels, columns = DIMS.index("K"), DIMS.index("X")
    assert first[:, channels].mean() > 1.2 * last[:, channels].mean()
    assert last[:, columns].mean() > 1.2 * first[:, columns].mean()


def test_torch_and_numpy_score_alike_and_orders_follow_plackett_and_luce(untrained):
    torch = pytest.importorskip("torch", reason="needs the extra rl")
    from mapper.pretrained.training.torch_networks import likelihood, pack

    _, which, _, taken = decisions_of(untrained, random_problems(5, seed=6), 3, 7)
    expected = np.zeros(len(which))
    for decision, context, choices, picks in taken:
        every = scores(untrained.weights, decision.kind, context, choices).astype(float)
        legal = choices["legal"]
        for row in np.flatnonzero(legal.sum(axis=1) > 1):
            found = every[row]
            ranked = list(picks[row, : legal[row].sum()])
            left = list(np.flatnonzero(legal[row]))
            for pick in ranked if decision.kind == "order" else ranked[:1]:
                expected[row] += found[pick] - np.log(np.exp(found[left]).sum())
                left.remove(pick)
    tensors = {name: torch.from_numpy(array) for name, array in untrained.weights.items()}
    likely = likelihood(tensors, pack(taken), len(which))
    np.testing.assert_allclose(likely.numpy(), expected, rtol=1e-4, atol=1e-3)


def test_draws_follow_the_scores():
    agents = Agents(fresh(np.random.default_rng(1), hidden=16))
    *_, taken = decisions_of(agents, [Problem("mobilenetv2.2", "edge", "edp")], 4000, 0)
    decision, context, choices, picks = taken[0]
    logits = scores(agents.weights, decision.kind, context, choices)[0].astype(float)
    wanted = np.exp(logits) / np.exp(logits).sum()
    drawn = np.bincount(picks[:, 0], minlength=len(wanted)) / 4000
    assert np.abs(drawn - wanted).max() < 0.04


def test_proposals_are_the_same_for_the_same_seed_and_differ_among_each_other(untrained):
    problem = Problem("mobilenetv2.2", "edge", "edp")
    first = drawn(untrained, problem, 16)
    np.testing.assert_array_equal(first, drawn(untrained, problem, 16))
    assert len(np.unique(first, axis=0)) > 12


def drawn(agents, problem, count):
    search = search_from(agents.weights, problem, np.random.default_rng(0))
    return search.draw(np.arange(count))


def test_files_of_agents(untrained, tmp_path):
    path = tmp_path / "agents.safetensors"
    save(path, Agents(untrained.weights, {"seed": 3}))
    again = load(path)
    assert again.card == {"seed": 3}
    assert set(again.weights) == set(untrained.weights)
    assert all(np.array_equal(again.weights[n], untrained.weights[n]) for n in again.weights)


def test_what_lies_outside_of_training_is_said():
    chip = Accelerator(20_000, 64 << 10, 1 << 20, 64, 16)
    found = outside_training(Problem("mobilenetv2.2", chip, "power"))
    assert any("20,000 PEs" in clause for clause in found)
    assert any("L1" in clause for clause in found)
    deep = with_fields(load_chip("tpu-v1-ws"), ["levels.Accumulators.fanout.axes=512x512"])
    assert any("262,144 MACs" in clause for clause in outside_training(Problem("alexnet.2", deep)))
    assert any("objective" in clause for clause in found)
    assert outside_training(Problem("mobilenetv2.2", "edge", "edp")) == []


def test_layers_with_batch_and_groups_have_decisions_of_their_own(untrained):
    layer = Layer.gemm("heads", M=64, N=64, K=32, batch=12)
    problem = Problem(layer, "edge", "edp")
    assert any(p.name == "outer_tile_N" for p in problem.space.parameters)
    actions = drawn(untrained, problem, 8)
    tiles = problem.space.decode(actions).tiles[:, :, DIMS.index("N")]
    assert tiles.max() > 1


def test_a_problem_for_agents_of_another_cost_model_or_for_none_is_doubted():
    searcher = baselines.load("zero-shot")
    assert not searcher.doubts(Problem("mobilenetv2.2", "edge", "edp"))
    (doubt,) = searcher.doubts(Problem("mobilenetv2.2", "edge", "edp", "maestro"))
    assert "cost model maestro (trained: exact)" in doubt
    with pytest.raises(baselines.SearcherError, match="there are no trained agents"):
        baselines.load("zero-shot", pretrained="none").doubts(Problem("mobilenetv2.2"))


def test_every_decision_of_the_best_proposal_is_explained(untrained):
    problem = Problem("mobilenetv2.2", "edge", "edp")
    mapping, choices = best_decisions(untrained, problem, np.random.default_rng(0))
    assert problem.samples == PROPOSALS
    batch = MappingBatch.from_mappings([mapping], problem.layer.extents)
    assert problem.look(problem.space.encode(batch)).values[0] == problem.best_value
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


OWN_BUFFERS = ("eyeriss", "nvdla-small", "nvdla-full", "tpu-v1", "gemmini-16")
LAYER = "mobilenetv2.2"
PLACES = [
    *((LAYER, chip, {}, 0.9) for chip in (*OWN_BUFFERS, *CHAINS)),
    *((LAYER, "edge", space, 1.0) for space in (
        {"filters": "free"}, {"orders": "permutation"}, {"tiles": "divisors"},
        {"co_search": ("num_pes",)}, {"dataflow": "nvdla"}, {"dataflow": "tpu"},
        {"only": {"outer_parallel": ["K"], "cluster_size": [16]}},
    )),
    *(("resnet18.5", "simba", space, 0.9) for space in (
        {"uneven": True}, {"full": True}, {"filters": "free"},
    )),
]  # fmt: skip
"""Layers, chips, options of the space, and the least share of proposals that fit."""
TRAINED = ("orders", "tiles")
"""Options of a space that agents were trained for."""


@pytest.mark.parametrize(("layer", "chip", "space", "least"), PLACES, ids=str)
def test_proposals_fit_chips_and_spaces_that_agents_were_not_trained_in(
    untrained, layer, chip, space, least
):
    problem = Problem(layer, chip, "edp", space=space)
    actions = drawn(untrained, problem, 16)
    assert len(actions)
    assert np.isfinite(problem.evaluate(actions).values).mean() >= least
    said = "options of the map space (trained: the default space)" in outside_training(problem)
    assert said == bool(space.keys() - set(TRAINED))


def test_training_has_no_layer_of_the_zoo_and_no_chip_of_the_library():
    rng = np.random.default_rng(8)
    extents = {(shape.extents, shape.stride) for shape in zoo_shapes()}
    for _ in range(300):
        layer = draw(rng, MODEL).layer
        assert (layer.extents, layer.stride) not in extents
    rng = np.random.default_rng(3)
    chips = [draw_chip(rng) for _ in range(200)]
    deep = [chip for chip in chips if isinstance(chip, Chain)]
    assert 80 < len(deep) < 160
    assert {len(chip.memories) for chip in deep} == {1, 2, 3, 4}
    assert not any(alike(c, known) for c in deep for known in library())
    simba = load_chip("simba")
    assert alike(with_fields(simba, ["levels.GlobalBuffer.bytes=100k"]), simba)
    assert not alike(with_fields(simba, ["levels.GlobalBuffer.bytes=200k"]), simba)


def test_rows_that_chose_alike_are_one_group():
    chose = np.array([7, 3, 7, 8, 3])
    draws = np.zeros(5, DrawRow)
    draws["chose"] = chose
    assert group_rows(draws, 5) == 3
    np.testing.assert_array_equal(chose[draws["first"][:3]][draws["group"]], chose)
    draws["chose"] = [1, 1, 0, 1, 1]
    assert group_rows(draws, 5) == 4
    assert draws["group"].tolist() == [0, 1, 2, 3, 1]
