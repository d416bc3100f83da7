"""``mapper validate --bench``: whether a result file holds."""

from __future__ import annotations

from pathlib import Path

import typer

from mapper.bench.bench_check import BenchChecked, check_file
from mapper.bench.bench_file import read_file
from mapper.bench.bench_run import BenchError
from marl_runs import print_json, say


def validate_bench(path: Path, as_json: bool) -> None:
    """Check a result file and say what was checked; exit code 1 where it does not hold.

    Raises:
        BenchError: It cannot be read.
    """
    found = read_file(path)
    checked, fault = BenchChecked(0, 0), ""
    try:
        checked = check_file(found)
    except BenchError as error:
        fault = str(error)
    if as_json:
        print_json({"holds": not fault, "fault": fault, **vars(checked)})
    elif fault:
        say(f"✗ {path}: {fault}")
    else:
        again = (
            f"{checked.replayed:,} searches made again"
            if checked.replayed
            else "no search made again: the searcher or its options are not ours"
        )
        say(f"✓ {path}: {found.searcher.label}: {checked.priced:,} mappings priced, {again}")
        say("  processor times are as the file says them")
    if fault:
        raise typer.Exit(1)
