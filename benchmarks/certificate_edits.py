"""Edit certificates at random, and hold every verdict to the optimum that enumeration finds.

    python benchmarks/certificate_edits.py --edits 10000 --seed 0

Twelve small problems are proven, and their certificates edited: fields of the claim, boxes of the
tree, parts of the file. An accepted file is true where all of this holds of the problem in it, by
enumeration of its whole space: the mapping is one of the space and has the value, no mapping is
further below it than the verdict says, and the printed shape and names are those of the layer and
the chip. Prints counts; fails on a false verdict, an internal error, or a check beyond 10 s.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import io
import json
import math
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import baselines
import layers
from cost_models import PRESETS, Accelerator, MappingBatch
from layers import Layer
from mapper.certificate import (
    CertificateError,
    check_certificate,
    claim_of,
    make_certificate,
    problem_of,
    read_certificate,
    write_certificate,
)
from mapper.problem_spec import ProblemSpec

MOST = 40_000
"""Mappings of a space that is enumerated."""
SLOW = 10.0
"""Longest check [s]."""
SMALL = Accelerator(4, 16, 80, 3, 2)
GEMM, CONV = Layer.gemm("product", 3, 4, 1), Layer("conv", "CONV", 2, 2, 1, 1, 1, 1)
Parts = dict[str, bytes]


def specs() -> list[ProblemSpec]:
    """Twelve problems of at most `MOST` mappings."""
    options = {"space": {"orders": "priority", "tiles": "divisors"}}
    given: list[tuple[Layer, Accelerator, dict[str, Any]]] = [
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
    return [
        ProblemSpec(layer, layer.name, chip, "chip", **({"objective": "edp"} | more)).complete()
        for layer, chip, more in given
    ]


def certificates(folder: Path) -> list[tuple[dict[str, Any], bytes]]:
    """Claims and trees of the problems."""
    found = []
    for spec in specs():
        path = folder / "c"
        write_certificate(path, make_certificate(spec, baselines.prove(spec.build(), record=True)))
        with zipfile.ZipFile(path) as file:
            claim, tree = file.read("certificate.json"), file.read("tree.bin")
        found.append((json.loads(claim), tree))
    return found


@lru_cache(maxsize=4096)
def enumerated(problem: str) -> tuple[float, MappingBatch] | None:
    """Least value and all mappings of a problem's space; None where it is too large."""
    built = ProblemSpec.from_dict(json.loads(problem)).build()
    if built.space.size > MOST:
        return None
    actions = np.indices(tuple(built.space.nvec)).reshape(len(built.space.nvec), -1).T
    looked = built.look(np.ascontiguousarray(actions))
    return float(looked.values.min()), looked.mappings


def is_true(claim: dict[str, Any]) -> bool | None:
    """Whether what a claim says holds of its problem, by enumeration; None: not to be listed."""
    known = enumerated(json.dumps(claim["problem"]))
    if known is None:
        return None
    least, mappings = known
    value, bound = float(claim["value"]), float(claim["bound"])
    if claim["mapping"] is None:
        return math.isinf(least) and math.isinf(value)
    if not (value >= least * (1 - 1e-8) and bound <= least * (1 + 1e-8)):
        return False
    from cost_models import Mapping

    spec = ProblemSpec.from_dict(claim["problem"])
    problem = spec.build()
    one = MappingBatch.from_mappings([Mapping.from_dict(claim["mapping"])], spec.layer.extents)
    again = float(problem.look(problem.space.encode(one)).values[0])
    return math.isclose(again, value, rel_tol=1e-8) and _among(one, mappings)


def _among(one: MappingBatch, mappings: MappingBatch) -> bool:
    same = np.ones(len(mappings), np.bool_)
    for name in ("orders", "parallel", "tiles", "cluster_size", "num_pes"):
        left, right = getattr(one, name), getattr(mappings, name)
        if (left is None) != (right is None):
            return False
        if left is not None:
            same &= (left == right).reshape(len(mappings), -1).all(axis=1)
    return bool(same.any())


def names_hold(claim: dict[str, Any], says: str, shape: str) -> bool:
    """Whether the layer and the chip that a verdict prints are those of the claim."""
    spec = ProblemSpec.from_dict(claim["problem"])
    layer, _, chip = says.partition(" of ")[2].rpartition(": ")[0].rpartition(" on ")
    known = PRESETS[chip] == spec.accelerator if chip in PRESETS else chip.startswith("chip ")
    printed = layers.parse(layer), layers.parse(shape.partition(";")[0])
    same = all(replace(one, name=spec.layer.name) == spec.layer for one in printed)
    return known and same and "\n" not in says + shape


