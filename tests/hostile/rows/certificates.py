"""Certificates: damaged files, and claims that are not what one schema allows."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.hostile.rows import Row

WORDS = "mapper validate --certificate c.cert"
GOOD = Path(__file__).parents[2] / "fixtures" / "v0_2" / "certificates" / "00.zip"
with zipfile.ZipFile(GOOD) as _file:
    CLAIM, TREE = _file.read("certificate.json"), _file.read("tree.bin")


LEVELS = Path(__file__).parent / "levels.cert"
"""A certificate on a list of levels, version 2."""
with zipfile.ZipFile(LEVELS) as _file:
    DEEP_CLAIM, DEEP_TREE = _file.read("certificate.json"), _file.read("tree.bin")
DEEP = json.loads(DEEP_CLAIM)["problem"]


def zipped(parts: dict[str, bytes | str]) -> bytes:
    """A file of these parts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, part in parts.items():
            file.writestr(zipfile.ZipInfo(name), part)
    return stream.getvalue()


def packed(claim: bytes | str, tree: bytes = TREE, **more: bytes) -> bytes:
    """A certificate's file."""
    return zipped({"certificate.json": claim, "tree.bin": tree, **more})


Change = Callable[[dict[str, Any]], None]


def at(path: str, *value: Any) -> Change:
    """Sets one member of a claim; without a value it removes the member."""

    def change(claim: dict[str, Any]) -> None:
        inside: Any = claim
        *outer, last = (int(key) if key.isdecimal() else key for key in path.split("."))
        for key in outer:
            inside = inside[key]
        if value:
            inside[last] = value[0]
        else:
            del inside[last]

    return change


def claim_with(change: Change, text: bytes = CLAIM, tree: bytes = TREE) -> bytes:
    """The file of a changed claim."""
    claim = json.loads(text)
    change(claim)
    return packed(json.dumps(claim), tree)


def flipped(content: bytes, place: int) -> bytes:
    """The bytes with one bit changed."""
    changed = bytearray(content)
    changed[place] ^= 4
    return bytes(changed)


WHOLE = GOOD.read_bytes()
TEXT = CLAIM.decode()

CLAIMS: list[tuple[Change, str]] = [
    *((at("version", v), "version is") for v in (True, 3)),
    *((at("size", v), "size: got") for v in (7, "-1", "1.5", "٣")),
    *((at("value", v), "value: got") for v in (-1, "nan", True, None)),
    *((at("bound", v), "bound: got") for v in (-1, "0", {}, "Infinity")),
    *((at("tree.boxes", v), "tree.boxes") for v in (1, 909.0, True, 0)),
    *((at("tree.sha256", v), "sha256") for v in ("0", 5, "0" * 64)),
    (at("format", "x"), "expected the format"),
    (at("more", 1), "unknown field 'more'"),
    (at("problem.space.more", 1), "unknown field 'more'"),
    (at("mapping.more", 1), "unknown field 'more'"),
    (at("problem.space.only", 5), "problem.space.only: got 5"),
    (at("problem.limits", {"max_latency_cycles": "9"}), "max_latency_cycles: got '9'"),
    (at("problem.cost_model_options", []), r"cost_model_options: got \[\]"),
    (at("problem.cost_model_options.threads", 2), "threads"),
    (at("problem.layer.K", 3.0), "K: got 3.0"),
    (at("problem.accelerator.name", {}), "problem.accelerator.name: got"),
    (at("problem.layer", 3), "problem.layer: got 3"),
    (at("problem", {}), "missing problem.layer"),
    (at("problem.accelerator.num_pes", 4.0), "num_pes: got 4.0"),
    (at("mapping.cluster_size", True), "mapping.cluster_size: got True"),
    (at("mapping.tiles.0.K", "1"), "mapping.tiles.0.K: got '1'"),
    (at("mapping.orders", 3), "mapping.orders"),
    (at("mapping", "none"), "mapping: got 'none'"),
    (at("bound"), "bound missing"),
    (at("version", 2), "problem.space: unknown field 'parallel'"),
    (at("problem.accelerator", DEEP["accelerator"]), "expected 2: the"),
    (at("mapping.tiles"), "mapping.tiles missing"),
]

DEEP_CLAIMS: list[tuple[Change, str]] = [
    (at("problem.accelerator", json.loads(CLAIM)["problem"]["accelerator"]), "expected 1: the"),
    (at("mapping", json.loads(CLAIM)["mapping"]), "unknown field 'orders'"),
    (at("mapping.levels.0.level", 3), "mapping.levels.0.level: got 3"),
    (at("mapping.levels.0.parallel", [{"dim": "Q"}]), "dim: got 'Q'"),
    (at("mapping.levels.0.tiles", {"K": 0}), "tiles.K: got 0"),
    (at("mapping.levels.0.keeps", ["weights"]), "keeps"),
    (at("problem.accelerator.levels.1.name", "DRAM"), "DRAM"),
    (at("problem.accelerator.levels.0.name", "a\nb"), r"levels.a\\nb: kind: got 'LPDDR4'"),
]

