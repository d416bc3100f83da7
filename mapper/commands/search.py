"""``mapper search``: a good mapping of one layer, or of each layer of a network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import baselines
import layers
from mapper.commands.method_options import MethodOptions
from mapper.commands.network_options import NetworkOptions
from mapper.commands.options import ObjectiveOption, OptionalLayer, OptionError, SeedOption
from mapper.commands.problem_options import ProblemOptions
from mapper.commands.proof_options import (
    ProofOptions,
    budget_and_options,
    check_certificate_file,
    time_of_search,
)
from mapper.commands.work_options import ResultOptions
from marl_common import takes_records
from marl_runs import check_board

if TYPE_CHECKING:
    from layers import Layer
    from mapper.search.problem_spec import ProblemSpec

    Problems = Callable[[Layer, str], ProblemSpec]


@takes_records
def search(
    *,
    layer: OptionalLayer = None,
    shared: NetworkOptions,
    objective: ObjectiveOption = "edp",
    method: MethodOptions,
    proof: ProofOptions,
    seed: SeedOption = 0,
    problem: ProblemOptions,
    results: ResultOptions,
) -> None:
    """Find the best mapping of a layer, and prove that none is better.

    It prints how far the answer is from the optimum, the loop nest, and the costs.
    Ctrl-C ends the search and prints the best mapping so far; exit code 1: none was feasible.
    """
    from mapper.results.output import check_writable

    problems = problem.problems(objective)
    shared.check_words()
    chosen, options = method.chosen(shared.carry is not None)
    proof.check()
    if results.out is not None:
        check_writable(results.out)
    if method.log is not None:
        check_board(method.log)
    if (layer is None) == (shared.network is None):
        raise OptionError("expected --layer L or --network N, one of them")
    network = shared.named()
    first = layers.parse(layer) if layer is not None else layers.layers_of(network or "")[0]
    spec = problems(first, layer or first.name)
    budget, options = budget_and_options(chosen, method.budget, options, proof, spec)
    how = {
        "method": chosen, "budget": budget, "seed": seed, "options": options,
        "idle": method.patience, "timeout": time_of_search(chosen, proof.timeout, spec),
        "log": method.log,
    }  # fmt: skip
    if proof.certificate is not None:
        check_certificate_file(proof.certificate, network, spec)
    if shared.fuse != "none":
        _search_kept(shared, spec, method, proof, problem, results)
    elif shared.counted and network is None:
        raise OptionError("--passes counted: a single layer has no others; give --network N")
    elif network is not None:
        from mapper.commands.search_network import NetworkSearch, search_network  # and the store

        asked = NetworkSearch(
            network, objective, lambda one: problems(one, one.name), how, shared.carry,
            shared.counted,
        )  # fmt: skip
        search_network(asked, results, proof.after())
    else:
        shared.check_absent(results.workers)
        _search_layer(spec.complete(), how, proof, results)


def _search_kept(
    shared: NetworkOptions,
    spec: ProblemSpec,
    method: MethodOptions,
    proof: ProofOptions,
    problem: ProblemOptions,
    results: ResultOptions,
) -> None:
    """Search a network whose tensors may stay in L2, once no option is given that means nothing."""
    from mapper.commands.search_kept import check_kept, search_kept

    network = shared.named()
    refused = {
        "--option": method.of_method, "--carry": shared.carry, "--limit": problem.limit,
        "--timeout": proof.timeout, "--dataflow": problem.dataflow,
        "--max-memory": proof.max_memory, "--no-proof": proof.no_proof,
    }  # fmt: skip
    for name, value in vars(method).items():
        if name not in ("method", "of_method"):
            refused["--" + name.replace("_", "-")] = value
    check_kept(spec, method.method, refused, network, shared, proof.certificate is not None)
    search_kept(network or "", spec.complete(), results, shared, proof)


def _search_layer(
    spec: ProblemSpec, how: Mapping[str, Any], proof: ProofOptions, results: ResultOptions
) -> None:
    """Search one layer.

    Raises:
        AssignmentError: A file of agents cannot be read or does not fit the layer, or there are too
            many; it is found before anything is said or done.
    """
    from mapper.commands.search_layer import search_layer
    from mapper.search.search_run import SearchRun

    agents = getattr(baselines.load(how["method"], **how["options"]).config, "agents", None)
    if agents not in (None, "auto"):
        from mapper.marl.agents import resolve

        resolve(agents, spec.build())
    search_layer(SearchRun(spec, **how), results, proof.after())
