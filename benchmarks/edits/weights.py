"""Agents' weights: the header, the card, the arrays or the file are edited.

The oracle reads the file by itself: agents are true where every array has its name, shape and type
and is finite, the card is typed, and the checksum, where there is one, is theirs.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.edits.fields import Edit, Json, Rng, doubled, edit_field, edit_file, judged, strict
from mapper.pretrained.network import fresh, shapes
from mapper.pretrained.weights import Agents, PretrainedError, load, save

CARD: Json = {
    "cost_model": "exact", "cost_model_calls": 9, "cpu_minutes": 0.5, "seed": 0, "parameters": 0,
    "schedule": {"blocks": 12, "entropy": 0.03},
    "trained_on": "random layers", "validation": {"median_1": 1.25, "p90_1": None},
}  # fmt: skip


def prepare(folder: Path) -> Edit:
    """Edits of untrained agents with a card; half of the files without a checksum."""
    weights, path = fresh(np.random.default_rng(0), 8), folder / "w.safetensors"
    save(path, Agents(weights, CARD | {"parameters": sum(a.size for a in weights.values())}))
    good = path.read_bytes()

    def edit(rng: Rng) -> tuple[str, bytes]:
        what = ["header", "card", "card", "arrays", "members", "file"][rng.integers(6)]
        if what == "file":
            return what, edit_file(rng, good)
        header, body = parts_of(good)
        signed = bool(rng.integers(2))
        if not signed:
            del header["__metadata__"]["sha256"]
        if what == "header":
            edit_field(rng, header, copy.deepcopy(header))
        elif what == "card":
            card = json.loads(header["__metadata__"]["card"])
            edit_field(rng, card, {})
            header["__metadata__"]["card"] = json.dumps(card)
        elif what == "arrays":
            changed = bytearray(body)
            changed[rng.integers(len(body))] ^= 1 << int(rng.integers(8))
            body = bytes(changed)
        text = json.dumps(header)
        if what == "members" and rng.integers(2):
            text = doubled(rng, text)
        elif what == "members":
            header["__metadata__"]["card"] = doubled(rng, header["__metadata__"]["card"])
            text = json.dumps(header)
        content = len(text.encode()).to_bytes(8, "little") + text.encode() + body
        return f"{what}{'' if signed else ' without checksum'}", content

    return edit


def parts_of(content: bytes) -> tuple[Json, bytes]:
    """Header and body of a safetensors file."""
    size = int.from_bytes(content[:8], "little")
    header: Json = strict(content[8 : 8 + size].decode())
    return header, content[8 + size :]


judge = partial(judged, load, PretrainedError)
"""What reading agents makes of a file."""


def truth(path: Path, _judged: str) -> bool:
    """Whether a file holds agents, and those that its checksum and its card name."""
    try:
        header, body = parts_of(path.read_bytes())
        metadata = header.pop("__metadata__")
        wanted = shapes(8)
        arrays = {}
        for name, told in header.items():
            start, end = told["data_offsets"]
            if told["dtype"] != "F32" or end - start != 4 * math.prod(told["shape"]):
                return False
            values = np.frombuffer(body[start:end], np.float32).reshape(told["shape"])
            arrays[name] = values
        if {n: a.shape for n, a in arrays.items()} != {n: tuple(s) for n, s in wanted.items()}:
            return False
        digest = hashlib.sha256(metadata["card"].encode())
        for name in sorted(arrays):
            digest.update(f"{name}:<f4:{arrays[name].shape}:".encode())
            digest.update(arrays[name].tobytes())
        whole = all(np.isfinite(array).all() for array in arrays.values())
        known = set(metadata) <= {"format", "card", "sha256"}
        true = metadata["sha256"] == digest.hexdigest()
        return whole and known and true and card_is_true(strict(metadata["card"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def card_is_true(card: Any) -> bool:
    """Whether the fields of a card are those of a training, each of its type."""

    def number(value: Any) -> bool:
        return type(value) in (int, float) and math.isfinite(value)

    def named(value: Any, *more: type) -> bool:
        return isinstance(value, dict) and all(number(v) or type(v) in more for v in value.values())

    checks: dict[str, Callable[[Any], bool]] = {
        **dict.fromkeys(("cost_model", "trained_on"), lambda v: type(v) is str),
        **dict.fromkeys(
            ("cost_model_calls", "parameters", "seed"), lambda v: type(v) is int and v >= 0
        ),
        "cpu_minutes": lambda v: number(v) and v >= 0,
        "schedule": named,
        "validation": lambda v: named(v, type(None)),
    }
    size = sum(math.prod(shape) for shape in shapes(8).values())
    right = isinstance(card, dict) and card.get("parameters", size) in (size, None)
    return right and all(n in checks and (v is None or checks[n](v)) for n, v in card.items())
