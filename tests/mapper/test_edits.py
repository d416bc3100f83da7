"""No random edit of a file is accepted that is not true."""

import pytest

from benchmarks.edits.command import KINDS, campaign

MANY = {"weights": 600, "assignments": 200}
"""Edits of what is quick to read; few edits of weights leave them as they were."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_random_edit_is_accepted_that_is_not_true(kind: str) -> None:
    found = campaign(kind, MANY.get(kind, 40), seed=5)
    assert not found.wrong
    assert sum(n for name, n in found.counts.items() if name.endswith("accepted, true")) > 3
    assert sum(n for name, n in found.counts.items() if "refused" in name) > 25
