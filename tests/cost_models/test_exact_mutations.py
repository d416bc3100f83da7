"""The kernel as plain Python equals the simulator; a mistake in any line of many is noticed."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.mutations import Mutation, mutations
from tests.cost_models.mutations import MUTATIONS, difference, executed, plain_kernel, sources


def test_the_sources_as_plain_python_equal_the_simulator() -> None:
    kernel = plain_kernel()
    for two_levels in (False, True):
        for number in range(15):
            right = executed(number, two_levels)
            assert difference(kernel, number, two_levels, right) == "", (number, two_levels)


@pytest.mark.parametrize("change", MUTATIONS, ids=lambda change: f"{change.module}: {change.wrong}")
def test_a_mistake_is_found(change: Mutation) -> None:
    right = executed(change.nest, change.two_levels)
    kernel = plain_kernel(change)
    assert difference(kernel, change.nest, change.two_levels, right), (
        "python -m tests.cost_models.mutations says which nest finds it now"
    )


def test_every_source_has_mistakes() -> None:
    found = Counter(change.module for change in MUTATIONS)
    assert set(found) == set(sources())
    assert found.total() >= 40
    assert len({(change.module, change.old, change.new) for change in MUTATIONS}) == found.total()


def test_every_other_mistake_has_its_place_and_its_test() -> None:
    others = [one for one in mutations() if one.nest < 0]
    assert len(others) == 60
    for one in others:
        one.changed(Path(one.file).read_text(encoding="utf-8"))
        path, _, name = one.test.partition("::")
        assert f"def {name.partition('[')[0]}(" in Path(path).read_text(encoding="utf-8"), one
