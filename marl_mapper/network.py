"""One call for a network whose tensors may stay on the chip between its layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

import layers
from cost_models import Accelerator, Chain
from layers import Imported, NetworkGraph
from maestro_env import Problem
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
from marl_common import brief, read_fields
from marl_mapper.options import CheckedNetworkOptions, LibraryError, MapNetworkOptions
from marl_runs import SilentReporter, Store


def map_network(
    network: str | Path | Imported | NetworkGraph,
    chip: Accelerator | Chain | str = "edge",
    objective: str = "edp",
    **how: Unpack[MapNetworkOptions],
) -> KeptNetwork:
    """Map a network so that tensors stay on the chip where that pays, and prove how good it is.

    With fused tiles layers take turns on parts of their tensors besides, see docs/networks.md.

    Args:
        network: A network of the zoo, a file with edges, an imported model, or a graph.
        chip: An accelerator, one of the library, or a YAML file.
        objective: ``"latency"``, ``"energy"`` or ``"edp"`` of the whole network.
        how: ``fuse``: ``"keep"`` (default), tensors may stay whole, or ``"tiles"``, layers may be
            fused besides; ``passes``: ``"counted"``, nodes without MACs cost what they move, or
            ``"free"`` (default), only what they move between DRAM and L2; ``inputs`` (1): runs of
            the network, one after another, in which filters may stay: figures are a run's mean;
            ``gap`` (0.01): the share above the optimum at which the value may be proven to be;
            ``cost_model``: `exact`, or its options as a dict; ``space``: options of the map space
            of every layer; ``store``: an SQLite file in which proofs are kept; ``workers`` (1):
            processes for proofs.

    Returns:
        The best schedule (`best`: `tiles` or `keep`), the best one with all tensors in DRAM
        (`none`), what stays, and for each the value, the bound and every node with its mapping.

    Raises:
        LibraryError: An option is misspelt or has another value.
        ValueError: The network has no edges, a layer has no mapping, or the chip, the objective or
            an option of model or space is wrong.
    """
    asked = read_fields(CheckedNetworkOptions, how, "map_network", LibraryError, "options")
    name, graph = _graph_of(network)
    if not graph.layers:
        raise LibraryError(f"{name}: no layers with MACs; expected at least one")
    fuse, space = f"--fuse {asked.fuse}", dict(asked.space or {})
    first = Problem(graph.layers[0], chip, "energy", asked.model, space)  # checks all of them
    model, accelerator = first.cost_model, first.accelerator
    options = dict(getattr(model, "options", {}))
    check_keep(accelerator, model.name, options, objective, fuse)
    check_inputs(accelerator, asked.inputs, fuse)
    check_space(space)
    setting = StaySetting(accelerator, options, space)
    with Store.open(str(asked.store)) as opened:
        prove = stored_proofs(opened, asked.workers, SilentReporter())
        problem = NetworkProblem(graph, setting, prove, asked.passes == "counted", asked.gap)
        tiles = FusedProblem if asked.fuse == "tiles" else None
        return keep_network(name, problem, objective, fused=tiles, inputs=asked.inputs)


def _graph_of(network: Any) -> tuple[str, NetworkGraph]:
    if isinstance(network, str | Path):
        return str(network), layers.graph_of(str(network))
    if isinstance(network, Imported):
        return "the imported model", network.graph()
    if isinstance(network, NetworkGraph):
        return "the network", network
    raise LibraryError(
        f"network: got {brief(network)}, expected a name, a file, an imported model or a graph"
    )
