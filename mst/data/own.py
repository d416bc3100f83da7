"""A user's own text: a file, or every text file of a folder, the end of each held out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mst.data.parts import TextPart, check_text, line_start
from mst.errors import CorpusError

HELD_OUT_SHARE = 0.05
"""Share of each file, its end, that is not trained on."""
LEAST = 1000
"""Bytes of text, at least."""


def read_own(given: Path, share: float = HELD_OUT_SHARE) -> tuple[list[TextPart], dict[str, int]]:
    """Parts of a text in the order of their places.

    Args:
        given: A file, or a folder whose files are read, hidden ones and those that are no text
            aside.
        share: See :data:`HELD_OUT_SHARE`.

    Returns:
        The parts, and how many files were left out: ``duplicates`` and ``not text``.

    Raises:
        CorpusError: There is no text, or too little.
    """
    if not 0 < share < 1:
        raise CorpusError(f"held-out share: got {share}, expected between 0 and 1; 0.05 is usual")
    parts: list[TextPart] = []
    left_out, known = {"duplicates": 0, "not text": 0}, set()
    for path, place in _files(given):
        try:
            digest = check_text(path)
        except CorpusError:
            if given.is_file():
                raise
            left_out["not text"] += 1
            continue
        if digest in known:
            left_out["duplicates"] += 1
        elif size := path.stat().st_size:
            known.add(digest)
            parts += _split(path, place, size, digest, share)
    _check(given, parts, left_out)
    return parts, left_out


def _files(given: Path) -> Iterator[tuple[Path, str]]:
    """Files and their places below what was given."""
    if given.is_file():
        yield given, given.name
        return
    if not given.exists():
        raise CorpusError(
            f"{given}: there is no such file or folder; expected text, or the word corpus for the "
            "Python sources that are installed here"
        )
    if not given.is_dir():
        raise CorpusError(f"{given}: is neither a file nor a folder; expected text")
    found = ((path.relative_to(given).as_posix(), path) for path in given.rglob("*"))
    for place, path in sorted(found):
        if not any(name.startswith(".") for name in place.split("/")) and path.is_file():
            yield path, place


def _split(path: Path, place: str, size: int, digest: str, share: float) -> list[TextPart]:
    """The beginning of a file to train on, its end held out."""
    cut = line_start(path, size - round(size * share), size)
    halves = [("train", 0, cut), ("files", cut, size)]
    return [TextPart(name, place, path, a, b, digest) for name, a, b in halves if a < b]


def _check(given: Path, parts: list[TextPart], left_out: dict[str, int]) -> None:
    total = sum(part.size for part in parts)
    if total < LEAST:
        others = f" ({left_out['not text']} files are not text)" if left_out["not text"] else ""
        raise CorpusError(
            f"{given}: has {total:,} bytes of text{others}, expected at least {LEAST:,}; "
            "give more text"
        )
    if {part.split for part in parts} != {"train", "files"}:
        raise CorpusError(
            f"{given}: leaves nothing to train on, or nothing held out; give more text, or another "
            "--held-out-share"
        )
