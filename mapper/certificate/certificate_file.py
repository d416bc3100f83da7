"""A certificate's file: a zip of ``certificate.json``, the claim, and ``tree.bin``, the proof.

The claim names the problem, the mapping, its value, and the bound that no mapping of the space is
below. The tree holds one byte a box, in the order in which :mod:`mapper.certificate.replay` walks
them; on a chip that is a list of levels (version 2) the numbers of
:mod:`mapper.certificate.chain_walk`. Nothing in the file is ever run.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_models import Chain, ChainMapping, Mapping
from mapper.search.problem_spec import ProblemSpec
from marl_common import atomic_write, brief, parse_record, printable, read_fields

CLAIM, TREE = "certificate.json", "tree.bin"
FORMAT = "marl-mapper certificate"
TWO_LEVELS, LIST_OF_LEVELS = 1, 2
"""Versions, by chip."""
NUMBER = np.dtype("<u4")
MOST_CLAIM = 1 << 20
MOST_TREE = 1 << 28
"""Largest parts that are read [B]."""
DAMAGES = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,  # a compression that Python does not know
    RuntimeError,  # an encrypted part
)
"""What reading a damaged zip may raise."""
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
    mapping: Mapping | ChainMapping | None
    value: float
    bound: float
    versions: dict[str, str]
    tree: NDArray[np.unsignedinteger[Any]]

    def with_tree(self, tree: NDArray[Any]) -> Certificate:
        """The same claim with a proof."""
        return replace(self, tree=tree)

    @property
    def version(self) -> int:
        """Of the file's format."""
        return LIST_OF_LEVELS if self.is_chain else TWO_LEVELS

    @property
    def is_chain(self) -> bool:
        """Whether it is of a chip that is a list of levels."""
        return isinstance(self.problem.accelerator, Chain)

    @property
    def gap(self) -> float:
        """How far above the optimum `value` may be, as a share; inf where the bound is 0."""
        if not math.isfinite(self.value):
            return 0.0
        return max(0.0, self.value / self.bound - 1.0) if self.bound > 0 else math.inf


def write_certificate(path: Path, certificate: Certificate) -> None:
    """Write a certificate, whole or not at all; the same certificate gives the same bytes.

    Raises:
        OSError: The file cannot be written.
    """
    tree = certificate.tree.tobytes()
    problem = certificate.problem.to_dict()
    problem.pop("files", None)  # prices elsewhere are held against the bound, whatever their file
    claim = {
        "format": FORMAT,
        "version": certificate.version,
        "problem": problem,
        "size": str(certificate.size),
        "mapping": None if certificate.mapping is None else certificate.mapping.to_dict(),
        "value": _number(certificate.value),
        "bound": _number(certificate.bound),
        "versions": certificate.versions,
        "tree": {"boxes": len(certificate.tree), "sha256": hashlib.sha256(tree).hexdigest()},
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
    if not path.is_file():
        what = "damaged or no certificate (no file)" if path.exists() else "not found"
        raise CertificateError(f"{path}: {what}; expected a certificate")
    try:
        with zipfile.ZipFile(path) as file:
            claim, tree = _parts(file)
    except CertificateError as error:
        raise CertificateError(f"{path}: {error}") from None
    except DAMAGES as error:
        raise CertificateError(
            f"{path}: damaged or no certificate ({error}); make it again with "
            "mapper search --certificate"
        ) from None
    try:
        return _certificate(claim, tree)
    except ValueError as error:
        raise CertificateError(f"{path}: {printable(error)}") from None


def _parts(file: zipfile.ZipFile) -> tuple[bytes, bytes]:
    """Claim and tree of a file that holds them once each and nothing else."""
    names = file.namelist()
    for name in (CLAIM, TREE):
        if names.count(name) != 1:
            many = "no" if name not in names else "more than one"
            raise CertificateError(f"has {many} {name}; expected a certificate")
    if len(names) != 2:
        other = next(name for name in names if name not in (CLAIM, TREE))
        raise CertificateError(f"has a part {brief(other)}; expected {CLAIM} and {TREE} alone")
    return _part(file, CLAIM, MOST_CLAIM), _part(file, TREE, MOST_TREE)


def _part(file: zipfile.ZipFile, name: str, most: int) -> bytes:
    if file.getinfo(name).file_size > most:
        raise CertificateError(
            f"{name} has {file.getinfo(name).file_size:,} B, expected at most {most:,}"
        )
    with file.open(name) as stream:
        part = stream.read(most + 1)
    if len(part) != file.getinfo(name).file_size:
        raise CertificateError(f"{name} has another length than the file says; it is damaged")
    return part


def _certificate(text: bytes, tree: bytes) -> Certificate:
    from mapper.certificate.claim_file import ChainClaimFields, ClaimFields

    data = parse_record(text, CLAIM, CertificateError)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CertificateError(f"{CLAIM}: expected the format {FORMAT!r}")
    version = data.get("version")
    if version not in (TWO_LEVELS, LIST_OF_LEVELS) or type(version) is not int:
        raise CertificateError(
            f"{CLAIM}: version is {brief(version)}, expected {TWO_LEVELS} or {LIST_OF_LEVELS}; use "
            "the program that wrote it, or make it again"
        )
    fields = ChainClaimFields if version == LIST_OF_LEVELS else ClaimFields
    claim = read_fields(fields, data, CLAIM, CertificateError)
    if hashlib.sha256(tree).hexdigest() != claim.tree.sha256:
        raise CertificateError(f"{TREE}: its sha256 is not the one that {CLAIM} names")
    kind = NUMBER if version == LIST_OF_LEVELS else np.dtype(np.uint8)
    if claim.tree.boxes * kind.itemsize != len(tree):
        raise CertificateError(
            f"{CLAIM}: tree.boxes is {claim.tree.boxes:,}, expected "
            f"{len(tree) // kind.itemsize:,}, those of {TREE}"
        )
    mapping_of = ChainMapping if version == LIST_OF_LEVELS else Mapping
    found = Certificate(
        problem=ProblemSpec.from_dict(data["problem"]),
        size=int(claim.size),
        mapping=None if claim.mapping is None else mapping_of.from_dict(data["mapping"]),
        value=float(claim.value),
        bound=float(claim.bound),
        versions=dict(claim.versions),
        tree=np.frombuffer(tree, dtype=kind),
    )
    if found.version != version:
        what = "a list of levels" if found.is_chain else "of two levels"
        raise CertificateError(
            f"{CLAIM}: version is {version}, expected {found.version}: the chip is {what}"
        )
    return found


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
