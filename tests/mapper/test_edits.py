"""No random edit of a file is accepted that is not true."""

import pytest

from benchmarks.edits.command import campaign

pytestmark = pytest.mark.usefixtures("quick_proofs")
MANY = {"certificates": 36, "stores": 14, "weights": 300, "assignments": 150}
"""Edits of each kind; few edits of weights leave them as they were.

Two in five certificates are of lists of levels.
"""


@pytest.mark.parametrize("kind", MANY)
def test_no_random_edit_is_accepted_that_is_not_true(kind: str) -> None:
    found = campaign(kind, MANY[kind], seed=1)
    assert not found.wrong
    assert sum(n for name, n in found.counts.items() if name.endswith("accepted, true")) > 3
    assert sum(n for name, n in found.counts.items() if "refused" in name) > MANY[kind] / 2
