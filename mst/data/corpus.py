"""A corpus in a folder: shards of tokens for each split, the list of sources, the manifest."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from marl_common import atomic_write, write_text
from mst.data import tokenizer as tokenizers
from mst.data.manifest import Manifest, installed
from mst.data.own import HELD_OUT_SHARE, read_own
from mst.data.parts import TextPart
from mst.data.shards import BEGUN, Tokens, open_split, write_splits
from mst.data.sources import HELD_OUT, PACKAGES, SPLITS, STANDARD_LIBRARY, read_sources
from mst.data.tokenizer import ByteTokenizer, Tokenizer, read_tokenizer, train_tokenizer
from mst.errors import CorpusError

LISTING = "files.csv"
VOCABULARY = 4096
"""Tokens that a tokenizer learns, unless told otherwise."""


@dataclass(frozen=True)
class Corpus:
    """Tokens to train on and to evaluate with.

    Attributes:
        manifest: What it was made of.
        texts: Split -> its tokens, memory-mapped.
        tokenizer: Makes tokens of text and back.
    """

    manifest: Manifest
    texts: dict[str, Tokens]
    tokenizer: Tokenizer

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        """Open a corpus that `mst data` made.

        Raises:
            CorpusError: There is none, or its files are damaged.
        """
        manifest = Manifest.read(folder)
        tokenizer = _tokenizer_of(folder, manifest)
        texts = {
            name: open_split(folder, split, tokenizer.dtype)
            for name, split in manifest.splits.items()
        }
        return cls(manifest, texts, tokenizer)

    @property
    def unit(self) -> str:
        """What a token is called."""
        return "bytes" if isinstance(self.tokenizer, ByteTokenizer) else "tokens"

    @property
    def lengths(self) -> NDArray[np.int64] | None:
        """``(V,)`` bytes of each token; None where each is one."""
        return None if isinstance(self.tokenizer, ByteTokenizer) else self.tokenizer.lengths()

    def check_length(self, tokens: int, context: int, repeat: bool) -> None:
        """Refuse to train longer than there is text, or to judge by nothing.

        Raises:
            CorpusError: There is too little, and it may not be repeated; or too little is held out.
        """
        for split in self.manifest.held_out:
            if len(self.texts[split]) <= context:
                raise CorpusError(
                    f"corpus: split {split!r} has {len(self.texts[split])} {self.unit}, expected "
                    f"more than a window of {context}; give `mst data` more text, or a smaller "
                    "--context"
                )
        there = max(0, len(self.texts["train"]) - context) // context * context
        if there < context:
            raise CorpusError(
                f"corpus: has {there} {self.unit} to train on, expected {context} at least; give "
                "`mst data` more text, or a smaller --context"
            )
        if tokens > there and not repeat:
            raise CorpusError(
                f"corpus: has {there:,} {self.unit} to train on, expected the {tokens:,} asked "
                "for; give `mst data` more text, ask for fewer, or pass --repeat"
            )


def _tokenizer_of(folder: Path, manifest: Manifest) -> Tokenizer:
    if manifest.tokenizer is None:
        return ByteTokenizer()
    found = read_tokenizer(folder / tokenizers.FILE)
    if found.digest != manifest.tokenizer:
        raise CorpusError(
            f"{folder / tokenizers.FILE}: is {found.digest[:12]}, expected the tokenizer "
            f"{manifest.tokenizer[:12]} that made this corpus; put it back, or make the corpus "
            "anew: `mst data`"
        )
    return found


@dataclass(frozen=True)
class TokenizerChoice:
    """Which tokenizer a corpus is made with.

    Attributes:
        name: ``bytes``, ``bpe`` (learned from the text), or a ``tokenizer.json``.
        size: Tokens that ``bpe`` learns.
    """

    name: str = "bytes"
    size: int = VOCABULARY

    def make(self, parts: Sequence[TextPart]) -> Tokenizer:
        """The tokenizer for a text to train on.

        Raises:
            CorpusError: There is none of this name.
        """
        if self.name == "bytes":
            return ByteTokenizer()
        if self.name == "bpe":
            return train_tokenizer(parts, self.size)
        if not self.name.endswith(".json"):
            raise CorpusError(
                f"tokenizer: got {self.name!r}, expected bytes, bpe, or a file tokenizer.json"
            )
        return read_tokenizer(Path(self.name))


def build(
    folder: Path,
    packages: Sequence[str] = PACKAGES,
    held_out: str = HELD_OUT,
    standard_library: bool = True,
    tokenizer: TokenizerChoice | None = None,
) -> Manifest:
    """Make a corpus of what is installed.

    Args:
        folder: Where; what stands there is replaced.
        packages: See :func:`mst.data.read_sources`.
        held_out: The package that is not trained on.
        standard_library: Whether Python's own sources are read.
        tokenizer: None: bytes.

    Raises:
        CorpusError: A package is not installed, or the one that is held out is trained on.
    """
    if held_out in packages:
        raise CorpusError(f"package {held_out!r} is held out and trained on; expected either.")
    parts, duplicates = read_sources(packages, held_out, standard_library)
    names = [*packages, held_out] + [STANDARD_LIBRARY] * standard_library
    splits = {name: [part for part in parts if part.split == name] for name in SPLITS}
    left_out = {"duplicates": duplicates}
    versions = {name: installed(name) for name in sorted(names)}
    return _write(folder, splits, tokenizer, versions, left_out)


def build_own(
    folder: Path,
    given: Path,
    share: float = HELD_OUT_SHARE,
    tokenizer: TokenizerChoice | None = None,
) -> Manifest:
    """Make a corpus of a user's file or folder.

    Args:
        folder: Where; what stands there is replaced.
        given: See :func:`mst.data.read_own`.
        share: Share of each file that is held out.
        tokenizer: None: bytes.

    Raises:
        CorpusError: It is no text, or too little.
    """
    if folder.exists() and given.exists() and folder.resolve() == given.resolve():
        raise CorpusError(f"{folder}: is the text itself; give another folder with --out")
    parts, left_out = read_own(given, share)
    splits = {name: [part for part in parts if part.split == name] for name in SPLITS[:2]}
    return _write(folder, splits, tokenizer, {}, left_out)


def _write(
    folder: Path,
    splits: Mapping[str, Sequence[TextPart]],
    choice: TokenizerChoice | None,
    versions: Mapping[str, str],
    left_out: Mapping[str, int],
) -> Manifest:
    """Write a corpus; the manifest last, as it makes one of the files."""
    tokenizer = (choice or TokenizerChoice()).make(splits["train"])
    before = _files_of(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = write_splits(folder, splits, tokenizer)
    if not isinstance(tokenizer, ByteTokenizer):
        write_text(folder / tokenizers.FILE, tokenizer.text)
    _write_listing(folder, [part for parts in splits.values() for part in parts])
    manifest = Manifest(
        versions, written, left_out["duplicates"], tokenizer.digest, left_out.get("not text", 0)
    )
    manifest.write(folder)
    for name in before - _files_of(folder):
        (folder / name).unlink(missing_ok=True)
    (folder / BEGUN).unlink(missing_ok=True)
    return manifest


def _files_of(folder: Path) -> set[str]:
    """Files of tokens, and of a tokenizer, that a corpus consists of; none where there is none."""
    try:
        manifest = Manifest.read(folder)
    except CorpusError:
        return set()
    return manifest.shards | ({tokenizers.FILE} if manifest.tokenizer else set())


def _write_listing(folder: Path, parts: Sequence[TextPart]) -> None:
    with (
        atomic_write(folder / LISTING) as draft,
        draft.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(["split", "path", "bytes", "sha256"])
        writer.writerows((p.split, p.place, p.size, p.sha256) for p in parts)
