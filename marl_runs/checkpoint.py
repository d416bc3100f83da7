"""Checkpoints: tensors, arrays and plain values in one file, read without unpickling objects."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from marl_common import atomic_write
from marl_runs.provenance import made_with

State = dict[str, Any]
"""Names to tensors, arrays, numbers, text, None, and lists and dicts of these."""
ARRAY = "__array__"
"""Marks an array, which a file holds as a tensor."""


class CheckpointError(ValueError):
    """A file that is no checkpoint, or one that this program cannot continue from."""


@dataclass(frozen=True)
class CheckpointFormat:
    """What one kind of checkpoint holds, and how older versions of it are read.

    Args:
        kind: Kind of what is saved, such as ``"particle worlds"``.
        version: Raised by every change of what is saved.
        upgrades: Older versions, each with what makes a state of the next one from its state. A
            file that names no version has version 0.
    """

    kind: str
    version: int
    upgrades: Mapping[int, Callable[[State], State]] = field(default_factory=dict)

    def save(self, path: str | Path, state: Mapping[str, Any]) -> None:
        """Write a checkpoint, whole or not at all.

        Raises:
            OSError: The file cannot be written.
            TypeError: The state holds something else than `State` may.
        """
        import torch

        packed = _packed(state, "state")
        content = {
            "kind": self.kind,
            "version": self.version,
            "written_by": _writer(),
            "state": packed,
            "checksum": checksum(packed),
        }
        with atomic_write(path) as draft, draft.open("wb") as file:
            torch.save(content, file)

    def load(self, path: str | Path, device: str = "cpu") -> State:
        """Read a checkpoint of this version or one that can be upgraded to it.

        Args:
            path: The file.
            device: Where its tensors go; arrays stay arrays.

        Raises:
            CheckpointError: It cannot be read, holds more than a checkpoint may, or is one of
                another kind or version.
        """
        content = _read(Path(path), device)
        kind, version = content.get("kind", self.kind), content.get("version", 0)
        if kind != self.kind:
            raise CheckpointError(f"{path}: is a checkpoint of {kind}, expected one of {self.kind}")
        state = content["state"] if "written_by" in content else content
        if "checksum" in content and content["checksum"] != checksum(state):
            raise CheckpointError(
                f"{path}: is damaged: its values are not those that were written; remove it to "
                "start anew"
            )
        if version != self.version and version not in self.upgrades:
            raise CheckpointError(
                f"{path}: is a checkpoint of {kind}, version {version}, written by "
                f"{_written_by(content)}; "
                f"expected version {self.version}. Remove it to start anew, or go on with the "
                "program that wrote it"
            )
        with _blaming(path):
            state = _unpacked(state)
            while version != self.version:
                state = self.upgrades[version](state)
                version += 1
        return state

    def restore(self, path: str | Path, take: Callable[[State], object]) -> None:
        """Read a checkpoint and hand its state to `take`, usually a ``load_state_dict``.

        Raises:
            CheckpointError: As :meth:`load`, or `take` finds something missing or out of shape.
            ValueError: Whatever else `take` says about the state.
        """
        state = self.load(path)
        with _blaming(path):
            take(state)


def checksum(state: Any) -> str:
    """A digest of all tensors and values of a state, as hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=16)
    _feed(digest.update, state)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], object], value: Any) -> None:
    import torch

    if isinstance(value, torch.Tensor):
        flat = value.detach().cpu().contiguous().reshape(-1)
        update(f"{value.dtype}{tuple(value.shape)}".encode())
        update(flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b"")
    elif isinstance(value, Mapping):
        for name, part in value.items():
            update(repr(name).encode())
            _feed(update, part)
    elif isinstance(value, list | tuple):
        update(f"{len(value)}".encode())
        for part in value:
            _feed(update, part)
    else:
        update(repr(value).encode())


def writer_of(path: str | Path) -> str:
    """Which version of this program wrote a checkpoint.

    Raises:
        CheckpointError: It cannot be read.
    """
    return _written_by(_read(Path(path), "cpu"))


def _written_by(content: State) -> str:
    return str(content.get("written_by", "an earlier version of marl-mapper, which named none"))


@contextmanager
def _blaming(path: str | Path) -> Iterator[None]:
    """Whatever a state lacks inside the block is the fault of its file."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, RuntimeError) as error:
        what = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise CheckpointError(
            f"{path}: is damaged, or belongs to something else ({what}); remove it to start anew"
        ) from error


def _read(path: Path, device: str) -> State:
    import torch

    try:
        content = torch.load(path, map_location=device, weights_only=True)
    except FileNotFoundError:
        raise CheckpointError(f"{path}: there is no such file; expected a checkpoint") from None
    except Exception as error:  # torch raises whatever the bytes lead it to
        raise CheckpointError(
            f"{path}: is no checkpoint: it is damaged, or holds more than tensors and plain values"
        ) from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: is no checkpoint: it holds a {type(content).__name__}")
    return content


def _writer() -> str:
    made = made_with()
    version = made.versions.get("marl-mapper", "an unknown version")
    return f"marl-mapper {version}" + (f", {made.git_revision}" if made.git_revision else "")


def _packed(value: Any, where: str) -> Any:
    """`value` as the file holds it; a view is cut out of what it is a view of."""
    import torch

    if isinstance(value, Mapping):
        return {key: _packed(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_packed(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, np.ndarray):
        return {ARRAY: torch.from_numpy(np.array(value))}
    if isinstance(value, torch.Tensor):
        whole = value.untyped_storage().nbytes() == value.nbytes
        return value.detach() if whole else value.detach().clone()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"checkpoint: {where} is a {type(value).__name__}, which no checkpoint holds")


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {ARRAY}:
            return value[ARRAY].cpu().numpy()
        return {key: _unpacked(item) for key, item in value.items()}
    return [_unpacked(item) for item in value] if isinstance(value, list) else value
