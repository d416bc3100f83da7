"""One HTML page with tables, plots, the best loop nests, and how to make it all again."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from common import atomic_write
from mapper.compare.entry import Board, ComparedCase, boards, of_stored, optima
from mapper.compare.gap_proofs import library_optima
from mapper.compare.result_tables import TextTable, make_tables
from mapper.compare.summary import TARGET, Summary
from mapper.problem_spec import ProblemSpec
from mapper.report.sources import ReportError, Source
from runs import StoredRun

FIGURES = {
    "latency_cycles": ("latency", "cycles"),
    "energy_nj": ("energy", "nJ"),
    "power_mw": ("power", "mW"),
    "area_um2": ("area", "um^2"),
    "utilized_pes": ("PEs at work", ""),
    "l1_bytes": ("L1 of a PE", "B"),
    "l2_bytes": ("L2", "B"),
}


@dataclass(frozen=True)
class BestMapping:
    """The best mapping of a case, as the page shows it.

    Args:
        case: Layer and objective.
        method: Who found it.
        seed: With which seed.
        value: The objective with its unit.
        figures: Pairs of name and value with unit.
        nest: The loop nest.
    """

    case: ComparedCase
    method: str
    seed: int
    value: str
    figures: tuple[tuple[str, str], ...]
    nest: str


@dataclass(frozen=True)
class Section:
    """All about one board: tables, pictures as data URLs with their names, best mappings."""

    board: Board
    tables: tuple[TextTable, ...]
    pictures: tuple[tuple[str, str], ...]
    best: tuple[BestMapping, ...]


def render(source: Source, target: float = TARGET) -> str:
    """The page.

    Args:
        source: Searches, and where they come from.
        target: See :class:`Summary`.

    Raises:
        ReportError: jinja2 or matplotlib is not installed.
    """
    try:
        import jinja2
    except ImportError:
        raise ReportError(
            "a report needs jinja2 and matplotlib, which are not installed; "
            "install them with: pip install 'marl-mapper[viz]'"
        ) from None
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(
        files("mapper.report").joinpath("page.html.j2").read_text(encoding="utf-8")
    )
    runs = source.runs
    entries = [of_stored(run) for run in runs]
    known = library_optima(run.spec["problem"] for run in runs) | optima(entries)
    return template.render(
        sections=[_section(Summary(b, e, target, known), runs) for b, e in boards(entries).items()],
        commands=list(dict.fromkeys(run.command for run in runs)),
        revisions=sorted({run.git_revision for run in runs if run.git_revision}),
        versions=_versions(runs),
        stores=source.stores,
        runs=len(runs),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def write(path: Path, page: str) -> None:
    """Write the page, whole or not at all.

    Raises:
        ReportError: The file cannot be written.
    """
    try:
        with atomic_write(path) as draft:
            draft.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ReportError(f"--out {path}: cannot be written ({error.strerror})") from error


def _section(summary: Summary, runs: Sequence[StoredRun]) -> Section:
    return Section(
        board=summary.board,
        tables=tuple(make_tables(summary)),
        pictures=tuple(_pictures(summary)),
        best=tuple(_best_mappings(summary, runs)),
    )


def _pictures(summary: Summary) -> list[tuple[str, str]]:
    """Figures as PNG data URLs."""
    from mapper.compare.figures import figures

    pictures = []
    for name, figure in figures(summary):
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
        data = base64.b64encode(stream.getvalue()).decode("ascii")
        pictures.append((name, f"data:image/png;base64,{data}"))
    return pictures


def _best_mappings(summary: Summary, runs: Sequence[StoredRun]) -> list[BestMapping]:
    """The best finished search of every case."""
    best: dict[ComparedCase, StoredRun] = {}
    for run in runs:
        entry = of_stored(run)
        if entry.board != summary.board or not entry.finished or entry.best is None:
            continue
        leader = best.get(entry.case)
        if leader is None or entry.best < (leader.best_value or 0.0):
            best[entry.case] = run
    return [_best_mapping(case, run) for case, run in best.items()]


def _best_mapping(case: ComparedCase, run: StoredRun) -> BestMapping:
    """Looked at again, so that the page shows what the mapping costs now."""
    from cost_models import loop_nest

    problem = ProblemSpec.from_dict(run.spec["problem"]).build()
    looked = problem.look(np.array([(run.result or {})["best_action"]]))
    cost = looked.costs[0]
    return BestMapping(
        case=case,
        method=run.spec["label"],
        seed=run.seed,
        value=f"{float(looked.values[0]):,.6g} {problem.objective.unit}",
        figures=tuple(
            (label, _number(getattr(cost, name), unit)) for name, (label, unit) in FIGURES.items()
        ),
        nest=loop_nest(looked.mappings[0], problem.layer, problem.accelerator.num_pes),
    )


def _number(value: float, unit: str) -> str:
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"
    if 1e4 <= abs(value) < 1e15:
        text = f"{value:,.0f}"
    return f"{text} {unit}".strip()


def _versions(runs: Sequence[StoredRun]) -> dict[str, Any]:
    """Versions that were seen, by package."""
    seen: dict[str, set[str]] = {}
    for run in runs:
        for package, version in run.versions.items():
            seen.setdefault(package, set()).add(version)
    return {package: ", ".join(sorted(found)) for package, found in sorted(seen.items())}
