"""``mapper explain``: how a search's parameters evolved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.commands.options import DEFAULT_STORE, JsonFlag, OptionError, StoreOption, picture_file
from runs import print_json, tell

if TYPE_CHECKING:
    from runs import StoredRun


def explain(
    run: Annotated[str, typer.Argument(help="Number of a run, or how its key begins.")],
    other: Annotated[
        str | None, typer.Option("--beside", help="A second run of the same layer to show too.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    plot: Annotated[Path | None, typer.Option(help="Draw the parameters into this file.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show what each parameter of the best mapping was after so many samples, and when it settled.

    Agents stand side by side: a row a parameter, sorted by agent and by when it settled.
    """
    from mapper.evolution import of_run
    from mapper.show.evolution_table import print_evolution
    from runs import Store

    if plot is not None:
        picture_file("--plot", plot)
    with Store.open(store, create=False) as opened:
        found = [of_run(opened, text) for text in (run, other) if text is not None]
    _check_beside([stored for stored, _ in found])
    if as_json:
        print_json([{"run": stored.id, "parameters": e.rows()} for stored, e in found])
    else:
        for stored, evolution in found:
            print_evolution(stored.name, evolution)
    if plot is None:
        return
    from mapper.clustering.plots import save
    from mapper.evolution import plot as draw

    save(draw({f"{stored.id} {stored.name}": evolution for stored, evolution in found}), plot)
    tell(f"wrote {plot}")


def _check_beside(runs: list[StoredRun]) -> None:
    """Two runs stand beside each other only where they choose the same parameters.

    Raises:
        OptionError: They search another layer, or another space of mappings.
    """
    problems = [run.spec["problem"] for run in runs]
    layers = [{k: v for k, v in p["layer"].items() if k != "name"} for p in problems]
    if any(layer != layers[0] for layer in layers):
        first, second = (problem["layer_name"] for problem in problems)
        raise OptionError(
            f"--beside {runs[1].id}: searches {second}, run {runs[0].id} searches {first}; "
            "expected a run of the same layer"
        )
    if any(p["space"] != problems[0]["space"] for p in problems):
        raise OptionError(
            f"--beside {runs[1].id}: searches another space of mappings than run {runs[0].id}; "
            "expected a run with the same --space"
        )
