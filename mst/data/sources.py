"""Python sources of the standard library and of installed packages, each file in one split."""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from mst.data.parts import TextPart
from mst.errors import CorpusError

PACKAGES = ("torch", "sympy", "numpy")
"""Installed packages that are trained on, beside the standard library."""
HELD_OUT = "networkx"
"""The package that is never trained on."""
STANDARD_LIBRARY = "python"
PROSE = "pydoc_data/topics.py"
"""The language reference as text inside the standard library: English prose."""
SPLITS = ("train", "files", "package", "prose")
"""Trained on; held-out files; the held-out package; prose."""
HELD_OUT_SHARE = 0.02


def read_sources(
    packages: Sequence[str] = PACKAGES, held_out: str = HELD_OUT, standard_library: bool = True
) -> tuple[list[TextPart], int]:
    """Every file once, in an order that follows from the paths alone.

    Args:
        packages: Installed packages to train on.
        held_out: A package that is not trained on.
        standard_library: Whether Python's own sources are read.

    Returns:
        The files, and how many more had the text of one of these.

    Raises:
        CorpusError: A package is not installed.
    """
    roots = {name: _package_root(name) for name in (*packages, held_out)}
    if standard_library:
        roots[STANDARD_LIBRARY] = Path(sysconfig.get_path("stdlib"))
    parts, known, duplicates = [], set(), 0
    for name in sorted(roots):
        for path, place in _python_files(roots[name]):
            text = path.read_bytes()
            digest = hashlib.sha256(text).hexdigest()
            if text and digest not in known:
                split = _split(name, place, held_out)
                parts.append(TextPart(split, f"{name}/{place}", path, 0, len(text), digest))
            duplicates += digest in known
            known.add(digest)
    return parts, duplicates


def _package_root(name: str) -> Path:
    plain = all(part.isidentifier() for part in name.split("."))
    spec = find_spec(name) if plain else None
    if spec is None or not spec.submodule_search_locations:
        raise CorpusError(
            f"package {name!r} is not installed, expected its Python sources; install it with: "
            "pip install 'marl-mapper[mst]', or choose others with --package and --held-out"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _python_files(root: Path) -> Iterator[tuple[Path, str]]:
    """Python files below a folder and their places in it; no installed packages among them."""
    found = ((path, path.relative_to(root).as_posix()) for path in root.rglob("*.py"))
    for place, path in sorted((place, path) for path, place in found):
        if "site-packages/" not in place and "dist-packages/" not in place and path.is_file():
            yield path, place


def _split(name: str, place: str, held_out: str) -> str:
    """The split of a file, from the hash of its path."""
    if name == held_out:
        return "package"
    if name == STANDARD_LIBRARY and place == PROSE:
        return "prose"
    drawn = int.from_bytes(hashlib.sha256(f"{name}/{place}".encode()).digest()[:8], "big")
    return "files" if drawn < HELD_OUT_SHARE * 2**64 else "train"
