"""A file of certificates: a zip of a claim, and of the certificates that it stands on.

The claim is JSON; the parts are ``shape-1.cert`` and so on, each a certificate as a file of its
own. Nothing in the file is ever run.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from mapper.certificate.certificate_file import (
    DAMAGES,
    Certificate,
    CertificateError,
    read_certificate,
    write_certificate,
)
from mapper.certificate.claim_file import Claimed, Size
from marl_common import Text, atomic_write, brief, parse_record, read_fields

VERSION = 1
MOST_PART = 1 << 29
_TIME = (1980, 1, 1, 0, 0, 0)


class PartsClaim(Claimed):
    """What a claim on certificates begins with."""

    format: Text
    version: Size


Claim = TypeVar("Claim", bound=PartsClaim)
Parts = tuple[Claim, dict[str, bytes], tuple[Certificate, ...]]
"""What a file holds: its claim, its other members, and its certificates."""


@dataclass(frozen=True)
class PartsFile(Generic[Claim]):
    """A kind of file.

    Args:
        name: The claim's member.
        model: Of the claim.
        format: What the claim says it is.
        many: How many certificates a claim stands on.
        others: Members besides claim and parts.
    """

    name: str
    model: type[Claim]
    format: str
    many: Callable[[Claim], int]
    others: tuple[str, ...] = ()

    def is_in(self, path: Path) -> bool:
        """Whether a file has such a claim."""
        if not path.is_file():
            return False
        try:
            with zipfile.ZipFile(path) as file:
                return self.name in file.namelist()
        except DAMAGES:
            return False

    def write(
        self,
        path: Path,
        claim: Mapping[str, Any],
        parts: Sequence[Certificate],
        others: Mapping[str, bytes] | None = None,
    ) -> None:
        """Write a file, whole or not at all; the same gives the same bytes.

        Raises:
            OSError: The file cannot be written.
        """
        said = {"format": self.format, "version": VERSION, **claim}
        with tempfile.TemporaryDirectory() as folder, atomic_write(path) as draft:
            part = Path(folder) / "part"
            with zipfile.ZipFile(draft, "w") as file:
                file.writestr(zipfile.ZipInfo(self.name, _TIME), json.dumps(said, indent=1))
                for name, member in (others or {}).items():
                    file.writestr(zipfile.ZipInfo(name, _TIME), member)
                for number, one in enumerate(parts, 1):
                    write_certificate(part, one)
                    file.writestr(zipfile.ZipInfo(_part(number), _TIME), part.read_bytes())

    def read(self, path: Path) -> Parts[Claim]:
        """Read a file; that it is whole is checked, not that it holds.

        Raises:
            CertificateError: It is damaged.
        """
        try:
            with zipfile.ZipFile(path) as file, tempfile.TemporaryDirectory() as folder:
                return self._read(file, Path(folder) / "part")
        except CertificateError as error:
            raise CertificateError(f"{path}: {error}") from None
        except DAMAGES as error:
            raise CertificateError(f"{path}: damaged ({error}); make it again") from None

    def _read(self, file: zipfile.ZipFile, part: Path) -> Parts[Claim]:
        if any(item.file_size > MOST_PART for item in file.infolist()):
            raise CertificateError(f"a part has more than {MOST_PART:,} B")
        claim = self._claim(file)
        names = [_part(number) for number in range(1, self.many(claim) + 1)]
        if sorted(file.namelist()) != sorted([self.name, *self.others, *names]):
            expected = ", ".join([self.name, *self.others, names[0]])
            raise CertificateError(
                f"{self.name} names {len(names)} shapes; expected {expected} to {names[-1]} and "
                "nothing else"
            )
        parts = []
        for name in names:
            part.write_bytes(file.read(name))
            try:
                parts.append(read_certificate(part))
            except CertificateError as error:
                raise CertificateError(str(error).replace(str(part), name)) from None
        return claim, {name: file.read(name) for name in self.others}, tuple(parts)

    def _claim(self, file: zipfile.ZipFile) -> Claim:
        data = parse_record(file.read(self.name), self.name, CertificateError)
        if not isinstance(data, dict) or data.get("format") != self.format:
            raise CertificateError(f"{self.name}: expected the format {self.format!r}")
        if data.get("version") != VERSION:
            raise CertificateError(
                f"{self.name}: version is {brief(data.get('version'))}, expected {VERSION}; use "
                "the program that wrote it, or make it again"
            )
        return read_fields(self.model, data, self.name, CertificateError)


def _part(number: int) -> str:
    return f"shape-{number}.cert"
