"""Solve one problem of the data set: proof, certificate, its check, and other tools' files."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from baselines import Proof, prove
from benchmarks.frame import Row
from benchmarks.optima.problems import DATA_VERSION, OptimaProblem, stated
from benchmarks.optima.tables import write_text
from cost_models import ChainMapping, Mapping
from layers import DIMS
from mapper.certificate import (
    check_certificate,
    make_certificate,
    read_certificate,
    write_certificate,
)
from mapper.export.export_files import files_for, write_files
from mapper.export.export_source import ExportSource
from mapper.export.loop_nest import ExportError
from mapper.search.problem_spec import ProblemSpec
from marl_runs import json_text

ROW, STATEMENT, CERTIFICATE = "row.json", "problem.json", "optimum.cert"
TOOLS = ("timeloop", "zigzag", "accelforge")
BOXES = 200_000
"""Boxes after which the proof of a deep chip ends; the instance is then open."""
SECONDS = 600.0
"""Wall time of any other proof [s]: it is there for a machine that hangs."""


def solved(problem: OptimaProblem, folder: Path) -> Row:
    """The row of a problem; one that the folder has already is taken from there.

    Raises:
        CertificateError: A certificate that was just written does not hold.
    """
    place = folder / "problems" / problem.id
    kept = place / ROW
    if kept.is_file():
        row: Row = json.loads(kept.read_text(encoding="utf-8"))
        if row["data_version"] == DATA_VERSION:
            return row
    place.mkdir(parents=True, exist_ok=True)
    row = _solve(problem, place)
    write_text(place / STATEMENT, stated(problem).model_dump_json(indent=1) + "\n")
    write_text(kept, json_text(row) + "\n")
    return row


def _solve(problem: OptimaProblem, place: Path) -> Row:
    """Prove, certify and export a problem."""
    spec = problem.spec.complete()
    built = spec.build()
    if problem.deep:
        proof = prove(built, boxes=BOXES)
    else:
        proof = prove(built, timeout=SECONDS, record=True)
    row: Row = {
        "id": problem.id,
        "network": problem.network,
        "layer": spec.layer_name,
        "chip": spec.accelerator_name,
        "objective": spec.objective,
        "halo_time": problem.halo_time,
        **problem.splits,
        "status": proof.status,
        "value": proof.value,
        "bound": min(proof.bound, proof.value),
        "gap": proof.gap,
        "unit": built.objective.unit,
        "size": str(built.space.size),
        "boxes": proof.counts.boxes,
        "cpu_s": round(proof.seconds, 3),
        "mapping": None if proof.mapping is None else json.dumps(proof.mapping.to_dict()),
        "certificate_sha256": None,
        "check_cpu_s": None,
    }
    if not problem.deep:
        row |= _certify(replace(problem, spec=spec), proof, place / CERTIFICATE)
    if proof.mapping is not None:
        row |= {f"{tool}_files": _export(tool, spec, proof.mapping, place) for tool in TOOLS}
    return row | {"data_version": DATA_VERSION}


def _certify(problem: OptimaProblem, proof: Proof, path: Path) -> Row:
    """Write the certificate, and check it as ``mapper validate --certificate`` does."""
    write_certificate(path, make_certificate(problem.spec, proof))
    began = time.process_time()
    check_certificate(read_certificate(path))
    return {
        "certificate_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "check_cpu_s": round(time.process_time() - began, 3),
    }


def _export(tool: str, spec: ProblemSpec, mapping: Any, place: Path) -> str:
    """Write a tool's files: with the optimum, or of tiles of 1 where the tool can't say it.

    Returns:
        ``"problem and optimum"``, ``"problem"``, or ``""`` where it has no words for the problem.
    """
    source = ExportSource(spec.layer, spec.accelerator, mapping)
    said = "problem and optimum"
    try:
        texts = files_for(tool, source)
    except ExportError:
        said = "problem"
        try:
            texts = files_for(tool, replace(source, mapping=_ones(spec, mapping)))
        except ExportError:
            return ""
        del texts["mapping.yaml"]
    write_files(place / tool, texts)
    return said


def _ones(spec: ProblemSpec, mapping: Mapping | ChainMapping) -> Mapping | ChainMapping:
    """The same orders with tiles of 1 and one unit, which every tool has words for."""
    ones = dict.fromkeys(DIMS, 1) | {"R": spec.layer.R, "S": spec.layer.S}
    if isinstance(mapping, Mapping):
        sizes = dict(zip(DIMS, spec.layer.extents, strict=True))
        least = min("KCYX", key=lambda dim: sizes[dim])  # one cluster has all of it
        outer = ones | {least: sizes[least]}
        tiles = tuple({d: own[d] for d in mapping.tiles[0]} for own in (outer, ones))
        parallel = (least, mapping.parallel[1])
        return replace(mapping, tiles=tiles, parallel=parallel, cluster_size=1)
    entries = tuple(
        replace(entry, tiles={d: ones[d] for d in entry.tiles}, parallel=())
        for entry in mapping.entries
    )
    return replace(mapping, entries=entries)
