"""A corpus in a folder: a file of bytes for each split, the list of sources, the manifest."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from common import atomic_write
from mst.data.manifest import Manifest, installed, joined, split_entry
from mst.data.sources import (
    HELD_OUT,
    PACKAGES,
    SPLITS,
    STANDARD_LIBRARY,
    SourceFile,
    read_sources,
)
from mst.errors import CorpusError

LISTING = "files.csv"


@dataclass(frozen=True)
class Corpus:
    """Bytes to train on and to evaluate with.

    Attributes:
        manifest: What it was made of.
        texts: Split -> its bytes, as ``(N,)`` uint8.
    """

    manifest: Manifest
    texts: dict[str, NDArray[np.uint8]]

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        """Open a corpus that `mst data` made.

        Raises:
            CorpusError: There is none, its files are damaged, or the installed packages differ.
        """
        manifest = Manifest.read(folder)
        manifest.check_installed()
        texts = {name: _read(folder, name, manifest) for name in manifest.splits}
        return cls(manifest, texts)

    def check_length(self, tokens: int, context: int, repeat: bool) -> None:
        """Refuse to train longer than there is text, or to judge by nothing.

        Raises:
            CorpusError: There is too little, and it may not be repeated; or too little is held out.
        """
        for split in ("files", "package"):
            if len(self.texts[split]) <= context:
                raise CorpusError(
                    f"corpus: split {split!r} has {len(self.texts[split])} bytes, expected more "
                    f"than a window of {context}; give `mst data` larger packages"
                )
        there = max(0, len(self.texts["train"]) - context) // context * context
        if there < context:
            raise CorpusError(f"corpus: has {there} bytes to train on, expected {context} at least")
        if tokens > there and not repeat:
            raise CorpusError(
                f"corpus: has {there:,} bytes to train on, expected the {tokens:,} asked for; "
                "add packages to `mst data`, ask for fewer, or pass --repeat"
            )


def _read(folder: Path, split: str, manifest: Manifest) -> NDArray[np.uint8]:
    path = _path(folder, split)
    try:
        text = np.fromfile(path, dtype=np.uint8)
    except FileNotFoundError:
        raise CorpusError(f"{path}: there is no such file; make it anew: `mst data`") from None
    if hashlib.sha256(text.data).hexdigest() != manifest.splits[split]["sha256"]:
        raise CorpusError(
            f"{path}: its hash is not the manifest's: the text has changed; make it anew: "
            "`mst data`"
        )
    return text


def _path(folder: Path, split: str) -> Path:
    return folder / f"{split}.bin"


def build(
    folder: Path,
    packages: Sequence[str] = PACKAGES,
    held_out: str = HELD_OUT,
    standard_library: bool = True,
) -> Manifest:
    """Make a corpus of what is installed.

    Args:
        folder: Where; what stands there is replaced.
        packages: See :func:`mst.data.read_sources`.
        held_out: The package that is not trained on.
        standard_library: Whether Python's own sources are read.

    Raises:
        CorpusError: A package is not installed, or the one that is held out is trained on.
    """
    if held_out in packages:
        raise CorpusError(f"package {held_out!r} is held out and trained on; expected either.")
    files, duplicates = read_sources(packages, held_out, standard_library)
    names = [*packages, held_out] + [STANDARD_LIBRARY] * standard_library
    by_split = {name: [file for file in files if file.split == name] for name in SPLITS}
    for name, members in by_split.items():
        with atomic_write(_path(folder, name)) as draft:
            draft.write_bytes(joined(members))
    _write_listing(folder, files)
    manifest = Manifest(
        {name: installed(name) for name in sorted(names)},
        {name: split_entry(members) for name, members in by_split.items()},
        duplicates,
    )
    manifest.write(folder)
    return manifest


def _write_listing(folder: Path, files: Sequence[SourceFile]) -> None:
    with (
        atomic_write(folder / LISTING) as draft,
        draft.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(["split", "path", "bytes", "sha256"])
        writer.writerows((f.split, f.path, len(f.text), f.sha256) for f in files)
