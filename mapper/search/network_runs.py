"""Search every layer of a network: a list of runs, of which later ones take over from earlier."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import layers
from cost_models import Accelerator, Chain, Cost
from layers import Layer
from mapper.search.carry import NOTHING, Carry, Earlier
from mapper.search.found import Found
from mapper.search.problem_spec import ProblemSpec
from mapper.search.search_run import SearchRun
from marl_runs import Store


@dataclass(frozen=True)
class Shape:
    """Layers of one network that are alike but for their names.

    Args:
        layer: The first of them.
        count: How many there are.
    """

    layer: Layer
    count: int


@dataclass(frozen=True)
class ShapeRun:
    """The search of one shape.

    Args:
        shape: The shape.
        run: Its search; None where it has no problem.
        key: Of the search in a store.
        error: Why it has no problem.
    """

    shape: Shape
    run: SearchRun | None
    key: str = ""
    error: str = ""


@dataclass(frozen=True)
class ShapeResult:
    """What a search found for one shape.

    Args:
        shape: The shape.
        found: Its best mapping so far, and how it was found; None where it has none.
        seconds: Wall time [s]; 0 where the result was there already.
        error: Why it is not done, or "".
    """

    shape: Shape
    found: Found | None
    seconds: float
    error: str = ""

    @property
    def cost(self) -> Cost | None:
        """Cost of the best mapping, or None."""
        best = None if self.found is None else self.found.best
        return None if best is None else best[1]

    @property
    def chip(self) -> Accelerator | Chain:
        """The chip of a shape that has a result."""
        assert self.found is not None
        return self.found.run.problem.accelerator


def shapes(network: str) -> list[Shape]:
    """The distinct shapes of a zoo network, in the order of their first layer.

    Raises:
        LayerError: The network is unknown.
    """
    return [Shape(*pair) for pair in layers.distinct(layers.layers_of(network))]


def plan_network(
    network: str, spec: Callable[[Layer], ProblemSpec], search: Mapping[str, Any], carry: str
) -> list[ShapeRun]:
    """The searches of a network, in order.

    Args:
        network: Name of a zoo network.
        spec: Makes the problem of a layer; an error makes that shape fail alone.
        search: Arguments of every :class:`SearchRun` but the problem.
        carry: One of :data:`mapper.search.carry.CARRIES`.

    Raises:
        LayerError: The network is unknown.
        Exception: No shape has a problem; it is the error of the first one.
    """
    planned: list[ShapeRun] = []
    earlier: list[Earlier] = []
    errors: list[Exception] = []
    for shape in shapes(network):
        try:
            run = SearchRun(spec(shape.layer).complete(), **search)
        except Exception as error:  # one bad layer must not stop the rest
            errors.append(error)
            planned.append(ShapeRun(shape, None, error=str(error)))
            continue
        if carry != NOTHING:
            run = replace(run, carry=Carry(carry, tuple(earlier)))
        planned.append(ShapeRun(shape, run, run.identity().key))
        earlier.append(Earlier(planned[-1].key, shape.layer))
    if len(errors) == len(planned):
        raise errors[0]
    return planned


def results(
    planned: Sequence[ShapeRun], store: Store, kept: Collection[str]
) -> Iterator[ShapeResult]:
    """What the store knows about each shape of a network.

    Args:
        planned: The searches.
        store: Where they are kept.
        kept: Names of those that were finished before.
    """
    stored = {run.key: run for run in store.runs()}
    for item in planned:
        one = stored.get(item.key)
        if item.run is None or one is None:
            yield ShapeResult(item.shape, None, 0.0, item.error or "not begun")
            continue
        found = Found.of_stored(item.run, one)
        error = "" if one.standing == "finished" else one.standing
        if one.standing == "failed":
            error = (one.error or error).partition("\n")[0]
        elif found is None or found.best is None:
            empty = None if found is None else found.empty
            error = error or empty or "no feasible mapping found"
        seconds = 0.0 if item.run.name in kept else one.wall_s or 0.0
        yield ShapeResult(item.shape, found, seconds, error)


def totals(results: Sequence[ShapeResult]) -> dict[str, float]:
    """Sums over all layers, each shape as often as it occurs; shapes without a result are left out.

    Returns:
        ``layers``, ``macs``, ``latency_cycles``, ``energy_nj``, ``edp`` (the product of the two
        sums, [cycles nJ]) and ``seconds``.
    """
    good = [(result.shape.count, result.cost) for result in results if result.cost is not None]

    def total(figure: str) -> float:
        return float(sum(count * getattr(cost, figure) for count, cost in good))

    latency, energy = total("latency_cycles"), total("energy_nj")
    return {
        "layers": float(sum(count for count, _ in good)),
        "macs": total("macs"),
        "latency_cycles": latency,
        "energy_nj": energy,
        "edp": latency * energy,
        "seconds": sum(result.seconds for result in results),
    }
