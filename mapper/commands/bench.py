"""``mapper bench``: a searcher over problems whose optimum is proven."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.commands import completion
from mapper.commands.options import check_file
from mapper.commands.work_options import WorkOptions
from marl_common import takes_records
from marl_runs import go_on_with, print_rows, tell

if TYPE_CHECKING:
    from mapper.compare.plan import Method

SEEDS = 3
MOST_SEEDS = 1_000


@takes_records
def bench(
    *,
    searcher: Annotated[
        str,
        typer.Argument(
            help="A searcher's name, or module:Class of your own; options as ga:population=50.",
            autocompletion=completion.method_lists,
        ),
    ],
    beside: Annotated[
        str,
        typer.Option(help="Searchers to show beside it, with commas; none shows it alone."),
    ] = "ga",
    seeds: Annotated[
        int, typer.Option(min=1, max=MOST_SEEDS, help="Searches of each problem and budget.")
    ] = SEEDS,
    quick: Annotated[bool, typer.Option("--quick", help="One seed.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the result file, which `mapper validate --bench FILE` checks.",
        ),
    ] = None,
    work: WorkOptions,
) -> None:
    """Measure a searcher's gap to the proven optima of 30 problems.

    It searches with 100, 1,000 and 10,000 samples, and with as many as it takes in a second of
    processor time. The same command resumes.
    """
    from mapper.bench.bench_file import write_file
    from mapper.bench.bench_plan import StoppedError, do_bench
    from mapper.bench.bench_table import table_rows
    from marl_runs import Store

    methods = _methods([searcher, *(beside.split(",") if beside != "none" else [])])
    if out is not None:
        check_file("--out", out)
    number = 1 if quick else seeds
    with Store.open(work.store) as opened:
        try:
            files = [do_bench(method, number, opened, work.processes) for method in methods]
        except StoppedError:
            tell(go_on_with())
            raise typer.Exit(1) from None
    print_rows(
        "Gap to the proven optimum, 30 problems",
        table_rows(files),
        "interquartile mean over problems and seeds, with its 95 % bootstrap interval",
    )
    if out is not None:
        write_file(out, files[0])
        tell(f"wrote {out}; check it with mapper validate --bench {out}")


def _methods(names: Sequence[str]) -> list[Method]:
    """Searchers by their names, each once.

    Raises:
        ValueError: There is no such searcher, or it proves the optimum.
    """
    from mapper.bench.bench_plan import check_method
    from mapper.compare.plan import Method, method_of

    methods = [Method(*method_of(name.strip())) for name in dict.fromkeys(names)]
    for method in methods:
        check_method(method)
    return methods
