"""Certificates: fields of the claim, boxes of the tree, or parts of the file are edited.

An accepted certificate is true where all of this holds of the problem in it, by enumeration of its
whole space: the mapping is one of the space and has the value, no mapping is further below it than
the verdict says, and the printed shape and names are those of the layer and the chip.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import math
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import baselines
import layers
from benchmarks.edits.fields import (
    Edit,
    Json,
    Rng,
    deep_specs,
    edit_field,
    edit_file,
    enumerated,
    judged,
    space_holds,
    specs,
)
from cost_models import CHAINS, PRESETS, Chain, ChainBatch, ChainMapping, Mapping, MappingBatch
from mapper import ProblemSpec
from mapper.certificate.certificate_file import (
    CertificateError,
    read_certificate,
    write_certificate,
)
from mapper.certificate.checker import check_certificate
from mapper.certificate.making import make_certificate
from mapper.certificate.verdict import claim_of, problem_of

Parts = dict[str, bytes]


def certificates(folder: Path, given: Iterable[ProblemSpec]) -> Iterator[tuple[Json, bytes]]:
    """Claims and trees of some problems."""
    for spec in given:
        path = folder / "c"
        write_certificate(path, make_certificate(spec, baselines.prove(spec.build(), record=True)))
        with zipfile.ZipFile(path) as file:
            claim, tree = file.read("certificate.json"), file.read("tree.bin")
        yield json.loads(claim), tree


def is_true(claim: Json) -> bool | None:
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
    spec = ProblemSpec.from_dict(claim["problem"])
    problem = spec.build()
    if isinstance(spec.accelerator, Chain):
        claimed = ChainMapping.from_dict(claim["mapping"])
        deep = ChainBatch.from_mappings([claimed], spec.accelerator)
        found = problem.look(problem.space.encode(deep))
        same = found.mappings[0] == claimed
        return bool(same) and math.isclose(float(found.values[0]), value, rel_tol=1e-8)
    one = MappingBatch.from_mappings([Mapping.from_dict(claim["mapping"])], spec.layer.extents)
    again = float(problem.look(problem.space.encode(one)).values[0])
    return math.isclose(again, value, rel_tol=1e-8) and space_holds(one, mappings)


def names_hold(claim: Json, says: str, shape: str) -> bool:
    """Whether the layer and the chip that a verdict prints are those of the claim."""
    spec = ProblemSpec.from_dict(claim["problem"])
    layer, _, chip = says.partition(" of ")[2].rpartition(": ")[0].rpartition(" on ")
    chips = {**PRESETS, **CHAINS}
    known = chips[chip] == spec.accelerator if chip in chips else chip.startswith("chip ")
    printed = layers.parse(layer), layers.parse(shape.partition(";")[0])
    same = all(replace(one, name=spec.layer.name) == spec.layer for one in printed)
    return known and same and "\n" not in says + shape


def edit_tree(rng: Rng, tree: bytes, other: bytes) -> bytes:
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


def packed(claim: str, tree: bytes, more: Parts) -> bytes:
    """The file of a certificate."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in {"certificate.json": claim.encode(), "tree.bin": tree, **more}.items():
            file.writestr(name, part)
    return stream.getvalue()


def edited(rng: Rng, good: list[tuple[Json, bytes]]) -> tuple[str, bytes]:
    """What was edited, and the file."""
    claim, tree = copy.deepcopy(good[rng.integers(len(good))])
    other, donor = good[rng.integers(len(good))]
    what = ["field", "field", "fields", "tree", "members"][rng.integers(5)]
    for _ in range({"field": 1, "fields": 3}.get(what, 0)):
        edit_field(rng, claim, other)
    if what == "tree":
        tree = edit_tree(rng, tree, donor)
        boxes = len(tree) // (4 if claim["version"] == 2 else 1)
        claim["tree"] = {"boxes": boxes, "sha256": hashlib.sha256(tree).hexdigest()}
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


def prepare(folder: Path) -> Edit:
    """Edits of the certificates of all problems."""
    return prepare_deep(folder, specs())


def prepare_deep(folder: Path, more: Iterable[ProblemSpec] = ()) -> Edit:
    """Edits of the certificates of problems on chips that are a list of levels, and of more."""
    return partial(edited, good=list(certificates(folder, (*more, *deep_specs()))))


def check(path: Path) -> None:
    """Check a certificate, and print what it says."""
    certificate = read_certificate(path)
    check_certificate(certificate)
    claim_of(certificate), problem_of(certificate)


judge = partial(judged, check, CertificateError)
"""What checking a certificate makes of a file."""


def truth(path: Path, judged: str) -> bool | None:
    """Whether the claim is true, and of an accepted one what is printed; None: not enumerated."""
    try:
        with zipfile.ZipFile(path) as file:
            claim = json.loads(file.read("certificate.json"))
        true = is_true(claim)
        if judged != "accepted" or not true:
            return true
        certificate = read_certificate(path)
        return names_hold(claim, claim_of(certificate), problem_of(certificate))
    except Exception:  # whatever an edit left of the file
        return False
