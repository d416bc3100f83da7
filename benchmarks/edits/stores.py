"""Stores of searches: one row of the runs, its samples, or the file is edited.

The oracle shares no reader with the project: a search is true where its mapping is one of its
enumerated space and has the stored value and figures, its samples have its counts and its curve,
and its key and its name are those of its definition.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.edits.fields import (
    ODD,
    Edit,
    Json,
    Rng,
    doubled,
    edit_field,
    edit_file,
    enumerated,
    space_holds,
    specs,
    strict,
)
from cost_models import FIGURES, Mapping, MappingBatch
from mapper import ProblemSpec
from mapper.results.verdicts import validate
from mapper.search.search_run import SearchRun, name_of
from marl_runs import SilentReporter, Store, StoreError, run_all

BUDGET = 40
COLUMNS = (
    *("key", "kind", "name", "seed", "budget", "status", "samples", "best_value", "wall_s"),
    *("cpu_s", "command", "versions", "started", "ended", "attempt", "error", "git_revision"),
)


def prepare(folder: Path) -> Edit:
    """Edits of a store of one random search of each problem of :func:`specs`."""
    path = folder / "s.sqlite"
    with Store.open(path) as store:
        searches = [SearchRun(spec, "random", BUDGET, seed) for seed, spec in enumerate(specs())]
        run_all(searches, store, reporter=SilentReporter())
    good = path.read_bytes()

    def edit(rng: Rng) -> tuple[str, bytes]:
        kinds = ("spec", "forged spec", "result", "result", "column", "samples", "members", "file")
        what = kinds[rng.integers(8)]
        if what == "file":
            return what, edit_file(rng, good)
        path.write_bytes(good)
        with sqlite3.connect(path) as raw, suppress(sqlite3.IntegrityError):
            _edit_row(rng, raw, what)
        raw.close()
        return what, path.read_bytes()

    return edit


def _edit_row(rng: Rng, raw: sqlite3.Connection, what: str) -> None:
    rows = raw.execute("select id, spec, result from runs where status = 'finished'").fetchall()
    (number, *texts), (_, *others) = (rows[rng.integers(len(rows))] for _ in range(2))

    def put(column: str, value: Any) -> None:
        raw.execute(f"update runs set {column} = ? where id = ?", (value, number))

    if what == "column":
        column = COLUMNS[rng.integers(len(COLUMNS))]
        (old,) = raw.execute(f"select {column} from runs where id = ?", (number,)).fetchone()
        values = [*ODD, *([old + 1, old * 2, -old] if isinstance(old, int | float) else [])]
        value = values[rng.integers(len(values))]
        plain = value is None or isinstance(value, str | float | bool)
        small = isinstance(value, int) and abs(value) < 1 << 62
        put(column, value if plain or small else json.dumps(value))
    elif what == "samples":
        column = ("start", "count", "width", "dtype", "actions", "objective")[rng.integers(6)]
        query = f"select {column} from runs_samples where run_id = ?"
        old = raw.execute(query, (number,)).fetchone()
        if old is not None:
            odd = (0, 1, -1, "u9")
            new = edit_file(rng, old[0]) if isinstance(old[0], bytes) else odd[rng.integers(4)]
            raw.execute(f"update runs_samples set {column} = ? where run_id = ?", (new, number))
    else:
        part = 0 if "spec" in what else 1
        column, text = ("spec", "result")[part], texts[part]
        if what == "members":
            put(column, doubled(rng, text))
            return
        fields = json.loads(text)
        edit_field(rng, fields, json.loads(others[part]))
        put(column, json.dumps(fields))
        if what == "forged spec":
            _forge(put, fields, raw.execute("select * from runs where id = ?", (number,)))


def _forge(put: Callable[[str, Any], None], spec: Any, found: sqlite3.Cursor) -> None:
    """Give a row the key and the name of its edited definition."""
    row = dict(zip([column[0] for column in found.description], found.fetchone(), strict=True))
    put("key", key_of_row(row, spec))
    with suppress(KeyError, TypeError):
        problem = spec["problem"]
        tail = f"{problem['objective']}, {problem['cost_model']} on {problem['accelerator_name']}"
        put("name", f"{spec['label']} on {problem['layer_name']}, {tail}, seed {row['seed']}")


def key_of_row(row: Json, spec: Any) -> str:
    """The key of a definition."""
    text = json.dumps([row["kind"], spec, row["seed"], row["budget"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def judge(path: Path) -> str:
    """What `mapper validate` and the lists of runs make of a store."""
    fault = _commands_fault(path)
    if fault:
        return fault
    try:
        with Store.open(path, create=False) as store:
            verdicts = list(validate(store))
    except StoreError:
        return "refused"
    except Exception as error:
        return f"internal error: {type(error).__name__}: {error}"
    held = sum(verdict.holds is True for verdict in verdicts)
    return "accepted" if held == len(specs()) else "refused"


def _commands_fault(path: Path) -> str:
    """The first command on a store that ends in an internal error."""
    from mapper.cli import main

    for words in (["runs", "list"], ["runs", "show", "1"], ["report"]):
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with redirect_stdout(out), redirect_stderr(out):
            more = ["--html", str(path.with_suffix(".html"))] if words == ["report"] else []
            try:
                main([*words, "--store", str(path), *more])
            except SystemExit as end:
                out.flush()
                text = out.buffer.getvalue().decode()
                if end.code not in (0, None, 1, 2) or "this is a fault of" in text:
                    return f"internal error: {' '.join(words)}: {text[-300:]}"
    return ""


def truth(path: Path, _judged: str) -> bool:
    """Whether every search of a store is what it says."""
    try:
        with sqlite3.connect(path) as raw:
            raw.row_factory = sqlite3.Row
            raw.text_factory = lambda text: text.decode("utf-8", "replace")
            rows = [dict(row) for row in raw.execute("select * from runs")]
            chunks = [dict(row) for row in raw.execute("select * from runs_samples")]
        raw.close()
        return len(rows) == len(specs()) and all(_row_is_true(row, chunks) for row in rows)
    except (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError, zlib.error):
        return False


def _row_is_true(row: Json, chunks: list[Json]) -> bool:
    spec, result = strict(row["spec"]), strict(row["result"])
    problem = ProblemSpec.from_dict(spec["problem"])
    told = name_of(spec["label"], problem, row["seed"])
    if row["key"] != key_of_row(row, spec) or row["name"] != told or row["status"] != "finished":
        return False
    known = enumerated(json.dumps(spec["problem"]))
    values = _values_of(row["id"], chunks)
    finite = values[np.isfinite(values)]
    best = row["best_value"]
    counts = (row["samples"], result["samples"], len(values))
    if known is None or len(set(counts)) != 1 or result["best_value"] != best:
        return False
    if best is None:
        return not len(finite) and ("empty" not in result or math.isinf(known[0]))
    lowest = np.fmin.accumulate([math.inf, *values])
    curve = [[n, float(lowest[n])] for n in np.flatnonzero(lowest[1:] < lowest[:-1]) + 1]
    found = (len(finite), float(lowest[-1]), curve)
    if found != (result["feasible_samples"], best, result["curve"]):
        return False
    mapping = Mapping.from_dict(result["best_mapping"])
    one = MappingBatch.from_mappings([mapping], problem.layer.extents)
    built = problem.build()
    looked = built.look(built.space.encode(one))
    same = math.isclose(float(looked.values[0]), best, rel_tol=1e-9)
    figures = all(
        name in FIGURES
        and math.isclose(getattr(looked.costs[0], name), math.inf if v is None else v, rel_tol=1e-9)
        for name, v in result["best_figures"].items()
    )
    return same and figures and space_holds(one, known[1])


def _values_of(run: int, chunks: list[Json]) -> np.ndarray[Any, Any]:
    found = [np.empty(0)]
    for chunk in sorted((c for c in chunks if c["run_id"] == run), key=lambda c: c["start"]):
        planes = np.frombuffer(zlib.decompress(chunk["objective"]), np.uint8).reshape(8, -1)
        if planes.shape[1] != chunk["count"] or chunk["start"] != sum(map(len, found)):
            raise ValueError("samples")
        found.append(np.ascontiguousarray(planes.T).view("<f8").reshape(-1))
    return np.concatenate(found)