TEXTS: list[tuple[str, str]] = [
    ("[" * 100_000, "nested too deeply"),
    (TEXT.replace('"limits": {}', '"limits": ' + "[" * 60 + "]" * 60, 1), "nested too deeply"),
    (TEXT.replace('"version": 1', '"version": 1, "version": 1', 1), "'version' is given twice"),
    (TEXT.replace('"limits": {}', '"limits": {"max_latency_cycles": NaN}', 1), "holds NaN"),
    ("[]", "expected the format"),
    ("", "not valid JSON"),
]

FILES: list[tuple[bytes, str]] = [
    (b"", "damaged or no certificate"),
    (flipped(WHOLE, 60), "damaged or no certificate"),
    (packed(CLAIM).replace(b"certificate.json", b"certificate.jsom"), "has no certificate"),
    (packed(CLAIM, TREE, extra=b"x"), "has a part 'extra'"),
]

NETWORK = {
    "format": "marl-mapper network certificate",
    "version": 1,
    "network": "mine",
    "counts": [2],
    "value": 1.0,
    "bound": 1.0,
}


def network_file(part: bytes = WHOLE, more: dict[str, bytes] | None = None, **claim: Any) -> bytes:
    """A network's certificate of one shape."""
    text = json.dumps(NETWORK | claim)
    return zipped({"network.json": text, "shape-1.cert": part, **(more or {})})


NETWORKS: list[tuple[bytes, str]] = [
    (network_file(counts=[]), "counts"),
    (network_file(format="other"), "expected the format"),
    (network_file(version=2), "version is 2, expected 1"),
    (network_file(unknown=1), "unknown field 'unknown'"),
    (network_file(value="inf"), "value"),
    (network_file(counts=[0]), "counts.0: got 0"),
    (network_file(more={"extra": b"x"}), "and nothing else"),
    (network_file(part=b"PK"), "shape-1.cert: damaged or no certificate"),
    (network_file(part=packed(CLAIM, TREE[:-1])), "shape-1.cert: .*sha256"),
    (flipped(network_file(), 60), "damaged"),
]

KEPT = {
    "format": "marl-mapper certificate of tensors that stay",
    "version": 1,
    "network": "mine",
    "objective": "energy",
    "passes": "free",
    "stays": [],
    "mappings": [json.loads(CLAIM)["mapping"]],
    "prices": [],
    "value": 1.0,
    "bound": 1.0,
    "shapes": 1,
}
GRAPH = b"layers:\n  - {name: a, kind: gemm, M: 4, N: 4, K: 4, inputs: ['']}\n"


def kept_file(graph: bytes = GRAPH, more: dict[str, bytes] | None = None, **claim: Any) -> bytes:
    """A certificate of tensors that stay, of one part."""
    text = json.dumps(KEPT | claim)
    parts = {"kept.json": text, "network.yaml": graph, "shape-1.cert": WHOLE}
    return zipped({**parts, **(more or {})})


KEPTS: list[tuple[bytes, str]] = [
    (kept_file(format="other"), "expected the format"),
    (kept_file(objective="area"), "objective"),
    (kept_file(stays="a"), "stays"),
    (kept_file(prices=[-1.0]), "prices"),
    (kept_file(more={"extra": b"x"}), "and nothing else"),
    (kept_file(graph=b"\xff"), "network.yaml"),
    (kept_file(graph=GRAPH.replace(b"''", b"b")), "network.yaml: .*'b', which is never written"),
    (kept_file(graph=GRAPH.replace(b"''", b"a")), "network.yaml: .*expected no cycle"),
]

ROWS = [
    *(Row(WORDS, says, files={"c.cert": content}) for content, says in (*NETWORKS, *KEPTS)),
    *(Row(WORDS, says, files={"c.cert": claim_with(change)}) for change, says in CLAIMS),
    *(
        Row(WORDS, says, files={"c.cert": claim_with(change, DEEP_CLAIM, DEEP_TREE)})
        for change, says in DEEP_CLAIMS
    ),
    *(Row(WORDS, says, files={"c.cert": packed(text)}) for text, says in TEXTS),
    *(Row(WORDS, says, files={"c.cert": content}) for content, says in FILES),
    Row("mapper validate --certificate /dev/zero", "expected a certificate"),
]
