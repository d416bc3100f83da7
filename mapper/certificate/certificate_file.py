"""A certificate's file: a zip of ``certificate.json``, the claim, and ``tree.bin``, the proof.

The claim names the problem, the mapping, its value, and the bound that no mapping of the space is
below. The tree holds one byte a box, in the order in which :mod:`mapper.certificate.replay` walks
them. Nothing in the file is ever run.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from common import atomic_write
from cost_models import Mapping
from mapper.problem_spec import ProblemSpec
from runs import made_with

if TYPE_CHECKING:
    from baselines import Proof

CLAIM, TREE = "certificate.json", "tree.bin"
FORMAT = "marl-mapper certificate"
VERSION = 1
MOST_CLAIM = 1 << 20
MOST_TREE = 1 << 31
"""Largest parts that are read [B]."""
_TIME = (1980, 1, 1, 0, 0, 0)


class CertificateError(ValueError):
    """A certificate that cannot be read, or does not hold."""


@dataclass(frozen=True)
class Certificate:
    """A claim and its proof.

    Args:
        problem: The problem, with every option.
        size: How many mappings (actions) its space has.
        mapping: The mapping that the claim is about; None where the claim is that there is none.
        value: Its value, in the objective's unit; inf where there is none.
        bound: No mapping of the space has a lower value.
        versions: What it was made with.
        tree: What became of every box, see :mod:`mapper.certificate.replay`.
    """

    problem: ProblemSpec
    size: int
    mapping: Mapping | None
    value: float
    bound: float
    versions: dict[str, str]
    tree: NDArray[np.uint8]

    @property
    def gap(self) -> float:
        """How far above the optimum `value` may be, as a share."""
        return max(0.0, self.value / self.bound - 1.0) if math.isfinite(self.value) else 0.0


def make_certificate(spec: ProblemSpec, proof: Proof) -> Certificate:
    """The certificate of a proof that recorded its tree.

    Raises:
        CertificateError: It did not.
    """
    if proof.tree is None:
        raise CertificateError("proof: its tree was not recorded; expected prove(record=True)")
    complete = spec.complete()
    versions = {str(name): str(version) for name, version in made_with().versions.items()}
    return Certificate(
        complete,
        complete.build().space.size,
        proof.mapping,
        proof.value,
        min(proof.bound, proof.value),
        versions,
        proof.tree.splits(),
    )


def write_certificate(path: Path, certificate: Certificate) -> None:
    """Write a certificate, whole or not at all; the same certificate gives the same bytes.

    Raises:
        OSError: The file cannot be written.
    """
    tree = certificate.tree.tobytes()
    claim = {
        "format": FORMAT,
        "version": VERSION,
        "problem": certificate.problem.to_dict(),
        "size": str(certificate.size),
        "mapping": None if certificate.mapping is None else certificate.mapping.to_dict(),
        "value": _number(certificate.value),
        "bound": _number(certificate.bound),
        "versions": certificate.versions,
        "tree": {"boxes": len(tree), "sha256": hashlib.sha256(tree).hexdigest()},
    }
    with atomic_write(path) as draft, zipfile.ZipFile(draft, "w") as file:
        for name, part in ((CLAIM, json.dumps(claim, indent=1).encode()), (TREE, tree)):
            item = zipfile.ZipInfo(name, _TIME)
            item.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(item, part)


def read_certificate(path: Path) -> Certificate:
    """Read a certificate; that it is whole is checked, not that it holds.

    Raises:
        CertificateError: The file is missing, damaged, or no certificate.
    """
    try:
        with zipfile.ZipFile(path) as file:
            claim = json.loads(_part(file, CLAIM, MOST_CLAIM))
            tree = _part(file, TREE, MOST_TREE)
    except FileNotFoundError:
        raise CertificateError(f"{path}: not found; expected a certificate") from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, EOFError, ValueError) as error:
        if isinstance(error, CertificateError):
            raise CertificateError(f"{path}: {error}") from None
        raise CertificateError(
            f"{path}: damaged or no certificate ({error}); make it again with "
            "mapper search --certificate"
        ) from None
    try:
        return _certificate(claim, tree)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else error
        raise CertificateError(f"{path}: {what}") from None


def _part(file: zipfile.ZipFile, name: str, most: int) -> bytes:
    if name not in file.namelist():
        raise CertificateError(f"has no {name}; expected a certificate")
    if file.getinfo(name).file_size > most:
        raise CertificateError(
            f"{name} has {file.getinfo(name).file_size:,} B, expected at most {most:,}"
        )
    with file.open(name) as stream:
        return stream.read(most + 1)


def _certificate(claim: dict[str, Any], tree: bytes) -> Certificate:
    if not isinstance(claim, dict) or claim.get("format") != FORMAT:
        raise CertificateError(f"{CLAIM}: expected the format {FORMAT!r}")
    if claim["version"] != VERSION:
        raise CertificateError(
            f"{CLAIM}: version is {claim['version']!r}, expected {VERSION}; use the program that "
            "wrote it, or make it again"
        )
    if hashlib.sha256(tree).hexdigest() != claim["tree"]["sha256"]:
        raise CertificateError(f"{TREE}: its sha256 is not the one that {CLAIM} names")
    mapping = claim["mapping"]
    return Certificate(
        problem=ProblemSpec.from_dict(claim["problem"]),
        size=int(claim["size"]),
        mapping=None if mapping is None else Mapping.from_dict(mapping),
        value=_float(claim, "value"),
        bound=_float(claim, "bound"),
        versions=dict(claim["versions"]),
        tree=np.frombuffer(tree, dtype=np.uint8),
    )


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _float(claim: dict[str, Any], name: str) -> float:
    """A number that may be infinite, never NaN or negative."""
    value = float(claim[name])
    if not value >= 0:
        raise CertificateError(f"{CLAIM}: {name} is {claim[name]!r}, expected a number from 0 on")
    return value
