"""Masks over whole runs: counts, zeros, what is dropped and grown, and going on after a stop."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sparse_training import SparseLinear, Sparsifier, SparsityConfig, Structure
from sparse_training.topology import plan_step, smallest, step_structure
from tests.sparse_training.nets import Run, refuses

SETTINGS = st.fixed_dictionaries(
    {
        "sparsity": st.sampled_from([0.3, 0.6, 0.8]),
        "rule": st.sampled_from(["er", "uniform"]),
        "growth": st.sampled_from(["static", "set", "rigl", "mixed"]),
        "optimizer_state": st.sampled_from(["local", "local:4", "reset", "keep"]),
    }
)


def zeros_hold(run: Run) -> None:
    """No weight or moment outside of a mask differs from 0."""
    for name, layer in run.sparsifier.layers.items():
        outside = torch.from_numpy(~run.sparsifier.masks()[name])
        assert not layer.dense()[outside].any()
        moments = run.optimizer.moments(layer.weight)
        if not layer.packed:
            assert not moments.first[outside].any()
            assert not moments.second[outside].any()


@settings(max_examples=12, deadline=None)
@given(SETTINGS)
def test_counts_and_zeros_hold_at_every_step(config: dict[str, object]) -> None:
    run = Run(**config)
    counts = run.sparsifier.counts()
    assert sum(counts.values()) == round((1 - run.config.sparsity) * 205)
    target = Run(**config).net

    def check() -> None:
        assert run.sparsifier.counts() == counts
        zeros_hold(run)
        for mine, theirs in zip(target.layers, run.net.layers, strict=True):
            mine.copy_from(theirs)
            assert torch.equal(mine.dense(), theirs.dense())

    masks = run.sparsifier.masks()
    run.updates(0, 9, check)
    changed = any((masks[name] != mask).any() for name, mask in run.sparsifier.masks().items())
    assert changed == (config["growth"] != "static")


@settings(max_examples=8, deadline=None)
@given(SETTINGS, st.integers(1, 9), st.sampled_from(["free", "block4"]))
def test_resume_is_the_uninterrupted_run_to_the_bit(config, stop, unit):
    config = {**config, "unit": unit, "sparsity": 0.6}
    whole = Run(**config)
    losses = whole.updates(0, 10)
    first, second = Run(**config), Run(**config, data=9, attach=False)
    assert first.updates(0, stop) == losses[:stop]
    second.load(first.state())
    assert second.updates(stop, 10) == losses[stop:]
    for a, b in zip(whole.net.parameters(), second.net.parameters(), strict=True):
        assert torch.equal(a, b)


def test_density_follows_what_is_asked_and_ends_full() -> None:
    run = Run(growth="mixed", sparsity=0.0)
    for number, sparsity in enumerate((0.1, 0.5, 0.8, 0.8, 0.3, 0.0)):
        for inner in range(3):
            run.update(3 * number + inner, sparsity)
        assert sum(run.sparsifier.counts().values()) == round((1 - sparsity) * 205)
        zeros_hold(run)
    assert all(mask.all() for mask in run.sparsifier.masks().values())
    assert run.sparsifier.sparsity() == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_masked_layers_learn_on_a_gpu_as_on_the_cpu() -> None:
    runs = [Run(growth="mixed", device=device) for device in ("cpu", "cuda")]
    losses = [run.updates(0, 12) for run in runs]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)


def test_the_smallest_go_and_the_largest_gradients_come() -> None:
    structure = Structure((1, 6), "free", np.array([0, 1, 2, 3]))
    plan = plan_step(4, 4, 6, 0.5, "rigl", 3)
    assert plan == (2, 2, 0)
    weights, gradients = np.array([0.5, 0.1, 0.3, 0.2]), np.array([9.0, 0, 9, 1, 1, 1])
    new = step_structure(structure, weights, gradients, plan, np.random.default_rng(0))
    # 1 and 3 are dropped; of the equal gradients of 3, 4 and 5 the first two win
    assert list(new.kept) == [0, 2, 3, 4]


def test_mixed_growth_is_three_by_gradient_to_one_at_random() -> None:
    assert plan_step(100, 100, 400, 0.4, "mixed", 3) == (40, 30, 10)
    assert plan_step(100, 80, 400, 0.1, "mixed", 3) == (20, 0, 0)
    assert plan_step(100, 140, 400, 0.1, "mixed", 3) == (10, 38, 12)
    assert plan_step(100, 100, 400, 0.4, "static", 3) == (0, 0, 0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 30))
def test_of_equal_scores_the_first_are_chosen(scores: list[int], count: int) -> None:
    values = np.array(scores, dtype=np.float64)
    expected = sorted(sorted(range(len(scores)), key=lambda i: (scores[i], i))[:count])
    assert list(smallest(values, count)) == expected


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 11), st.integers(1, 11), st.sampled_from(["free", "block4"]), st.data())
def test_structures_survive_bits(rows, columns, unit, data):
    whole = Structure.whole((rows, columns), unit)
    kept = np.array(sorted(data.draw(st.sets(st.integers(0, whole.units - 1), min_size=1))))
    structure = Structure((rows, columns), unit, kept)
    again = Structure.of_bits((rows, columns), unit, structure.bits)
    assert again.same_as(structure)
    assert structure.degrees().fan_in.sum() == structure.degrees().fan_out.sum()
    assert structure.weights == structure.mask.sum()


def test_wrong_input() -> None:
    layer = SparseLinear(8, 8, layout="columns")
    sparsifier = Sparsifier({"a": layer}, SparsityConfig(0.5))
    refuses(r"call attach\(\) first", sparsifier.step, 0.1)
    sparsifier.attach()
    refuses(r"call want_gradients\(\) before", sparsifier.step, 0.1)
    refuses(
        r"each of \['a'\] once",
        lambda: Sparsifier({"a": layer}, SparsityConfig(0.5), budgets={"x": []}),
    )
    refuses("Did you mean 'rigl'", lambda: SparsityConfig(0.5, growth="rigel"))
    other = Sparsifier({"b": SparseLinear(8, 4)}, SparsityConfig(0.5))
    refuses("another mask set", other.load_state_dict, sparsifier.state_dict())
    sparsifier.want_gradients()
    layer(torch.full((8, 2), float("nan"))).sum().backward()
    refuses("not finite", sparsifier.step, 0.1)
