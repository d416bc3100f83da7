"""``mapper explain``: how a search's parameters evolved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mapper.commands.options import JsonFlag
from runs import print_json, tell


def explain(
    run: Annotated[str, typer.Argument(help="Number of a run, or how its key begins.")],
    other: Annotated[
        str | None, typer.Option("--beside", help="A second run of the same layer to show too.")
    ] = None,
    store: Annotated[
        str, typer.Option("--store", metavar="PATH|URL", help="SQLite file, or any database URL.")
    ] = "runs.sqlite",
    plot: Annotated[Path | None, typer.Option(help="Draw the parameters into this file.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show what each parameter of the best mapping was after so many samples, and when it settled.

    Agents stand side by side: a row a parameter, sorted by agent and by when it settled.
    """
    from mapper.explain import of_run
    from mapper.show.evolution import print_evolution
    from runs import Store, StoreError

    with Store.open(store, create=False) as opened:
        found = [of_run(opened, text) for text in (run, other) if text is not None]
    if as_json:
        print_json([{"run": stored.id, "parameters": e.rows()} for stored, e in found])
    else:
        for stored, evolution in found:
            print_evolution(stored.name, evolution)
    if plot is None:
        return
    names = {evolution.names for _, evolution in found}
    if len(names) > 1:
        raise StoreError("--plot: the runs search different parameters; plot them one by one")
    from mapper.clustering.plots import save
    from mapper.explain import plot as draw

    save(draw({f"{stored.id} {stored.name}": evolution for stored, evolution in found}), plot)
    tell(f"wrote {plot}")
