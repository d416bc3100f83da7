"""``mapper search --network``: the table of a whole network."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from runs import print_json, tell

if TYPE_CHECKING:
    from baselines import Searcher
    from layers import Layer
    from maestro_env import Problem
    from mapper.network import ShapeResult


def search_network(
    network: str,
    problem: Callable[[Layer], Problem],
    searcher: Callable[[dict[str, Any]], Searcher],
    budget: int,
    seed: int,
    out: Path | None,
    as_json: bool,
    objective: str,
    carry: str | None = None,
) -> None:
    """Search every distinct shape and print a row for each, and the totals.

    With `out`, every shape has a folder there, and the same command continues where it stopped.
    Exit code 1 says that a shape has no mapping.
    """
    from mapper.network import NetworkSearch, shapes

    carried = _carried(carry, searcher({}))
    results: list[ShapeResult] = []
    count = len(shapes(network))
    with tempfile.TemporaryDirectory(prefix="mapper-") as scratch:
        search = NetworkSearch(problem, searcher, budget, seed, out or Path(scratch), carried)
        try:
            for result in search.run(network):
                results.append(result)
                _say(result, len(results), count)
        except KeyboardInterrupt:
            tell(f"interrupted after {len(results)} of {count} shapes")
    _print(network, results, objective, as_json)
    if len(results) < count or any(result.error for result in results):
        raise typer.Exit(1)


def _carried(carry: str | None, searcher: Searcher) -> str:
    """What a shape takes over from those before it.

    Raises:
        OptionError: There is no such thing, or the searcher carries nothing.
    """
    from mapper.commands.options import OptionError
    from mapper.network import CARRIES, NEAREST, NOTHING

    able = "warm_start" in vars(searcher.config)
    if carry is None:
        return NEAREST if able else NOTHING
    if carry not in CARRIES:
        raise OptionError(f"--carry: got {carry!r}, expected {', '.join(CARRIES)}")
    if carry != NOTHING and not able:
        raise OptionError(f"--carry {carry}: only the method marl carries policies on")
    return carry


def _say(result: ShapeResult, number: int, count: int) -> None:
    state = result.error or ("kept" if result.kept else f"{result.seconds:.1f} s")
    tell(f"[{number}/{count}] {result.shape.layer.name} x{result.shape.count}: {state}")


def _print(network: str, results: list[ShapeResult], objective: str, as_json: bool) -> None:
    from maestro_env import Objective
    from mapper.network import totals
    from mapper.show.network import print_network

    rows = [_row(result) for result in results]
    whole = totals(results)
    if as_json:
        print_json({"network": network, "shapes": rows, "totals": whole})
        return
    print_network(network, rows, whole, Objective.parse(objective))
    for result in results:
        if result.error:
            tell(f"error: {result.shape.layer.name}: {result.error}")


def _row(result: ShapeResult) -> dict[str, Any]:
    cost, bound = result.cost, result.bound
    return {
        "layer": result.shape.layer.name,
        "count": result.shape.count,
        "macs": None if cost is None else cost.macs,
        "latency_cycles": None if cost is None else cost.latency_cycles,
        "energy_nj": None if cost is None else cost.energy_nj,
        "objective": None if cost is None else result.value,
        "x bound": None if cost is None or not bound else round(result.value / bound, 3),
        "samples": result.samples,
        "error": result.error,
    }
