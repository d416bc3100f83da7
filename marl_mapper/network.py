"""One call for a network whose tensors may stay on the chip between its layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cost_models
import layers
from cost_models import Accelerator, Chain
from layers import Imported, NetworkGraph
from mapper import (
    FusedProblem,
    KeptNetwork,
    NetworkProblem,
    StaySetting,
    check_inputs,
    check_keep,
    check_space,
    keep_network,
    stored_proofs,
)
from marl_common import brief
from marl_mapper.options import LibraryError
from marl_runs import SilentReporter, Store

PASSES, FUSE = ("free", "counted"), ("keep", "tiles")


def map_network(
    network: str | Imported | NetworkGraph,
    chip: Accelerator | Chain | str = "edge",
    objective: str = "edp",
    *,
    fuse: str = "keep",
    passes: str = "free",
    inputs: int = 1,
    gap: float = 0.01,
    cost_model: Mapping[str, Any] | None = None,
    space: Mapping[str, Any] | None = None,
    store: str = ":memory:",
    workers: int = 1,
) -> KeptNetwork:
    """Map a network so that tensors stay on the chip where that pays, and prove how good it is.

    With fused tiles layers take turns on parts of their tensors besides, see docs/networks.md.

    Args:
        network: A network of the zoo, a file with edges, an imported model, or a graph.
        chip: An accelerator, one of the library, or a YAML file.
        objective: ``"latency"``, ``"energy"`` or ``"edp"`` of the whole network.
        fuse: ``"keep"``: tensors may stay whole; ``"tiles"``: layers may be fused besides.
        passes: ``"counted"``: nodes without MACs cost what they move; ``"free"``: only what they
            move between DRAM and L2.
        inputs: Runs of the network, one after another, in which filters may stay; figures are a
            run's mean.
        gap: Stop when the value is proven to be at most this share above the optimum.
        cost_model: Options of the model `exact`.
        space: Options of the map space of every layer.
        store: Where proofs are kept, an SQLite file; a finished one is not done again.
        workers: Processes for proofs.

    Returns:
        The best schedule (`best`: `tiles` or `keep`), the best one with all tensors in DRAM
        (`none`), what stays, and for each the value, the bound and every node with its mapping.

    Raises:
        LibraryError: An option has another value.
        ValueError: The network has no edges, a layer has no mapping, or the chip, the objective or
            an option of model or space is wrong.
    """
    if passes not in PASSES:
        raise LibraryError(f"passes: got {brief(passes)}, expected free or counted")
    if fuse not in FUSE:
        raise LibraryError(f"fuse: got {brief(fuse)}, expected keep or tiles")
    if isinstance(gap, bool) or not isinstance(gap, int | float) or not 0 <= gap < 1:
        raise LibraryError(f"gap: got {brief(gap)}, expected a share of at least 0 and below 1")
    if isinstance(inputs, bool) or not isinstance(inputs, int):
        raise LibraryError(f"inputs: got {brief(inputs)}, expected a whole number of at least 1")
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise LibraryError(f"workers: got {brief(workers)}, expected a whole number of at least 1")
    name, graph = _graph_of(network)
    accelerator = cost_models.load_chip(chip) if isinstance(chip, str) else chip
    model = cost_models.load("exact", **(cost_model or {}))
    known = check_keep(accelerator, model.name, objective, f"--fuse {fuse}")
    check_inputs(accelerator, inputs, f"--fuse {fuse}")
    check_space(space or {})
    options = dict(getattr(model, "options", {}))
    setting = StaySetting(known, options, dict(space or {}))
    with Store.open(store) as opened:
        prove = stored_proofs(opened, workers, SilentReporter())
        problem = NetworkProblem(graph, setting, prove, passes == "counted", gap)
        tiles = FusedProblem if fuse == "tiles" else None
        return keep_network(name, problem, objective, fused=tiles, inputs=inputs)


def _graph_of(network: Any) -> tuple[str, NetworkGraph]:
    if isinstance(network, str):
        return network, layers.graph_of(network)
    if isinstance(network, Imported):
        return "the imported model", network.graph()
    if isinstance(network, NetworkGraph):
        return "the network", network
    raise LibraryError(
        f"network: got {brief(network)}, expected a name, a file, an imported model or a graph"
    )
