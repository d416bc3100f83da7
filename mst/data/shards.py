"""Tokens in files: written shard by shard, read through memory maps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import atomic_write, read_json, write_text
from mst.data.parts import CHUNK, TextPart, pieces
from mst.data.tokenizer import Tokenizer
from mst.errors import CorpusError

BEGUN = "begun.json"
"""What a folder that is being filled holds: of what, and which shards are done."""


class Shards:
    """Tokens of several files, read as one array.

    Args:
        parts: ``(N_i,)`` tokens of each file.
    """

    def __init__(self, parts: Sequence[NDArray[Any]]) -> None:
        self._parts = parts
        self._ends = np.cumsum([len(part) for part in parts])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """Tokens at places, of the same shape."""
        found = np.empty(places.shape, dtype=self._parts[0].dtype)
        which = np.searchsorted(self._ends, places, side="right")
        for shard in np.unique(which):
            here = which == shard
            first = self._ends[shard] - len(self._parts[shard])
            found[here] = self._parts[shard][places[here] - first]
        return found


Tokens = NDArray[Any] | Shards
"""Tokens of a split, indexed by arrays of places."""


def write_splits(
    folder: Path, splits: Mapping[str, Sequence[TextPart]], tokenizer: Tokenizer
) -> dict[str, dict[str, Any]]:
    """Write the shards of all splits; those that are there, of the same text, stay.

    Args:
        folder: Where.
        splits: Split -> its parts in order.
        tokenizer: Makes tokens of them.

    Returns:
        Split -> ``files``, ``bytes``, ``tokens``, ``sha256`` and ``shards``.
    """
    done = _Progress(folder, splits, tokenizer)
    made = {}
    for name, parts in splits.items():
        shards = []
        for number, piece in enumerate(pieces(parts)):
            file = f"{name}-{number:03}.bin"
            shards.append(done.shard(file) or done.write(file, piece, tokenizer))
        made[name] = {
            "files": len({part.place for part in parts}),
            "bytes": sum(part.size + part.last for part in parts),
            "tokens": sum(shard["tokens"] for shard in shards),
            "sha256": joint_hash(folder, [shard["file"] for shard in shards]),
            "shards": shards,
        }
    return made


class _Progress:
    """Which shards of a folder are done, kept in it so that a second try goes on."""

    def __init__(
        self, folder: Path, splits: Mapping[str, Sequence[TextPart]], tokenizer: Tokenizer
    ) -> None:
        self._folder = folder
        named = [[p.split, p.place, p.start, p.end, p.sha256] for ps in splits.values() for p in ps]
        self._of = hashlib.sha256(json.dumps([named, tokenizer.digest]).encode()).hexdigest()
        self._done: dict[str, dict[str, Any]] = {}
        path = folder / BEGUN
        if path.exists():
            found = read_json(path, CorpusError, "the shards of a corpus that are done")
            if isinstance(found, dict) and found.get("of") == self._of:
                self._done = found["done"]

    def shard(self, file: str) -> dict[str, Any] | None:
        """The entry of a shard that is done, and is there as it was written."""
        entry = self._done.get(file)
        if entry is None or not (self._folder / file).exists():
            return None
        return entry if joint_hash(self._folder, [file]) == entry["sha256"] else None

    def write(self, file: str, piece: Sequence[TextPart], tokenizer: Tokenizer) -> dict[str, Any]:
        """Write a shard; its entry."""
        count = 0
        with atomic_write(self._folder / file) as draft, draft.open("wb") as out:
            for part in piece:
                for chunk in part.chunks():
                    tokens = tokenizer.encode(chunk)
                    count += len(tokens)
                    out.write(tokens.tobytes())
                if part.last:
                    count += 1
                    out.write(tokenizer.end.tobytes())
        digest = joint_hash(self._folder, [file])
        self._done[file] = {"file": file, "tokens": count, "sha256": digest}
        write_text(self._folder / BEGUN, json.dumps({"of": self._of, "done": self._done}))
        return self._done[file]


def joint_hash(folder: Path, files: Sequence[str]) -> str:
    """SHA-256 of files behind one another."""
    digest = hashlib.sha256()
    for name in files:
        with (folder / name).open("rb") as file:
            while text := file.read(CHUNK):
                digest.update(text)
    return digest.hexdigest()


def open_split(folder: Path, split: Mapping[str, Any], dtype: Any) -> Tokens:
    """Map the shards of a split into memory.

    Raises:
        CorpusError: A file is missing, or is not the one that was written.
    """
    names = [shard["file"] for shard in split["shards"]]
    for name in names:
        if not (folder / name).exists():
            raise CorpusError(f"{folder / name}: there is no such file; make it anew: `mst data`")
    if joint_hash(folder, names) != split["sha256"]:
        changed = [
            s["file"] for s in split["shards"] if joint_hash(folder, [s["file"]]) != s["sha256"]
        ]
        raise CorpusError(
            f"{folder / (changed or names)[0]}: its hash is not the manifest's: the text has "
            "changed; make it anew: `mst data`"
        )
    maps = [_mapped(folder / name, dtype) for name in names]
    return maps[0] if len(maps) == 1 else Shards(maps)


def _mapped(path: Path, dtype: Any) -> NDArray[Any]:
    """An empty file cannot be mapped."""
    if not path.stat().st_size:
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="c")
