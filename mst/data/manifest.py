"""What a corpus was made of: versions and hashes, by which a run knows its text again."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from common import atomic_write, read_json
from mst.data.sources import STANDARD_LIBRARY, SourceFile
from mst.errors import CorpusError

FILE = "manifest.json"
FORM = 1


@dataclass(frozen=True)
class Manifest:
    """What a corpus was made of.

    Attributes:
        versions: Source -> its version.
        splits: Split -> ``files``, ``bytes`` and ``sha256`` of its text.
        duplicates: Files left out, as another had the same text.
        form: Version of this form.
    """

    versions: Mapping[str, str]
    splits: Mapping[str, Mapping[str, Any]]
    duplicates: int
    form: int = FORM

    @property
    def digest(self) -> str:
        """One hash of the whole text: what a run is bound to."""
        hashes = "".join(f"{name} {self.splits[name]['sha256']}\n" for name in sorted(self.splits))
        return hashlib.sha256(hashes.encode()).hexdigest()

    def write(self, folder: Path) -> None:
        """Write it into the corpus's folder."""
        with atomic_write(folder / FILE) as draft:
            draft.write_text(json.dumps(asdict(self), indent=2, sort_keys=True), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a corpus.

        Raises:
            CorpusError: There is none, or it is not one.
        """
        path = folder / FILE
        if not path.exists():
            raise CorpusError(f"{path}: there is no such file; make a corpus with `mst data` first")
        try:
            found = cls(**read_json(path, CorpusError, "a manifest"))
            complete = all({"files", "bytes", "sha256"} <= {*s} for s in found.splits.values())
        except (TypeError, ValueError, AttributeError):
            complete = False
        if not complete or found.form != FORM:
            raise CorpusError(f"{path}: is no manifest of form {FORM}; make it anew: `mst data`")
        return found

    def check_installed(self) -> None:
        """Refuse a corpus of other packages than the installed ones.

        Raises:
            CorpusError: Some differ; it names them.
        """
        differ = [
            f"{name} {was} (now {installed(name)})"
            for name, was in self.versions.items()
            if installed(name) != was
        ]
        if differ:
            raise CorpusError(
                f"manifest: the corpus was made of {', '.join(differ)}; expected the installed "
                "versions. Make it anew with `mst data`, or install those"
            )


def installed(source: str) -> str:
    """Version of a source that is installed, or ``not installed``."""
    if source == STANDARD_LIBRARY:
        return platform.python_version()
    try:
        return version(source)
    except PackageNotFoundError:
        return "not installed"


def split_entry(files: Sequence[SourceFile]) -> dict[str, Any]:
    """What a manifest says of a split with these files."""
    text = joined(files)
    return {
        "files": len(files),
        "bytes": len(text),
        "sha256": hashlib.sha256(text).hexdigest(),
    }


def joined(files: Sequence[SourceFile]) -> bytes:
    """Texts of files behind one another, a zero byte after each."""
    return b"".join(file.text + b"\0" for file in files)
