"""``mapper report``: stored searches as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mapper.commands.options import TargetOption, checked_target
from marl_runs import tell


def report(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Folder with stores or results of `mapper search --out`."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="PATH|URL", help="Or a store; runs.sqlite by default."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    target: TargetOption = 1.05,
) -> None:
    """Write one HTML page that needs no other file: tables, plots, best mappings, commands."""
    from mapper.report.errors import ReportError
    from mapper.report.page import render, write
    from mapper.report.sources import from_folder, from_store

    checked_target(target)
    if folder is not None and store is not None:
        raise ReportError("give a folder or --store, not both")
    if not out.absolute().parent.is_dir():
        raise ReportError(f"--out {out}: the folder {out.parent} does not exist; make it first")
    source = from_store(store or "runs.sqlite") if folder is None else from_folder(folder)
    write(out, render(source, target))
    tell(f"wrote {out}, {len(source.runs)} searches")
