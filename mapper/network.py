"""Search every layer of a network: each distinct shape once, one search warming up the next."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import layers
from cost_models import Cost
from layers import Layer
from mapper.result_files import MANIFEST, write_result
from mapper.search import run_search
from runs import plain

if TYPE_CHECKING:
    from baselines import Searcher
    from maestro_env import Problem

CHECKPOINT = "policy.pt"
SHARED = "policies.pt"
NEAREST, SHARED_POLICY, NOTHING = "nearest", "shared", "nothing"
CARRIES = {
    NEAREST: "a shape begins with the policies and best mappings of the nearest one that is done",
    SHARED_POLICY: "one set of policies is trained by all shapes in turn; best mappings as before",
    NOTHING: "every shape begins anew",
}
"""What a shape takes over from those before it."""


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
class ShapeResult:
    """What a search found for one shape.

    Args:
        shape: The shape.
        value: Best objective value; inf where nothing feasible was found.
        bound: Physical bound of the objective, or None.
        cost: Cost of the best mapping, or None.
        samples: Samples spent.
        seconds: Wall time [s]; 0 where the result was there already.
        error: Why there is no result, or "".
        kept: Whether the result comes from an earlier run.
    """

    shape: Shape
    value: float
    bound: float | None
    cost: Cost | None
    samples: int
    seconds: float
    error: str = ""
    kept: bool = False


def shapes(network: str) -> list[Shape]:
    """The distinct shapes of a zoo network, in the order of their first layer.

    Raises:
        LayerError: The network is unknown.
    """
    found: dict[Layer, list[Layer]] = {}
    for layer in layers.layers_of(network):
        found.setdefault(layer.renamed("shape"), []).append(layer)
    return [Shape(alike[0], len(alike)) for alike in found.values()]


class NetworkSearch:
    """Searches one shape after another.

    Args:
        problem: Makes the problem of a layer.
        searcher: Makes the searcher from further options of its config.
        budget: Samples a shape.
        seed: Seed of every search.
        folder: Where results and policies are kept.
        carry: One of `CARRIES`; other searchers than marl carry nothing.
    """

    def __init__(
        self,
        problem: Callable[[Layer], Problem],
        searcher: Callable[[dict[str, Any]], Searcher],
        budget: int,
        seed: int,
        folder: Path,
        carry: str,
    ) -> None:
        self.problem, self.searcher = problem, searcher
        self.budget, self.seed, self.folder, self.carry = budget, seed, folder, carry
        self._trained: list[tuple[Layer, Path]] = []

    def run(self, network: str) -> Iterator[ShapeResult]:
        """Search every shape that has no result in the folder; an error ends one shape only."""
        for shape in shapes(network):
            try:
                yield self._one(shape)
            except Exception as error:  # one bad layer must not stop the rest
                yield ShapeResult(shape, np.inf, None, None, 0, 0.0, error=str(error))

    def _one(self, shape: Shape) -> ShapeResult:
        from mapper.manifest import search_manifest

        problem = self.problem(shape.layer)
        folder = self.folder / re.sub(r"[^\w.-]+", "_", shape.layer.name)
        searcher = self.searcher(self._options(shape.layer, folder))
        kept = self._kept(problem, searcher, folder)
        if kept is None:
            begin = time.perf_counter()
            outcome = run_search(problem, searcher, self.budget, self.seed)
            if outcome.interrupted:
                raise KeyboardInterrupt
            seconds = time.perf_counter() - begin
            if problem.best_action is not None:
                manifest = plain(
                    search_manifest(problem, searcher, self.budget, self.seed, outcome)
                )
                best = problem.space.decode(problem.best_action[None])[0]
                write_result(folder, shape.layer, best, manifest)
            action, samples = problem.best_action, problem.samples
        else:
            action, samples, seconds = kept[0], kept[1], 0.0
        if (folder / CHECKPOINT).exists():
            self._trained.append((shape.layer, folder / CHECKPOINT))
        if action is None:
            return ShapeResult(
                shape, np.inf, problem.bound, None, samples, seconds, "no feasible mapping found"
            )
        looked = problem.look(action[None])
        return ShapeResult(
            shape,
            float(looked.values[0]),
            problem.bound,
            looked.costs[0],
            samples,
            seconds,
            kept=kept is not None,
        )

    def _options(self, layer: Layer, folder: Path) -> dict[str, Any]:
        """Where the policies go, and from where they come."""
        if self.carry == NOTHING:
            return {}
        options = {"checkpoint": str(folder / CHECKPOINT), "checkpoint_every": 1_000_000_000}
        if self._trained:
            nearest = min(self._trained, key=lambda known: _distance(known[0], layer))
            options["warm_start"] = str(nearest[1])
        if self.carry == SHARED_POLICY:
            options["shared_policy"] = str(self.folder / SHARED)
        return options

    def _kept(
        self, problem: Problem, searcher: Searcher, folder: Path
    ) -> tuple[np.ndarray, int] | None:
        """Best action and samples of a finished search of the same problem, method and seed."""
        path = folder / MANIFEST
        if not path.exists():
            return None
        manifest = json.loads(path.read_text(encoding="utf-8"))
        mine = {
            "problem": {**problem.describe(), "layer_fields": layers.to_fields(problem.layer)},
            "method": searcher.name,
            "method_options": asdict(searcher.config),
            "seed": self.seed,
            "budget": self.budget,
        }
        for name, value in plain(mine).items():
            if manifest.get(name) != value:
                return None
        return np.array(manifest["best_action"], dtype=np.int64), int(manifest["samples"])


def _distance(a: Layer, b: Layer) -> float:
    apart = np.log2(np.array(a.extents)) - np.log2(np.array(b.extents))
    return float(np.sqrt((apart**2).sum())) + (0.0 if a.kind == b.kind else 8.0)


def totals(results: list[ShapeResult]) -> dict[str, float]:
    """Sums over all layers, each shape as often as it occurs; shapes without a result are left out.

    Returns:
        ``layers``, ``macs``, ``latency_cycles``, ``energy_nj``, ``edp`` (the product of the two
        sums, [cycles nJ]) and ``seconds``.
    """
    good = [result for result in results if result.cost is not None]

    def total(figure: str) -> float:
        return float(sum(r.shape.count * getattr(r.cost, figure) for r in good))

    latency, energy = total("latency_cycles"), total("energy_nj")
    return {
        "layers": float(sum(r.shape.count for r in good)),
        "macs": total("macs"),
        "latency_cycles": latency,
        "energy_nj": energy,
        "edp": latency * energy,
        "seconds": sum(r.seconds for r in results),
    }
