"""Files that are whole or not there: written aside and moved into place."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Write a file so that nobody ever sees half of it.

    The block writes to the path it is given, in the same folder. When it ends, the draft takes the
    place of `path` in one step; when it raises, the draft goes and `path` stays as it was.

    Args:
        path: The file; its folder is made.

    Yields:
        Path of the draft. It ends like `path`, for writers that go by the name's ending.

    Raises:
        OSError: The folder or the file cannot be written; it names `path`.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        with errors_named(path, draft):
            yield draft
            os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, whole or not at all; see :func:`atomic_write`."""
    with atomic_write(path) as draft:
        draft.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def errors_named(path: Path, draft: Path) -> Iterator[None]:
    """Let errors of writing a draft name the file that it becomes; a full disk's name none.

    Args:
        path: The file.
        draft: Where it is written first.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None or Path(error.filename) == draft:
            error.filename, error.filename2 = str(path), None
        raise


def files_of(options: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """``{"files": ...}``: fingerprints of the files that options name; empty where they name none.

    What is kept of a search says them beside the options: another content is another search.
    """
    paths = {key: Path(value) for key, value in options.items() if isinstance(value, str)}
    found = {
        key: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for key, path in paths.items()
        if path.is_file()
    }
    return {"files": found} if found else {}
