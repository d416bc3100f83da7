"""What a corpus was made of: versions and hashes, by which a run knows its text again."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from marl_common import read_json, write_text
from mst.data.sources import STANDARD_LIBRARY
from mst.errors import CorpusError

FILE = "manifest.json"
FORM = 2
TRAIN, FILES, PACKAGE = "train", "files", "package"


@dataclass(frozen=True)
class Manifest:
    """What a corpus was made of.

    Attributes:
        versions: Package -> its version; empty for a text of the user's.
        splits: Split -> ``files``, ``bytes``, ``tokens``, ``sha256`` of its tokens, ``shards``.
        duplicates: Files left out, as another had the same text.
        tokenizer: Hash of the tokenizer's file; None where a byte is a token.
        not_text: Files left out, as they are no text.
        form: Version of this form.
    """

    versions: Mapping[str, str]
    splits: Mapping[str, Mapping[str, Any]]
    duplicates: int
    tokenizer: str | None = None
    not_text: int = 0
    form: int = field(default=FORM, kw_only=True)

    @property
    def digest(self) -> str:
        """One hash of all tokens and what makes text of them: what a run is bound to."""
        hashes = "".join(f"{name} {self.splits[name]['sha256']}\n" for name in sorted(self.splits))
        return hashlib.sha256((hashes + (self.tokenizer or "")).encode()).hexdigest()

    @property
    def held_out(self) -> list[str]:
        """Splits that a model must be judged by."""
        return [name for name in (FILES, PACKAGE) if name in self.splits]

    def rows(self) -> list[dict[str, Any]]:
        """One row a split, without its files of tokens."""
        return [
            {"split": name, **{key: value for key, value in entry.items() if key != "shards"}}
            for name, entry in self.splits.items()
        ]

    @property
    def shards(self) -> set[str]:
        """Names of all files of tokens."""
        return {shard["file"] for split in self.splits.values() for shard in split["shards"]}

    def write(self, folder: Path) -> None:
        """Write it into the corpus's folder."""
        write_text(folder / FILE, json.dumps(asdict(self), indent=2, sort_keys=True))

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
            values = _of_form_2(read_json(path, CorpusError, "a manifest"))
            found = cls(**values)
            complete = all(_complete(split) for split in found.splits.values())
        except (TypeError, ValueError, AttributeError, KeyError):
            complete = False
        if not complete or found.form != FORM or not {TRAIN, FILES} <= {*found.splits}:
            raise CorpusError(f"{path}: is no manifest of form {FORM}; make it anew: `mst data`")
        return found


def installed(source: str) -> str:
    """Version of a source that is installed, or ``not installed``."""
    if source == STANDARD_LIBRARY:
        return platform.python_version()
    try:
        return version(source)
    except PackageNotFoundError:
        return "not installed"


def _of_form_2(values: dict[str, Any]) -> dict[str, Any]:
    """A manifest of 0.2, whose splits were a file of bytes each, in today's form."""
    if values["form"] != 1:
        return values
    splits = {
        name: {
            **split,
            "tokens": split["bytes"],
            "shards": [
                {"file": f"{name}.bin", "tokens": split["bytes"], "sha256": split["sha256"]}
            ],
        }
        for name, split in values["splits"].items()
    }
    return {**values, "splits": splits, "form": FORM}


def _complete(split: Mapping[str, Any]) -> bool:
    entries = {"file", "tokens", "sha256"}
    whole = {"files", "bytes", "tokens", "sha256", "shards"} <= {*split}
    return whole and all(
        entries <= {*shard} and Path(shard["file"]).name == shard["file"]
        for shard in split["shards"]
    )
