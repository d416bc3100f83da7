"""Certificates of 0.2.0 pass, and no random edit makes a verdict that is not true."""

from pathlib import Path

import pytest

from benchmarks.certificate_edits import campaign
from mapper.certificate import check_certificate, claim_of, read_certificate

FILES = sorted((Path(__file__).parents[1] / "fixtures" / "certificates").glob("*.cert"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_certificates_of_0_2_0_pass(path: Path) -> None:
    certificate = read_certificate(path)
    assert check_certificate(certificate).boxes == len(certificate.tree)
    assert ("no mapping is feasible" in claim_of(certificate)) == path.stem.startswith("empty")


def test_no_random_edit_makes_a_false_verdict() -> None:
    counts, wrong = campaign(200, seed=5)
    assert not wrong, counts
    assert sum(counts[name] for name in counts if "accepted, true" in name) > 5
