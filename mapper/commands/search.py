"""``mapper search``: a good mapping of one layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapper.commands import completion
from mapper.commands.options import (
    MOST_SAMPLES,
    AcceleratorOption,
    CertificateOption,
    CostModelOption,
    DataflowOption,
    GapOption,
    JsonFlag,
    L1Bytes,
    L2Bytes,
    MaxMemoryOption,
    ModelOptions,
    NocBw,
    NumPes,
    ObjectiveOption,
    OffchipBw,
    OptionalLayer,
    OptionError,
    SeedOption,
    Sets,
    SimdLanes,
    SpaceOption,
    TimeoutOption,
    chip_of,
    cost_model_with,
    pairs_of,
    space_of,
)
from mapper.commands.pass_options import BatchOption, CacheOption, TokensOption
from mapper.commands.stay_options import FuseOption, InputsOption, PassesOption, check_words
from marl_common import MOST_THREADS

if TYPE_CHECKING:
    from baselines import Searcher
    from layers import Layer
    from mapper.problem_spec import ProblemSpec

MARL = ("marl", "marl-rllib")
"""Methods that have agents."""
PRETRAINED = ("auto", "marl", "zero-shot")
"""Methods that may begin with what pre-trained agents propose."""


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
    tokens: TokensOption = None,
    cache: CacheOption = None,
    batch: BatchOption = None,
    fuse: FuseOption = "none",
    passes: PassesOption = "free",
    inputs: InputsOption = 1,
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
            help="Searcher, such as ga or random, or module:Class of your own.",
            show_default="auto: a proof, see docs",
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
    pretrained: Annotated[
        str | None,
        typer.Option(
            metavar="none|FILE",
            help="Of auto, marl and zero-shot: agents of `mapper pretrain` to begin with, or none.",
            show_default="those of the package",
        ),
    ] = None,
    dataset: Annotated[
        int | None,
        typer.Option(min=3, help="Of marl: cluster the agents from so many random samples first."),
    ] = None,
    count_dataset: Annotated[
        bool, typer.Option("--count-dataset", help="Those samples count against the budget.")
    ] = False,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_SAMPLES,
            help="Samples to spend (on each layer), to the last one.",
            show_default="20,000; of auto: none, where it proves or ends by time",
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many samples without a lower value."),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:FOLDER",
            help="Draw the best value while it runs: tensorboard:FOLDER or mlflow:FOLDER.",
        ),
    ] = None,
    gap: GapOption = 0.0,
    timeout: TimeoutOption = None,
    max_memory: MaxMemoryOption = None,
    certificate: CertificateOption = None,
    no_proof: Annotated[
        bool,
        typer.Option("--no-proof", help="Do not say how far the answer is from the optimum."),
    ] = False,
    seed: SeedOption = 0,
    accelerator: AcceleratorOption = "edge",
    cost_model: CostModelOption = "exact",
    cost_model_option: ModelOptions = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", metavar="NAME=VALUE", help="Such as max_latency_cycles=1e6; repeatable."
        ),
    ] = None,
    space: SpaceOption = None,
    dataflow: DataflowOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for mapping.yaml, mapping.m, manifest.json; else none."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|URL",
            help="Keep the search in this store (an SQLite file, or any database URL); a finished "
            "one is not done again. A network is always kept: in --out, or runs.sqlite.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_THREADS,
            help="Of --network: processes of one thread each, for layers that take nothing over.",
            show_default="this process",
        ),
    ] = None,
    num_pes: NumPes = None,
    l1_bytes: L1Bytes = None,
    l2_bytes: L2Bytes = None,
    noc_bw: NocBw = None,
    offchip_bw: OffchipBw = None,
    simd_lanes: SimdLanes = None,
    sets: Sets = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every figure, its bound, and all accesses.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Find the best mapping of a layer, and prove that none is better.

    It prints how far the answer is from the optimum, the loop nest, and the costs.
    Ctrl-C ends the search and prints the best mapping so far; exit code 1: none was feasible.
    """
    import baselines
    import cost_models
    import layers
    from mapper.commands.proof_options import (
        After,
        budget_and_options,
        check_certificate_file,
        check_proof,
        time_of_search,
    )
    from mapper.commands.search_layer import search_layer
    from mapper.methods import chosen_method
    from mapper.output import check_writable
    from mapper.problem_spec import ProblemSpec, accelerator_name
    from mapper.search_run import SearchRun
    from marl_runs import check_board

    overrides = {
        "num_pes": num_pes,
        "l1_bytes": l1_bytes,
        "l2_bytes": l2_bytes,
        "noc_bw": noc_bw,
        "offchip_bw": offchip_bw,
        "simd_lanes": simd_lanes,
    }
    hardware = chip_of(accelerator, sets, **overrides)
    model = cost_models.load(cost_model_with(cost_model, cost_model_option))
    model_options = dict(getattr(model, "options", {}))
    space_options = space_of(space, dataflow, cost_model)
    limits = pairs_of("--limit", limit)
    chip = accelerator_name(accelerator, overrides, sets)

    def spec_of(layer: Layer, name: str) -> ProblemSpec:
        return ProblemSpec(
            layer, name, hardware, chip, objective, model.name, model_options, space_options, limits
        )

    check_words(fuse, passes)
    of_method = pairs_of("--option", option)
    options = _of_marl(method, agents, learner)
    if ray_address is not None:
        options |= _on_ray(method, ray_address, options.get("learner"))
    if dataset is not None or count_dataset:
        options |= _of_marl(method, dataset=dataset or 0, count_dataset=count_dataset)
    chosen = chosen_method(method, has_agents=bool(options) or carry is not None)
    options |= _begun_by(pretrained, chosen) | of_method
    of_proof: dict[str, Any] = {"gap": gap, "timeout": timeout, "max_memory": max_memory}
    check_proof(gap, timeout, max_memory)
    if out is not None:
        check_writable(out)
    if log is not None:
        check_board(log)
    if (layer is None) == (network is None):
        raise OptionError("expected --layer L or --network N, one of them")
    if network is not None:
        network = layers.in_pass(network, tokens, cache, batch)
    first = layers.parse(layer) if layer is not None else layers.layers_of(network or "")[0]
    samples, options = budget_and_options(
        chosen, budget, options, of_proof, spec_of(first, layer or first.name)
    )
    what: dict[str, Any] = {
        "method": chosen,
        "budget": samples,
        "seed": seed,
        "options": options,
        "idle": patience,
        "timeout": time_of_search(chosen, timeout, spec_of(first, first.name)),
        "log": log,
    }
    if certificate is not None:
        check_certificate_file(certificate, network, spec_of(first, first.name))
    if fuse != "none":
        from mapper.commands.search_kept import check_kept, search_kept

        refused = {
            "--option": of_method, "--carry": carry, "--limit": limits, "--budget": budget,
            "--patience": patience, "--log": log, "--timeout": timeout,
            "--certificate": certificate, "--dataflow": dataflow, "--max-memory": max_memory,
        }  # fmt: skip
        check_kept(spec_of(first, first.name), method, refused, network, fuse, inputs)
        search_kept(
            network or "",
            spec_of(first, first.name).complete(),
            fuse,
            inputs=inputs,
            counted=passes == "counted",
            gap=gap,
            store=store,
            workers=workers,
            out=out,
            as_json=as_json,
        )
        return
    if inputs > 1:
        raise OptionError(f"--inputs {inputs}: runs share nothing without --fuse keep; give it")
    if passes == "counted" and network is None:
        raise OptionError("--passes counted: a single layer has no others; give --network N")
    if network is not None:
        from mapper.commands.search_network import search_network  # and with it the store

        search_network(
            network,
            lambda layer: spec_of(layer, layer.name),
            what,
            carry,
            objective,
            store=store,
            workers=workers or 1,
            out=out,
            as_json=as_json,
            counted=passes == "counted",
            after=After(gap, timeout, certificate),
        )
        return
    whole = {"carry": carry, "workers": workers, "tokens": tokens, "cache": cache, "batch": batch}
    for flag, given in whole.items():
        if given is not None:
            raise OptionError(f"--{flag}: a single layer has one search; give --network N")
    assert layer is not None
    spec = spec_of(first, layer).complete()
    _check_agents(baselines.load(what["method"], **options), spec)
    after = After(gap, timeout, certificate) if certificate or not no_proof else None
    search_layer(SearchRun(spec, **what), store, out, after, as_json, verbose)


