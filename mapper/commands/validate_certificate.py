"""``mapper validate --certificate``: whether a proof holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from marl_runs import print_json, say

if TYPE_CHECKING:
    from mapper.certificate import Certificate, Checked


def validate_certificate(path: Path, as_json: bool) -> None:
    """Check a certificate and say what it proves; exit code 1 where it does not hold.

    Raises:
        CertificateError: It cannot be read.
    """
    from mapper.certificate import (
        CertificateError,
        check_certificate,
        claim_of,
        is_of_network,
        problem_of,
        read_certificate,
        said_of,
    )

    if is_of_network(path):
        _validate_network(path, as_json)
        return
    certificate = read_certificate(path)
    checked: Checked | None = None
    fault = ""
    try:
        checked = check_certificate(certificate)
    except CertificateError as error:
        fault = str(error)
    if as_json:
        print_json(_values(certificate, checked, fault))
    elif checked is None:
        say(f"✗ {path}: {fault}")
    else:
        say(f"✓ {path}: {claim_of(certificate)}")
        say(f"  {problem_of(certificate)}")
        for line in said_of(checked):
            say(f"  {line}")
    if checked is None:
        raise typer.Exit(1)


def _validate_network(path: Path, as_json: bool) -> None:
    """The same of a network's certificate."""
    from mapper.certificate import CertificateError, check_network, network_claim, read_network

    certificate = read_network(path)
    checked: list[Checked] = []
    fault = ""
    try:
        checked = check_network(certificate)
    except CertificateError as error:
        fault = str(error)
    boxes = sum(one.boxes for one in checked)
    if as_json:
        found = {name: getattr(certificate, name) for name in ("value", "bound", "gap", "counts")}
        print_json({"holds": not fault, "fault": fault, **found, "boxes": boxes})
    elif fault:
        say(f"✗ {path}: {fault}")
    else:
        seconds = sum(one.seconds for one in checked)
        say(f"✓ {path}: {network_claim(certificate)}")
        shapes = f"the certificates of all {len(checked)} shapes hold"
        say(f"  {shapes}: {boxes:,} boxes ({seconds:.2f} s)")
    if fault:
        raise typer.Exit(1)


def _values(certificate: Certificate, checked: Checked | None, fault: str) -> dict[str, Any]:
    found = {} if checked is None else vars(checked) | checked.beside._asdict()
    names = ("boxes", "ruled_out", "settled", "evaluated")
    more = ("alone", "enumerated", "random", "simulated")
    return {
        "holds": checked is not None,
        "fault": fault,
        "value": certificate.value,
        "bound": certificate.bound,
        "gap": certificate.gap,
        "size": certificate.size,
        **{name: found.get(name) for name in (*names, *more)},
    }
