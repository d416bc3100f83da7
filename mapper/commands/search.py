"""``mapper search``: a good mapping of one layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapper.commands import completion
from mapper.commands.options import (
    MOST_SAMPLES,
    AcceleratorOption,
    CostModelOption,
    JsonFlag,
    L1Bytes,
    L2Bytes,
    NocBw,
    NumPes,
    ObjectiveOption,
    OffchipBw,
    OptionalLayer,
    OptionError,
    SeedOption,
    SimdLanes,
    accelerator_of,
    pairs_of,
)
from runs import plain, print_json, tell

if TYPE_CHECKING:
    from baselines import Searcher
    from layers import Layer
    from maestro_env import Problem

SPACE_OPTIONS = ("tiles", "filters", "parallel", "orders", "co_search")
"""Options of a map space that the command line sets."""


def search(
    layer: OptionalLayer = None,
    network: Annotated[
        str | None,
        typer.Option(
            help="Search every layer of a network instead of one: of the zoo, or a YAML or CSV "
            "file.",
            autocompletion=completion.networks,
        ),
    ] = None,
    carry: Annotated[
        str | None,
        typer.Option(
            help="Of --network with marl, what a layer takes over from those before it: nearest "
            "(policies and best mappings of the nearest), shared (one set of policies, trained by "
            "all in turn), nothing.",
            show_default="nearest",
        ),
    ] = None,
    objective: ObjectiveOption = "edp",
    method: Annotated[
        str | None,
        typer.Option(
            help="Searcher, such as ga or random.",
            show_default="marl, or ga without the extra rl",
            autocompletion=completion.methods,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Option of the method; repeatable."),
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option(
            help="Of marl: auto (the stored assignment of the nearest zoo layer), a number of "
            "agents, or a file that `mapper cluster` wrote.",
            show_default="auto",
        ),
    ] = None,
    learner: Annotated[
        str | None, typer.Option(help="Of marl: batched or rllib.", show_default="batched")
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(help="Of the learner rllib: train on a Ray cluster, auto or HOST:PORT."),
    ] = None,
    dataset: Annotated[
        int | None,
        typer.Option(min=3, help="Of marl: cluster the agents from so many random samples first."),
    ] = None,
    count_dataset: Annotated[
        bool, typer.Option("--count-dataset", help="Those samples count against the budget.")
    ] = False,
    budget: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_SAMPLES, help="Samples to spend (on each layer), to the last one."
        ),
    ] = 20_000,
    seed: SeedOption = 0,
    accelerator: AcceleratorOption = "edge",
    cost_model: CostModelOption = "exact",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", metavar="NAME=VALUE", help="Such as max_latency_cycles=1e6; repeatable."
        ),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option(
            "--space",
            metavar="NAME=VALUE",
            help="Of the map space: tiles=divisors, filters=free, parallel=KC, "
            "orders=permutation, co_search=num_pes; repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for mapping.yaml, mapping.m, manifest.json; else none."),
    ] = None,
    num_pes: NumPes = None,
    l1_bytes: L1Bytes = None,
    l2_bytes: L2Bytes = None,
    noc_bw: NocBw = None,
    offchip_bw: OffchipBw = None,
    simd_lanes: SimdLanes = None,
    as_json: JsonFlag = False,
) -> None:
    """Search a mapping of a layer and print its loop nest, costs and distance to the bound.

    Ctrl-C ends the search and prints the best mapping so far; exit code 1: none was feasible.
    """
    from maestro_env import Problem
    from mapper.commands.search_network import search_network
    from mapper.methods import chosen_searcher
    from mapper.result_files import check_writable

    hardware = accelerator_of(
        accelerator,
        num_pes=num_pes,
        l1_bytes=l1_bytes,
        l2_bytes=l2_bytes,
        noc_bw=noc_bw,
        offchip_bw=offchip_bw,
        simd_lanes=simd_lanes,
    )
    space_options = pairs_of("--space", space, SPACE_OPTIONS)
    limits = pairs_of("--limit", limit)

    def problem_of(layer: Layer | str) -> Problem:
        return Problem(layer, hardware, objective, cost_model, space_options, limits)

    options = {**pairs_of("--option", option), **_of_marl(method, agents, learner)}
    if ray_address is not None:
        options |= _on_ray(method, ray_address, options.get("learner"))
    if dataset is not None or count_dataset:
        options |= _of_marl(method, dataset=dataset or 0, count_dataset=count_dataset)
    if out is not None:
        check_writable(out)
    if (layer is None) == (network is None):
        raise OptionError("expected --layer L or --network N, one of them")
    if network is not None:
        search_network(
            network,
            problem_of,
            lambda more: chosen_searcher(method, {**options, **more}),
            budget,
            seed,
            out,
            as_json,
            objective,
            carry,
        )
        return
    if carry is not None:
        raise OptionError("--carry: a single layer has none before it; give --network N")
    assert layer is not None
    searcher = chosen_searcher(method, options)
    _run(problem_of(layer), searcher, budget, seed, out, as_json)


def _of_marl(method: str | None, *words: str | None, **options: Any) -> dict[str, Any]:
    """Options that only the method marl takes.

    Raises:
        OptionError: Another method is asked for.
    """
    for name, value in zip(("agents", "learner"), words, strict=False):
        if value is not None:
            options[name] = value
    if options and method not in (None, "marl"):
        given = ", ".join("--" + name.replace("_", "-") for name in options)
        raise OptionError(f"{given}: only the method marl has agents, not {method}")
    return options


def _on_ray(method: str | None, address: str, learner: Any) -> dict[str, Any]:
    """The option that trains on a Ray cluster.

    Raises:
        OptionError: The search does not run on Ray.
        RayConnectionError: The address is none.
    """
    from runs import check_ray_address

    if method not in (None, "marl") or learner != "rllib":
        raise OptionError(
            "--ray-address: only the learner rllib of the method marl trains on Ray; add --learner "
            "rllib, or search with any method on a cluster by mapper compare --ray-address"
        )
    check_ray_address(address)
    return {"ray_address": address}


def _run(
    problem: Problem,
    searcher: Searcher,
    budget: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Search, print, write; nothing is written unless a feasible mapping was found."""
    import sys

    from mapper.manifest import search_manifest
    from mapper.result_files import write_result
    from mapper.search import run_search
    from mapper.show.progress import SearchProgress
    from mapper.show.search import print_nothing_found, print_result, result_values

    for doubt in problem.doubts:
        typer.echo(f"warning: {doubt}", err=True)
    if not as_json:
        tell(
            f"Searching {problem.layer.name} for {problem.objective.name} with {searcher.name}: "
            f"{budget:,} samples of {float(problem.space.size):.3g} mappings, "
            f"cost model {problem.cost_model.name}"
        )
    quiet = as_json and not sys.stderr.isatty()
    with SearchProgress(budget, problem.objective.unit, quiet) as progress:
        outcome = run_search(problem, searcher, budget, seed, progress.update)
    manifest: dict[str, Any] = plain(search_manifest(problem, searcher, budget, seed, outcome))
    if as_json:
        print_json(result_values(problem, outcome, manifest))
    else:
        print_result(problem, outcome)
    if problem.best_action is None:
        print_nothing_found(problem)
        raise typer.Exit(1)
    if out is not None:
        best = problem.space.decode(problem.best_action[None])[0]
        write_result(out, problem.layer, best, manifest)
        tell(f"wrote {out}/mapping.yaml, mapping.m, manifest.json")
