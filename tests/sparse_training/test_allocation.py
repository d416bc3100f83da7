import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparse_training import allocate, cosine_drop, density_at
from tests.sparse_training.nets import refuses

SHAPES = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=5)


@settings(max_examples=80, deadline=None)
@given(SHAPES, st.floats(0, 0.99), st.sampled_from(["er", "uniform"]))
def test_counts_add_up_to_the_budget_and_no_layer_is_empty(shapes, sparsity, rule):
    sizes = [rows * columns for rows, columns in shapes]
    total = round((1 - sparsity) * sum(sizes))
    if total < len(shapes):
        refuses("empty; expected at most", allocate, shapes, sparsity, rule)
        return
    counts = allocate(shapes, sparsity, rule)
    assert sum(counts) == total
    assert all(1 <= count <= size for count, size in zip(counts, sizes, strict=True))


def test_er_gives_each_layer_a_share_of_its_ends() -> None:
    """Densities are proportional to (O + I) / (O I) below 1; small layers are full."""
    shapes = [(64, 64), (128, 64), (8, 4)]
    counts = allocate(shapes, 0.8)
    assert counts[2] == 32
    budget = round(0.2 * (64 * 64 + 128 * 64 + 32)) - 32
    first = budget * 128 / (128 + 192)
    assert abs(counts[0] - first) <= 1
    assert counts[0] + counts[1] == budget


def test_uniform_keeps_the_same_share_and_the_first_of_equals() -> None:
    assert allocate([(10, 10), (20, 20)], 0.75, "uniform") == (25, 100)
    assert allocate([(1, 3), (1, 3), (1, 3)], 0.55, "uniform") == (2, 1, 1)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(16, 70), st.integers(16, 70)), min_size=1, max_size=4))
def test_blocks_meet_the_budget_to_a_tenth(shapes: list[tuple[int, int]]) -> None:
    counts = allocate(shapes, 0.8, "er", "block4")
    weights = sum(
        count * rows * columns / (-(-rows // 4) * -(-columns // 4))
        for count, (rows, columns) in zip(counts, shapes, strict=True)
    )
    budget = 0.2 * sum(rows * columns for rows, columns in shapes)
    assert weights == pytest.approx(budget, rel=0.1)


def test_blocks_that_cannot_meet_the_budget_are_refused_with_the_nearest_sparsity() -> None:
    refuses(r"nearest sparsity is 0\.75", allocate, [(8, 8)], 0.7, "er", "block4")
    assert allocate([(8, 8)], 0.75, "er", "block4") == (1,)


def test_wrong_input() -> None:
    for message, *arguments in (
        ("sparsity=1.0: expected a number from 0", [(4, 4)], 1.0),
        ("sparsity=-0.1", [(4, 4)], -0.1),
        ("rule 'erk' is not known; expected one of er, uniform. Did", [(4, 4)], 0.5, "erk"),
        ("Did you mean 'block4'", [(4, 4)], 0.5, "er", "block8"),
        ("expected at least one", [], 0.5),
    ):
        refuses(message, allocate, *arguments)


def test_schedules() -> None:
    assert cosine_drop(0.5, 0, 100) == 0.5
    assert cosine_drop(0.5, 50, 100) == pytest.approx(0.25)
    assert [cosine_drop(0.5, t, 100) for t in (100, 150, 1e9)] == [0] * 3
    for kind in ("linear", "cubic", "step"):
        shares = np.linspace(0, 1, 11)
        values = [density_at(kind, 1.0, 0.1, float(share)) for share in shares]
        assert values[0] == 1
        assert values[-1] == 0.1
        assert values == sorted(values, reverse=True)
    assert density_at("cubic", 1.0, 0.2, 0.5) == pytest.approx(0.3)
    refuses("schedule", density_at, "square", 1, 0, 0.5)
