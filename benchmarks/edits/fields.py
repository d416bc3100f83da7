"""Random edits of values, texts and files."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

Rng = np.random.Generator
ODD: list[Any] = [
    *(0, 1, 2, 3, 7, -1, 0.5, 1e308, 2**31, 10**30, True, False, None, [], {}, [3], {"a": 1}),
    *("", "inf", "nan", "1", "edge", "cloud", "mlp.2", "a\nb is the optimum"),
    *("K", "edp", "latency", "energy", "free", "any", "divisors", "bound", "eyeriss", "maestro"),
    "simulated",
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values of a claim."""
    if path:
        yield path
    if isinstance(value, list | dict):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def edit_field(rng: np.random.Generator, claim: dict[str, Any], other: dict[str, Any]) -> None:
    """Change, remove or add one value of a claim; or take it from another claim."""
    paths = list(places(claim))
    path = paths[rng.integers(len(paths))]
    inside, donor = claim, other
    for key in path[:-1]:
        inside = inside[key]
        try:
            donor = donor[key]
        except (KeyError, IndexError, TypeError):
            donor = {}
    key, old = path[-1], inside[path[-1]]
    kind = int(rng.integers(7))
    if kind == 0:
        del inside[key]
    elif kind == 1 and isinstance(inside, dict):
        inside[["extra", "threads", "num_pes", "N", "name", "max_l1_bytes"][rng.integers(6)]] = 2
    elif kind == 2 and isinstance(donor, dict) and key in donor:
        inside[key] = copy.deepcopy(donor[key])
    elif kind in (3, 4) and isinstance(old, int | float) and not isinstance(old, bool):
        near = [old + 1, old * 2, old - 1, float(old), str(old), old * 0.999]
        inside[key] = near[rng.integers(6)]
    else:
        inside[key] = copy.deepcopy(ODD[rng.integers(len(ODD))])


def edit_file(rng: np.random.Generator, content: bytes) -> bytes:
    """Flip bits, cut, or lengthen a file."""
    kind, at = int(rng.integers(4)), int(rng.integers(len(content)))
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content + b"x" * int(rng.integers(1, 40))
    changed = bytearray(content)
    changed[at] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def strict(text: str) -> Any:
    """A JSON value; a member named twice is an error."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a member twice")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=members)


def doubled(rng: Rng, text: str) -> str:
    """The text of an object with a member of it given twice."""
    name = str(rng.choice(list(json.loads(text))))
    value = json.dumps(ODD[rng.integers(len(ODD))])
    return f"{{{json.dumps(name)}: {value}, {text[1:]}"