def _check_agents(searcher: Searcher, spec: ProblemSpec) -> None:
    """Find the agents that are asked for before anything is said or done.

    Raises:
        AssignmentError: A file cannot be read or does not fit the layer, or there are too many.
    """
    agents = getattr(searcher.config, "agents", None)
    if agents not in (None, "auto"):
        from mapper.marl.agents import resolve

        resolve(agents, spec.build())


def _of_marl(method: str | None, *words: str | None, **options: Any) -> dict[str, Any]:
    """Options that only the method marl takes.

    Raises:
        OptionError: Another method is asked for.
    """
    for name, value in zip(("agents", "learner"), words, strict=False):
        if value is not None:
            options[name] = value
    if options and method not in (None, *MARL):
        given = ", ".join("--" + name.replace("_", "-") for name in options)
        raise OptionError(f"{given}: only the method marl has agents, not {method}")
    return options


def _begun_by(pretrained: str | None, method: str) -> dict[str, Any]:
    """The option that names pre-trained agents, once their file is known to be good.

    Raises:
        OptionError: The method begins with none.
        PretrainedError: The file holds no agents.
    """
    if pretrained is None:
        return {}
    if method not in PRETRAINED:
        raise OptionError(
            f"--pretrained: {method} begins without agents; expected it with one of the methods "
            f"{', '.join(PRETRAINED)}"
        )
    from mapper.pretrained.weights import agents_of

    agents_of(pretrained, "exact")
    return {"pretrained": pretrained}


def _on_ray(method: str | None, address: str, learner: Any) -> dict[str, Any]:
    """The option that trains on a Ray cluster.

    Raises:
        OptionError: The search does not run on Ray.
        RayConnectionError: The address is none.
    """
    from marl_runs import check_ray_address

    if method != "marl-rllib" and (method not in (None, "marl") or learner != "rllib"):
        raise OptionError(
            "--ray-address: only the learner rllib of the method marl trains on Ray; add --learner "
            "rllib, or search with any method on a cluster by mapper compare --ray-address"
        )
    check_ray_address(address)
    return {"ray_address": address}
