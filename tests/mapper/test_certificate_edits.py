"""No random edit of a certificate makes a verdict that is not true."""

from benchmarks.certificate_edits import campaign


def test_no_random_edit_makes_a_false_verdict() -> None:
    counts, wrong = campaign(200, seed=5)
    assert not wrong, counts
    assert sum(counts[name] for name in counts if "accepted, true" in name) > 5
