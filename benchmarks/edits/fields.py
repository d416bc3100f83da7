"""Random edits of values, texts and files."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cost_models import Accelerator, Axis, Chain, ChainLevel, Fanout, MappingBatch, Widths
from layers import Layer
from mapper import ProblemSpec

Rng = np.random.Generator
Json = dict[str, Any]
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


def edit_field(rng: np.random.Generator, claim: Json, other: Json) -> None:
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

    def members(pairs: list[tuple[str, Any]]) -> Json:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a member twice")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=members)


def doubled(rng: Rng, text: str) -> str:
    """The text of an object with a member of it given twice."""
    name = str(rng.choice(list(json.loads(text))))
    value = json.dumps(ODD[rng.integers(len(ODD))])
    return f"{{{json.dumps(name)}: {value}, {text[1:]}"


Edit = Callable[[Rng], tuple[str, bytes]]
"""What was edited, and the edited file."""


def judged(read: Callable[[Path], object], refusal: type[Exception], path: Path) -> str:
    """What reading a file comes to: "accepted", "refused", or what went wrong."""
    try:
        read(path)
    except refusal as error:
        return "refused" if "\n" not in str(error) else "internal error: several lines"
    except Exception as error:
        return f"internal error: {type(error).__name__}: {error}"
    return "accepted"


@dataclass(frozen=True)
class Kind:
    """One kind of file.

    Args:
        file: Its name.
        prepare: Writes sound files into a folder; returns what edits them.
        judge: What the project makes of a file: "accepted", "refused", or what went wrong.
        truth: Whether a file, judged so, is true; None where nobody can tell.
    """

    file: str
    prepare: Callable[[Path], Edit]
    judge: Callable[[Path], str]
    truth: Callable[[Path, str], bool | None]


MOST = 40_000
"""Mappings of a space that is enumerated."""
SMALL = Accelerator(4, 16, 80, 3, 2)
DEEP = Chain(
    (
        ChainLevel(name="DRAM", read_bw=64, write_bw=64, kind="LPDDR4"),
        ChainLevel(name="Global", shared_bytes=64, read_bw=32, fanout=Fanout((Axis(2, "KC"),))),
        ChainLevel(name="Local", holds=(False, True, True), shared_bytes=24, write_bw=16),
    ),
    widths=Widths(8, 8, 16, 24), node_nm=28, clock_mhz=500,
)  # fmt: skip
FLAT = replace(DEEP, levels=(*DEEP.levels[:2], ChainLevel(
    name="Lanes", holds=(False,) * 3, fanout=Fanout((Axis(2, "C"),)))
))  # fmt: skip
THREE = replace(DEEP, levels=(
    *DEEP.levels[:2],
    ChainLevel(name="Weights", holds=(False, True, False), shared_bytes=16),
    replace(DEEP.levels[2], holds=(True, True, True), shared_bytes=8),
))  # fmt: skip
GEMM, CONV = Layer.gemm("product", 3, 4, 1), Layer("conv", "CONV", 2, 2, 1, 1, 1, 1)


def specs() -> list[ProblemSpec]:
    """Twelve problems of at most `MOST` mappings."""
    options = {"space": {"orders": "priority", "tiles": "divisors"}}
    given: list[tuple[Layer, Accelerator, Json]] = [
        (GEMM, SMALL, {}),
        (GEMM, SMALL, {"objective": "latency"}),
        (GEMM, SMALL, {"objective": "energy"}),
        (GEMM, SMALL, {"limits": {"max_latency_cycles": 20.0}}),
        (GEMM, SMALL, {"limits": {"max_latency_cycles": 2.0}}),
        (GEMM, replace(SMALL, l1_bytes=2), {}),
        (CONV, SMALL, {}),
        (CONV, SMALL, {"space": {"co_search": ["num_pes"]}}),
        (CONV, SMALL, {"cost_model_options": {"latency": "bound", "double_buffer": False}}),
        (CONV, SMALL, {"space": {"filters": "free", "tiles": "any"}}),
        (CONV, SMALL, {"space": {"only": {"outer_parallel": ["K"], "cluster_size": [2]}}}),
        (GEMM, SMALL, options | {"limits": {"max_energy_nj": 5.0}}),
    ]
    return [_spec(*one) for one in given]


def deep_specs() -> list[ProblemSpec]:
    """Ten problems of at most `MOST` mappings on chips that are a list of levels."""
    given: list[tuple[Layer, Chain, Json]] = [
        (GEMM, DEEP, {}),
        (GEMM, DEEP, {"objective": "latency", "limits": {"max_bytes.Local": 8.0}}),
        (GEMM, DEEP, {"limits": {"max_latency_cycles": 2.0}}),
        (CONV, FLAT, {"objective": "energy"}),
        (GEMM, FLAT, {"cost_model_options": {"latency": "bound", "double_buffer": False}}),
        (Layer.gemm("product", 6, 8, 1), DEEP, {}),
        (Layer("window", "CONV", 1, 2, 6, 3, 3, 2, 1), DEEP, {"objective": "energy"}),
        (Layer.gemm("product", 2, 3, 1), THREE, {}),
        (Layer.gemm("product", 2, 3, 1), THREE, {"objective": "energy"}),
        (GEMM, FLAT, {"space": {"tiles": "divisors", "only": {"Global.axis0.dim": ["K"]}}}),
    ]
    return [_spec(*one) for one in given]


def _spec(layer: Layer, chip: Accelerator | Chain, more: Json) -> ProblemSpec:
    return ProblemSpec(layer, layer.name, chip, "chip", **({"objective": "edp"} | more)).complete()


@lru_cache(maxsize=4096)
def enumerated(problem: str) -> tuple[float, MappingBatch] | None:
    """Least value and all mappings of a problem's space; None where it is too large."""
    built = ProblemSpec.from_dict(json.loads(problem)).build()
    if built.space.size > MOST:
        return None
    actions = np.indices(tuple(built.space.nvec)).reshape(len(built.space.nvec), -1).T
    looked = built.look(np.ascontiguousarray(actions))
    return float(looked.values.min()), looked.mappings


def space_holds(one: MappingBatch, mappings: MappingBatch) -> bool:
    """Whether a mapping is one of the mappings of a space."""
    same = np.ones(len(mappings), np.bool_)
    for name in ("orders", "parallel", "tiles", "cluster_size", "num_pes"):
        left, right = getattr(one, name), getattr(mappings, name)
        if (left is None) != (right is None):
            return False
        if left is not None:
            same &= (left == right).reshape(len(mappings), -1).all(axis=1)
    return bool(same.any())
