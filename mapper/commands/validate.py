"""``mapper validate``: whether stored results can be made again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapper.commands.options import DEFAULT_STORE, OptionError, StoreOption
from marl_common import AsJson
from marl_runs import print_json, say

if TYPE_CHECKING:
    from mapper.results.verdicts import Verdict


def validate(
    run: Annotated[
        str | None,
        typer.Argument(help="Number of a run, or how its key begins; all if absent."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            metavar="FILE",
            help="Check a proof that `mapper search --certificate` wrote, instead of a store.",
        ),
    ] = None,
    bench: Annotated[
        Path | None,
        typer.Option(
            "--bench",
            metavar="FILE",
            help="Check a result file that `mapper bench --out` wrote, instead of a store.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate stored mappings again, or check a proof or bench; exit code 1: it does not hold."""
    if bench is not None:
        if run is not None or certificate is not None:
            raise OptionError("--bench: got a run or --certificate too, expected one of them")
        from mapper.commands.validate_bench import validate_bench

        validate_bench(bench, as_json)
        return
    if certificate is not None:
        if run is not None:
            raise OptionError("--certificate: got a run too, expected one of them")
        from mapper.commands.validate_certificate import validate_certificate

        validate_certificate(certificate, as_json)
        return
    if run is not None and Path(run).is_file():
        raise OptionError(
            f"{run}: is a file, expected a run; give --certificate, --bench or --store before it"
        )
    _validate_store(store, run, as_json)


def _validate_store(store: str, run: str | None, as_json: bool) -> None:
    """Evaluate the best mappings of a store's runs again, and print whether they hold."""
    from mapper.results.verdicts import validate as check
    from marl_runs import Store

    with Store.open(store, create=False) as opened:
        verdicts = []
        for verdict in check(opened, run):
            verdicts.append(verdict)
            if not as_json:
                _print(verdict)
    wrong = sum(verdict.holds is False for verdict in verdicts)
    retired = sum(verdict.holds is None for verdict in verdicts)
    if as_json:
        print_json([_row(verdict) for verdict in verdicts])
    else:
        apart = f", {retired} not replayed" if retired else ""
        say(f"{len(verdicts) - wrong - retired} of {len(verdicts)} results hold{apart}")
    if wrong:
        raise typer.Exit(1)


def _print(verdict: Verdict) -> None:
    """Print a tick, a cross or a dash, the value, and what is wrong."""
    from mapper.show.run_tables import shown_best
    from marl_runs import StoredRun

    sign = {True: "✓", False: "✗", None: "-"}[verdict.holds]
    found = verdict.run
    value = shown_best(found) if isinstance(found, StoredRun) else "-"
    say(f"{sign} {found.id:>5}  {value:>14}  {found.name}")
    if verdict.fault or verdict.unknown:
        say(f"         {verdict.fault or verdict.unknown}")


def _row(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON has it."""
    return {
        "id": verdict.run.id,
        "name": verdict.run.name,
        "stored": verdict.stored,
        "again": verdict.again,
        "holds": verdict.holds,
        "fault": verdict.fault or verdict.unknown,
    }
