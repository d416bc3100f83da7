"""From text to tokens: bytes, or pairs of bytes that were merged by how often they occur."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marl_common import read_text
from mst.data.parts import TextPart
from mst.errors import CorpusError, MissingTokenizersError

FILE = "tokenizer.json"
END = "<|endoftext|>"
"""Token between files; GPT-2's."""
SEEN = 256 << 20
"""Bytes of a text that merges are learned from, at most."""
LEAST_SIZE = 257
"""Tokens of a vocabulary: all bytes and the end of a file."""


class ByteTokenizer:
    """A byte is a token; a zero byte ends a file.

    Attributes:
        size: Tokens there are.
        name: What it is called.
        digest: None: it needs no file.
    """

    size, name, digest = 256, "bytes", None
    dtype = np.uint8

    def encode(self, text: bytes) -> NDArray[Any]:
        """``(N,)`` tokens of a text."""
        return np.frombuffer(text, dtype=np.uint8)

    @property
    def end(self) -> NDArray[Any]:
        """``(1,)`` token that ends a file."""
        return np.zeros(1, dtype=np.uint8)

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens; rows of a larger embedding are no bytes and are left out."""
        return bytes(token for token in tokens if token < self.size)


class PairTokenizer:
    """Byte-pair encoding over bytes (Sennrich et al. 2016; bytes as in GPT-2), by `tokenizers`.

    Args:
        text: What ``tokenizer.json`` holds.
        where: The file, in messages.

    Attributes:
        size: Tokens there are.
        name: What it is called.
        digest: SHA-256 of the file.

    Raises:
        CorpusError: It is no tokenizer of bytes.
    """

    name = "bpe"

    def __init__(self, text: str, where: str = FILE) -> None:
        library = _library()
        try:
            self._tokenizer = library.Tokenizer.from_str(text)
        except Exception as error:  # the library raises plain Exceptions
            raise CorpusError(
                f"{where}: is no tokenizer ({str(error)[:80]}); expected the JSON of a byte-level "
                "BPE, such as `mst data --tokenizer bpe` writes"
            ) from None
        self.text = text
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        self.size = self._tokenizer.get_vocab_size()
        self._bytes = _token_bytes(self._tokenizer, where)
        found = self._tokenizer.token_to_id(END)
        if found is None:
            raise CorpusError(f"{where}: has no token {END}, which ends a file; add it")
        self._end = found

    @property
    def dtype(self) -> type[np.unsignedinteger[Any]]:
        """Type of stored tokens."""
        return np.uint16 if self.size <= 1 << 16 else np.uint32

    @property
    def end(self) -> NDArray[Any]:
        """``(1,)`` token that ends a file."""
        return np.array([self._end], dtype=self.dtype)

    def encode(self, text: bytes) -> NDArray[Any]:
        """``(N,)`` tokens of a text."""
        told = text.decode(errors="replace")  # a few sources of packages are no UTF-8
        encoded = self._tokenizer.encode(told, add_special_tokens=False)
        return np.array(encoded.ids, dtype=self.dtype)

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens; rows of a larger embedding stand for none and are left out."""
        return b"".join(self._bytes[token] for token in tokens if token < self.size)

    def lengths(self) -> NDArray[np.int64]:
        """``(size,)`` bytes of each token; the end of a file counts as one."""
        return np.array([max(1, len(text)) for text in self._bytes], dtype=np.int64)


Tokenizer = ByteTokenizer | PairTokenizer


def read_tokenizer(path: Path) -> PairTokenizer:
    """The tokenizer of a file.

    Raises:
        CorpusError: It cannot be read, or is no tokenizer.
    """
    return PairTokenizer(read_text(path, CorpusError, "a tokenizer.json"), str(path))


def train_tokenizer(parts: Sequence[TextPart], size: int) -> PairTokenizer:
    """Learn merges from a text.

    Args:
        parts: The text, of which the first 256 MiB are read.
        size: Tokens there shall be; fewer where no pair occurs twice.

    Raises:
        CorpusError: So few tokens cannot be.
    """
    if size < LEAST_SIZE:
        raise CorpusError(
            f"vocabulary: got {size}, expected at least {LEAST_SIZE}, all bytes and the end of a "
            "file; 4096 is usual for a small text"
        )
    library = _library()
    made = library.Tokenizer(library.models.BPE())
    made.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = library.decoders.ByteLevel()
    trainer = library.trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], show_progress=False,
        initial_alphabet=library.pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    made.train_from_iterator(_first(parts), trainer)
    return PairTokenizer(made.to_str())


def _first(parts: Sequence[TextPart]) -> Iterator[str]:
    seen = 0
    for part in parts:
        for chunk in part.chunks():
            yield chunk.decode(errors="replace")
            seen += len(chunk)
            if seen >= SEEN:
                return


def _token_bytes(tokenizer: Any, where: str) -> list[bytes]:
    """The bytes that each token stands for; none of special ones."""
    table = {letter: byte for byte, letter in enumerate(_letters())}
    found = [b""] * tokenizer.get_vocab_size()
    for token, place in tokenizer.get_vocab().items():
        letters = [table.get(letter) for letter in token]
        if token != END and None in letters:
            raise CorpusError(
                f"{where}: token {token[:20]!r} stands for no bytes; expected a byte-level BPE"
            )
        if token != END:
            found[place] = bytes(byte for byte in letters if byte is not None)
    return found


def _letters() -> list[str]:
    """GPT-2's letter for each byte: itself where it can be seen, else one from 256 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in seen else chr(next(others)) for byte in range(256)]


def _library() -> Any:
    try:
        import tokenizers
    except ImportError:
        raise MissingTokenizersError(
            "a byte-pair tokenizer needs the library tokenizers; install it with: "
            "pip install 'marl-mapper[bpe]', or use --tokenizer bytes"
        ) from None
    return tokenizers
