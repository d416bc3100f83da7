"""One HTML page with tables, plots, the best loop nests, and how to make it all again."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from mapper.compare.entry import Board, boards, optima
from mapper.compare.gap_proofs import library_optima
from mapper.compare.result_tables import TextTable, make_tables
from mapper.compare.summary import TARGET, Summary
from mapper.explore.explore_file import ExploredDesigns
from mapper.report.best_mapping import best_mappings
from mapper.report.errors import ReportError
from mapper.report.networks import network_of
from mapper.report.overview import Overview
from mapper.report.sources import Source
from marl_common import write_text
from marl_runs import StoredRun

PAGE, STYLE = "page.html.j2", "style.css"
TEMPLATES = (PAGE, "overview.html.j2")


@dataclass(frozen=True)
class Section:
    """All about one board: overviews of its best mappings, and its methods compared.

    Pictures are data URLs with their names; there are none, and no tables, for a single method.
    """

    board: Board
    overviews: tuple[Overview, ...]
    tables: tuple[TextTable, ...]
    pictures: tuple[tuple[str, str], ...]


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
    from markupsafe import Markup

    folder = files("mapper.report")
    texts = {name: folder.joinpath(name).read_text(encoding="utf-8") for name in TEMPLATES}
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=jinja2.DictLoader(texts)
    )
    runs = source.runs
    entries = source.entries
    known = library_optima(run.spec["problem"] for run in runs) | optima(entries)
    sections = [
        make_section(Summary(board, found, target, known), source)
        for board, found in boards(entries).items()
    ]
    return environment.get_template(PAGE).render(
        title=_title(sections),
        style=Markup(folder.joinpath(STYLE).read_text(encoding="utf-8")),
        sections=sections,
        commands=list(dict.fromkeys([run.command for run in runs] + _explorers(sections))),
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
        write_text(path, page)
    except OSError as error:
        raise ReportError(f"--out {path}: cannot be written ({error.strerror})") from error


def make_section(summary: Summary, source: Source) -> Section:
    """What the page shows of a board."""
    compared = len(summary.methods) > 1
    return Section(
        board=summary.board,
        overviews=tuple(_overviews(summary, source)),
        tables=tuple(make_tables(summary)) if compared else (),
        pictures=tuple(_pictures(summary)) if compared else (),
    )


def _overviews(summary: Summary, source: Source) -> Iterator[Overview]:
    """The best mappings of each objective."""
    names = [case.layer for case in summary.cases]
    counted = source.network or network_of(names)
    for objective, found in best_mappings(summary, source, counted.counts).items():
        shown = {one.name for one in found}
        cases = [case.layer for case in summary.cases if case.objective == objective]
        missing = [name for name in cases if name not in shown]
        explored = _explored(counted.name, summary, source)
        yield Overview(counted, objective, found, missing, explored)


def _explored(network: str, summary: Summary, source: Source) -> list[ExploredDesigns]:
    """Explorations of this network under the same cost model with the same options."""
    used = [
        run.spec["problem"]["cost_model_options"]
        for run, entry in zip(source.runs, source.entries, strict=True)
        if entry.board == summary.board
    ]
    return [
        one
        for one in source.explored
        if (one.network, one.cost_model) == (network, summary.board.cost_model)
        and all(options == one.cost_model_options for options in used)
    ]


def _explorers(sections: Sequence[Section]) -> list[str]:
    """The commands of the explorations that are shown."""
    views = [view for section in sections for view in section.overviews]
    return [front.designs.command for view in views for front in view.fronts]


def _title(sections: Sequence[Section]) -> str:
    """What the page is about: the networks, where it is about nothing else."""
    views = [view for section in sections for view in section.overviews]
    names = list(dict.fromkeys(view.network for view in views))
    return ", ".join(names) + ": mappings" if names and all(names) else "Mapping searches"


def _pictures(summary: Summary) -> list[tuple[str, str]]:
    """Figures as SVG data URLs."""
    from mapper.compare.figures import figures

    pictures = []
    for name, figure in figures(summary):
        stream = io.BytesIO()
        figure.savefig(stream, format="svg")
        data = base64.b64encode(stream.getvalue()).decode("ascii")
        pictures.append((name, f"data:image/svg+xml;base64,{data}"))
    return pictures


def _versions(runs: Sequence[StoredRun]) -> dict[str, Any]:
    """Versions that were seen, by package."""
    seen: dict[str, set[str]] = {}
    for run in runs:
        for package, version in run.versions.items():
            seen.setdefault(package, set()).add(version)
    return {package: ", ".join(sorted(found)) for package, found in sorted(seen.items())}
