"""What a run is made with: command, versions, git revision."""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("marl-mapper", "numpy", "scipy", "numba", "gymnasium", "torch", "ray")
"""Packages whose versions may change a result."""


@dataclass(frozen=True)
class Provenance:
    """How to make a run again.

    Args:
        command: The command line, quoted for a shell.
        versions: Version of Python and of each installed package of `PACKAGES`.
        git_revision: Revision of the source tree, with ``+`` where it had changes; None where the
            package does not lie in a git checkout.
    """

    command: str
    versions: dict[str, str]
    git_revision: str | None


@lru_cache(maxsize=1)
def made_with() -> Provenance:
    """The provenance of whatever this process makes."""
    name = Path(sys.argv[0]).name if sys.argv else "python"
    if name == "__main__.py":  # python -m mapper
        name = Path(sys.argv[0]).parent.name
    return Provenance(
        command=shlex.join([name, *sys.argv[1:]]),
        versions=_versions(),
        git_revision=_git_revision(),
    )


def go_on_with() -> str:
    """How to go on after a stop: the same command does what is left."""
    return f"stopped; to go on: {made_with().command}"


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _git_revision() -> str | None:
    root = Path(__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return None
    revision = _git(root, "rev-parse", "--short=12", "HEAD")
    if revision is None:
        return None
    return revision + ("+" if _git(root, "status", "--porcelain", "-uno") else "")


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
