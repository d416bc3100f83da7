"""Pieces of files that make up a text, each in one split."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mst.errors import CorpusError

PIECE = 64 << 20
"""Bytes of a text that become one shard, about."""
CHUNK = 1 << 20
"""Bytes that are read at once."""


@dataclass(frozen=True)
class TextPart:
    """Bytes of a file that belong to one split.

    Attributes:
        split: Its split.
        place: What the file is called in the list of sources.
        path: The file.
        start: First byte.
        end: One after the last.
        sha256: Hash of the whole file.
        last: Whether a separator follows, as the file or its share of the split ends here.
    """

    split: str
    place: str
    path: Path
    start: int
    end: int
    sha256: str
    last: bool = True

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.start

    def chunks(self) -> Iterator[bytes]:
        """The bytes, about a mebibyte at a time: whole lines where there are any.

        Raises:
            CorpusError: The file has become shorter.
        """
        with self.path.open("rb") as file:
            file.seek(self.start)
            left = self.size
            while left:
                text = file.read(min(CHUNK, left))
                if not text:
                    raise CorpusError(f"{self.path}: became shorter while it was read; start anew")
                if len(text) < left:
                    text += file.readline(min(CHUNK, left - len(text)))
                while len(text) < left and (byte := file.peek(1)[:1]) and byte[0] & 0xC0 == 0x80:
                    text += file.read(1)  # the rest of a character
                left -= len(text)
                yield text


def pieces(parts: Sequence[TextPart], size: int = PIECE) -> list[list[TextPart]]:
    """Parts in order, in groups of about `size` bytes; a large part is cut at lines."""
    groups: list[list[TextPart]] = [[]]
    room = size
    for part in parts:
        for cut in _cut(part, size):
            if room <= 0:
                groups.append([])
                room = size
            groups[-1].append(cut)
            room -= cut.size
    return groups


def _cut(part: TextPart, size: int) -> Iterator[TextPart]:
    start = part.start
    while part.end - start > size:
        stop = line_start(part.path, start + size, part.end)
        yield replace(part, start=start, end=stop, last=False)
        start = stop
    if start < part.end:
        yield replace(part, start=start)


def line_start(path: Path, place: int, end: int) -> int:
    """The next place where a line begins, if one does within a mebibyte; else a character."""
    with path.open("rb") as file:
        file.seek(place)
        text = file.read(min(CHUNK, end - place))
    newline = text.find(b"\n") + 1
    if newline and place + newline < end:
        return place + newline
    while text and text[0] & 0xC0 == 0x80:  # inside a character
        text, place = text[1:], place + 1
    return place


def check_text(path: Path) -> str:
    """Read a file once: its hash.

    Raises:
        CorpusError: It is not UTF-8 text.
    """
    digest, decoder, place = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")(), 0
    with path.open("rb") as file:
        while text := file.read(CHUNK):
            zero = text.find(b"\0")
            if zero >= 0:
                raise CorpusError(f"{path}: {_not_text(f'a zero byte at {place + zero:,}')}")
            digest.update(text)
            _decode(decoder, text, path, place)
            place += len(text)
        _decode(decoder, b"", path, place, final=True)
    return digest.hexdigest()


def _decode(
    decoder: codecs.IncrementalDecoder, text: bytes, path: Path, place: int, final: bool = False
) -> None:
    try:
        decoder.decode(text, final)
    except UnicodeDecodeError as error:
        at = place + error.start
        raise CorpusError(f"{path}: {_not_text(f'no UTF-8 at about byte {at:,}')}") from None


def _not_text(what: str) -> str:
    return f"is not text ({what}); expected UTF-8. Convert it, or leave it out"
