"""``mapper validate --certificate``: whether a proof holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from mapper.certificate.certificate_file import Certificate, CertificateError, read_certificate
from mapper.certificate.checker import Checked, check_certificate
from mapper.certificate.kept_certificate import FILE as KEPT_FILE
from mapper.certificate.kept_certificate import KeptCertificate, read_kept
from mapper.certificate.kept_checker import check_kept
from mapper.certificate.network_certificate import FILE as NETWORK_FILE
from mapper.certificate.network_certificate import check_network, read_network
from mapper.certificate.verdict import claim_of, kept_claim, network_claim, problem_of, said_of
from marl_runs import print_json, say


def validate_certificate(path: Path, as_json: bool) -> None:
    """Check a certificate and say what it proves; exit code 1 where it does not hold.

    Raises:
        CertificateError: It cannot be read.
    """
    if NETWORK_FILE.is_in(path) or KEPT_FILE.is_in(path):
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
    """The same of a network's, of what stays and of fused layers too."""
    whole = read_kept(path) if KEPT_FILE.is_in(path) else read_network(path)
    checked: list[Checked] = []
    fault, kept = "", isinstance(whole, KeptCertificate)
    try:
        checked = check_kept(whole) if isinstance(whole, KeptCertificate) else check_network(whole)
    except CertificateError as error:
        fault = str(error)
    boxes = sum(one.boxes for one in checked)
    if as_json:
        names = ("value", "bound", "gap", "stays" if kept else "counts")
        found = {name: getattr(whole, name) for name in names}
        if isinstance(whole, KeptCertificate) and whole.groups is not None:
            found["groups"] = [group.to_dict() for group in whole.groups]
        print_json({"holds": not fault, "fault": fault, **found, "boxes": boxes})
    elif fault:
        say(f"✗ {path}: {fault}")
    else:
        seconds = sum(one.seconds for one in checked)
        claim = kept_claim(whole) if isinstance(whole, KeptCertificate) else network_claim(whole)
        say(f"✓ {path}: {claim}")
        many = f"{len(checked)} {'parts' if kept else 'shapes'}"
        say(f"  the certificates of all {many} hold: {boxes:,} boxes ({seconds:.2f} s)")
    if fault:
        raise typer.Exit(1)


def _values(certificate: Certificate, checked: Checked | None, fault: str) -> dict[str, Any]:
    found = {} if checked is None else vars(checked) | checked.beside._asdict()
    names = ("boxes", "ruled_out", "settled", "evaluated")
    more = ("alone", "enumerated", "random", "simulated")
    return {
        "holds": checked is not None,
        "fault": fault,
        **{name: getattr(certificate, name) for name in ("value", "bound", "gap", "size")},
        **{name: found.get(name) for name in (*names, *more)},
    }
