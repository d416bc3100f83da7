"""Solve a problem of the data set (proof, certificate, files of tools); tables, schema and card."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from baselines import Proof, prove
from benchmarks.frame import Row, grouped, markdown, write
from benchmarks.optima.problems import DATA_VERSION, OptimaProblem, StatedProblem, stated
from cost_models import ChainMapping, Mapping
from layers import DIMS
from mapper.certificate.certificate_file import read_certificate, write_certificate
from mapper.certificate.checker import check_certificate
from mapper.certificate.making import make_certificate
from mapper.export.export_files import files_for, write_files
from mapper.export.export_source import ExportSource
from mapper.export.loop_nest import ExportError
from mapper.search.problem_spec import ProblemSpec
from marl_common import atomic_write, write_text
from marl_runs import json_text

CROISSANT: dict[str, Any] = json.loads(Path(__file__).with_name("croissant.json").read_text())
"""The data card with all columns; the table's digest and the version are filled in."""
_COLUMNS = CROISSANT["recordSet"][0]["field"]
FIELDS = {one["name"]: (one["dataType"], one["description"]) for one in _COLUMNS}
"""Columns of the table: type and meaning."""
VALUES = tuple(FIELDS)[:16]
"""Columns that are kept in the repository; the others are built."""


def croissant(table: Path, names: Sequence[str]) -> dict[str, Any]:
    """The data card in Croissant's terms, of a table with some of the columns."""
    found = deepcopy(CROISSANT) | {"version": DATA_VERSION}
    found["distribution"][0]["sha256"] = hashlib.sha256(table.read_bytes()).hexdigest()
    found["recordSet"][0]["field"] = [one for one in _COLUMNS if one["name"] in names]
    return found


CARD = Path(__file__).with_name("card.md")


def card(rows: Sequence[Row], empty: int) -> str:
    """The data card for people."""
    proven = [row for row in rows if row["status"] == "optimal"]
    solved = Counter(row["chip"] for row in proven)
    chips = [
        {"chip": chip, "problems": len(own), "proven": solved[chip], "split": own[0]["split_chip"]}
        for chip, own in grouped(rows, "chip").items()
    ]
    return CARD.read_text(encoding="utf-8").format(
        version=DATA_VERSION,
        count=len(rows),
        proven=len(proven),
        open=len(rows) - len(proven),
        by_chip=markdown(chips),
        empty=empty,
    )


ALL = tuple(FIELDS)
EMPTY = "empty"
"""Status of a problem that has no mapping: it has no row."""


def write_tables(folder: Path, found: Sequence[Row], columns: Sequence[str] = ALL) -> None:
    """Write table, schema and data card.

    Args:
        folder: Where to.
        found: Rows of all problems, those without a mapping too.
        columns: The columns of the table; all of them are also written as Parquet.
    """
    rows = [row for row in found if row["status"] != EMPTY]
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "optima.csv"
    write(table, columns, ({name: row.get(name, "") for name in columns} for row in rows))
    if columns == ALL:
        write_parquet(folder / "optima.parquet", rows)
    schema = json.dumps(StatedProblem.model_json_schema(), indent=1)
    write_text(folder / "problem.schema.json", schema + "\n")
    write_text(folder / "croissant.json", json.dumps(croissant(table, columns), indent=1) + "\n")
    write_text(folder / "README.md", card(rows, len(found) - len(rows)))


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    """Write all columns, typed as the data card says."""
    import pyarrow
    import pyarrow.parquet

    kinds: dict[str, Any] = {
        "sc:Text": pyarrow.string(),
        "sc:Float": pyarrow.float64(),
        "sc:Integer": pyarrow.int64(),
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, (kind, _) in FIELDS.items()])
    lists = {name: [row.get(name) for row in rows] for name in FIELDS}
    with atomic_write(path) as draft:
        pyarrow.parquet.write_table(pyarrow.table(lists, schema=schema), draft)


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