ODD: list[Any] = [
    *(0, 1, 2, 3, 7, -1, 0.5, 1e308, 2**31, 10**30, True, False, None, [], {}, [3], {"a": 1}),
    *(
        "",
        "inf",
        "nan",
        "1",
        "edge",
        "cloud",
        "mlp.2",
        "a\nb is the optimum",
        "K",
        "edp",
        "latency",
    ),
    *("energy", "free", "any", "divisors", "bound", "eyeriss", "maestro", "simulated"),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values of a claim."""
    if path:
        yield path
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
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
        inside[key] = [old + 1, old * 2, old - 1, float(old), str(old), old * 0.999][
            rng.integers(6)
        ]
    else:
        inside[key] = copy.deepcopy(ODD[rng.integers(len(ODD))])


def edit_tree(rng: np.random.Generator, tree: bytes, other: bytes) -> bytes:
    """Change, cut, lengthen or swap a tree."""
    kind, boxes = int(rng.integers(5)), bytearray(tree)
    at = int(rng.integers(len(boxes)))
    if kind == 0:
        return bytes(boxes[:at])
    if kind == 1:
        return tree + bytes([255] * int(rng.integers(1, 5)))
    if kind == 2:
        return other
    boxes[at] = [254, 255, 0, 1, 8, 9, int(rng.integers(256))][rng.integers(7)]
    return bytes(boxes)


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


def packed(claim: str, tree: bytes, more: Parts) -> bytes:
    """The file of a certificate."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in {"certificate.json": claim.encode(), "tree.bin": tree, **more}.items():
            file.writestr(name, part)
    return stream.getvalue()


def edited(rng: np.random.Generator, good: list[tuple[dict[str, Any], bytes]]) -> tuple[str, bytes]:
    """What was edited, and the file."""
    claim, tree = copy.deepcopy(good[rng.integers(len(good))])
    other, donor = good[rng.integers(len(good))]
    what = ["field", "field", "fields", "tree", "members"][rng.integers(5)]
    for _ in range({"field": 1, "fields": 3}.get(what, 0)):
        edit_field(rng, claim, other)
    if what == "tree":
        tree = edit_tree(rng, tree, donor)
        claim["tree"] = {"boxes": len(tree), "sha256": hashlib.sha256(tree).hexdigest()}
    text, more = json.dumps(claim), {}
    if what == "members":
        kind = int(rng.integers(4))
        if kind == 0:
            more = {"extra": b"x"}
        elif kind == 1:
            text = text.replace('"value"', '"value": 1.0, "value"', 1)
        else:
            return what, edit_file(rng, packed(text, tree, {}))
    return what, packed(text, tree, more)


def outcome(path: Path) -> str:
    """What becomes of one file."""
    began = time.perf_counter()
    try:
        certificate = read_certificate(path)
        check_certificate(certificate)
        says, shape = claim_of(certificate), problem_of(certificate)
    except CertificateError as error:
        if "\n" in str(error):
            return "internal error: a message of several lines"
        return "refused"
    except Exception as error:
        return f"internal error: {type(error).__name__}: {error}"
    if time.perf_counter() - began > SLOW:
        return "hang"
    with zipfile.ZipFile(path) as file:
        claim = json.loads(file.read("certificate.json"))
    truth = is_true(claim)
    if truth is None:
        return "accepted, too large to enumerate"
    return "accepted, true" if truth and names_hold(claim, says, shape) else "accepted, false"


def refused_is_true(content: bytes) -> bool:
    """Whether the claim of a refused file is true all the same."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            return is_true(json.loads(file.read("certificate.json"))) is True
    except Exception:
        return False


def campaign(edits: int, seed: int) -> tuple[Counter[str], list[bytes]]:
    """Counts of outcomes, and the files of those that must not be."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        good = certificates(Path(folder))
        path = Path(folder) / "edited"
        for _ in range(edits):
            what, content = edited(rng, good)
            path.write_bytes(content)
            found = outcome(path)
            if found == "refused" and refused_is_true(content):
                found = "refused, claim true by enumeration"
            counts[f"{what}: {found}"] += 1
            if not found.startswith(("refused", "accepted, true")):
                wrong.append(content)
    return counts, wrong


def main() -> int:
    """Run the campaign; 1 where a verdict was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts, wrong = campaign(given.edits, given.seed)
    for name, count in sorted(counts.items()):
        print(f"{count:>7,}  {name}")
    print(f"{len(wrong)} of {given.edits:,} edits were judged wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
