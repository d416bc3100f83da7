"""``mapper search --layer``: one search, printed and written."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from mapper.commands.proof_options import ProofOptions
from mapper.commands.work_options import ResultOptions
from mapper.explaining.standing import Standing, standing_kept
from mapper.explaining.standing import standing as standing_of
from mapper.results.result_files import DATAFLOW, MANIFEST, MAPPING, write_result
from mapper.search.found import Found
from mapper.search.search_run import SearchRun
from mapper.show.search_result import print_nothing_found, print_result, result_values
from marl_runs import Reporter, RunFailedError, SilentReporter, go_on_with, print_json, tell


def search_layer(run: SearchRun, results: ResultOptions, after: ProofOptions | None) -> None:
    """Search one layer, print the result and write it; whatever goes wrong late comes after that.

    `after` is the proof that says how far the answer is from the optimum. Without a store the
    search runs here and nothing is kept of it but what the folder of results holds.
    """
    out, as_json = results.out, results.as_json
    problem = run.problem.build()
    for doubt in (*problem.doubts, *run.doubts(problem)):
        tell(f"warning: {doubt}")
    if not as_json:
        tell(
            f"Searching {problem.layer.name} for {problem.objective.name} with {run.method}: "
            f"{_effort(run)} {float(problem.space.size):.3g} mappings, "
            f"cost model {problem.cost_model.name}"
        )
    quiet = SilentReporter() if as_json and not sys.stderr.isatty() else None
    if results.store is None:
        found, failure = _search_here(run, quiet)
    else:
        found, failure = _search(run, results.store, quiet)
    fault = None if found is None or out is None else _write(found, out)
    standing = None
    if found is not None:
        standing = None if after is None else _standing(found, after)
        if as_json:
            print_json(result_values(found, standing))
        else:
            print_result(found, standing, results.verbose)
    if found is not None and after is not None and after.certificate is not None:
        from mapper.commands.certifying import certify_layer

        certify_layer(found, standing, after.certificate, after)
    for error in (failure, fault):
        if error is not None:
            raise error
    if found is None:
        tell("interrupted before the first sample")
        raise typer.Exit(1)
    if found.best is None:
        print_nothing_found(found, standing)
        raise typer.Exit(1)
    if out is not None:
        directives = f", {DATAFLOW}" if (out / DATAFLOW).exists() else ""
        tell(f"wrote {out}/{MAPPING}{directives}, {MANIFEST}")


def _effort(run: SearchRun) -> str:
    """What the search will do, as it is said before it begins."""
    if run.method == "optimal" or (run.method == "auto" and run.proves):
        return "a first value, and a proof over"
    timed = run.method == "auto" and run.config["seconds"]
    return f"{run.config['seconds']:g} s of" if timed else f"{run.budget:,} samples of"


def _standing(found: Found, after: ProofOptions) -> Standing | None:
    """What is proven of the answer; of a search that was stopped, what its proof had reached."""
    if found.interrupted:
        return standing_kept(found)
    if found.empty is not None:
        return None
    return standing_of(found, after.gap or 0.0, after.timeout)


def _search_here(
    run: SearchRun, reporter: Reporter | None
) -> tuple[Found | None, BaseException | None]:
    """Search, and keep nothing."""
    from marl_runs import run_alone

    ended, failure = run_alone(run, reporter)
    return Found.of(run, ended), failure


def _search(
    run: SearchRun, store: str, reporter: Reporter | None
) -> tuple[Found | None, BaseException | None]:
    """Search, and keep the search in a store; one that is finished there is not done again."""
    from marl_runs import Store, run_all

    with Store.open(store) as opened:
        outcome = run_all([run], opened, reporter=reporter)
        stored = opened.runs(key=outcome.keys[0])
    if outcome.stopped:
        tell(go_on_with())
    failure = RunFailedError(outcome.failed[0][1]) if outcome.failed else None
    return Found.of_stored(run, stored[0]) if stored else None, failure


def _write(found: Found, out: Path) -> OSError | None:
    """Write the result, or say why it could not be written: it is printed first."""
    try:
        write_result(out, found)
    except OSError as error:
        return error
    return None
