"""``mapper explore``: many chips for one network."""

from __future__ import annotations

import sys
from collections.abc import Container, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

import cost_models
import layers
from mapper.commands import completion
from mapper.commands.explore_options import (
    DesignOptions,
    FrontOptions,
    JudgingOptions,
    SearchedDesigns,
)
from mapper.commands.options import OptionError
from mapper.commands.problem_options import ModelledChip
from mapper.commands.stay_options import StayOptions
from mapper.commands.work_options import RayWork
from marl_common import suggest, takes_records
from marl_runs import check_ray_address, go_on_with, tell

if TYPE_CHECKING:
    from mapper.explore.design_space import DesignSpace
    from mapper.explore.exploration import Exploration, ExplorePlan

DRAWN = 1_000
"""Designs that NSGA-II tries of more than all can be tried of, where nothing is said."""


@takes_records
def explore(
    *,
    network: Annotated[
        str,
        typer.Option(
            help="A network of the zoo, or a file: .onnx, .yaml, .csv.",
            autocompletion=completion.networks,
        ),
    ],
    designs: SearchedDesigns,
    chip: ModelledChip,
    judging: JudgingOptions,
    work: RayWork,
    files: FrontOptions,
    bound: Annotated[
        bool,
        typer.Option(
            "--bound",
            help="No designs: the least bytes over DRAM's boundary of the network, or of a layer "
            "given in its place, over the capacities of --l2, proven within --gap, for all chips.",
        ),
    ] = False,
) -> None:
    """Map a network on many chips, and find those that no other one beats.

    The same command goes on where it stopped. Exit code 1: no design meets the limits.
    """
    if bound:
        from mapper.commands.explore_bound import check_bound, explore_bound

        others = {
            "--cost-model": chip.model() != "exact",
            "--ray-address": work.ray_address is not None,
        }
        capacities = check_bound(designs, judging, files, others)
        explore_bound(network, chip, capacities, judging.gap, work, files)
        return
    from mapper.explore.design_space import DesignSpace
    from mapper.explore.exploration import NoDesignError

    plan = _plan(network, designs, chip.model(), judging)
    priced = _wires_priced(judging.wires, plan)
    values = designs.values()
    _check_not_set(chip.sets, values)
    space = DesignSpace(chip.chip(), values, priced)
    plan = _with_stay(plan, space, judging)
    way = designs.way(space)
    files.check()
    if work.ray_address is not None:
        check_ray_address(work.ray_address)
    try:
        begun = _begun(plan, space, way, designs.designs)
        _tell_doubts(plan, space)
        done = _done(plan, space, begun, designs.designs, work, files.as_json)
        if done is None:
            tell(go_on_with())
            raise typer.Exit(1)
        files.show(done)
    except NoDesignError as error:
        tell(str(error))
        raise typer.Exit(1) from None


def _check_not_set(sets: Sequence[str], swept: Container[str]) -> None:
    """Check that no field is swept that ``--set`` gives.

    Raises:
        OptionError: One is.
    """
    for path in (text.partition("=")[0].strip() for text in sets):
        short = (field for field, paths in cost_models.SHORT_PATHS.items() if path in paths)
        if any(name in swept for name in (path, *short, *cost_models.SHORT_PATHS.get(path, ()))):
            raise OptionError(f"--set {path}: a range sweeps it, too; give one of them")


def _plan(
    network: str, designs: SearchedDesigns, cost_model: str, judging: DesignOptions
) -> ExplorePlan:
    """What is explored; every mistake is found here.

    Raises:
        ValueError: An option's, layer's or cost model's error.
    """
    from mapper.explore.design_figures import objectives_of
    from mapper.explore.design_run import Workload
    from mapper.explore.exploration import ExplorePlan, check_area
    from mapper.pretrained.weights import agents_of
    from mapper.search.network_runs import shapes

    names = objectives_of(designs.objectives)
    judging.check()
    model = cost_models.load(cost_model)
    limits = designs.limits()
    agents_of(judging.pretrained)
    found = shapes(network)
    workload = Workload(
        tuple(shape.layer for shape in found),
        tuple(shape.count for shape in found),
        model.name,
        dict(getattr(model, "options", {})),
    )
    plan = ExplorePlan(
        network, workload, names, **limits, pretrained=judging.pretrained, seed=designs.seed,
        gap=judging.gap, timeout=judging.timeout,
    )  # fmt: skip
    check_area(plan)
    return plan


def _with_stay(plan: ExplorePlan, space: DesignSpace, stay: StayOptions) -> ExplorePlan:
    """The same with tensors that may stay in L2, where they may.

    Raises:
        OptionError: The options mean nothing of designs, or another one proposes mappings, or
            limits a proof.
        ValueError: The network has no edges, or a chip, model or objective cannot be.
    """
    stay.check_words()
    if stay.fuse == "tiles":
        raise OptionError("--fuse tiles: fuses layers of one chip, expected none or keep")
    if stay.counted and stay.fuse == "none":
        raise OptionError("--passes counted: layers are mapped alone; give --fuse keep")
    if stay.fuse == "none":
        return plan
    from dataclasses import fields, replace

    from mapper.explore.exploration import ExplorePlan
    from mapper.explore.kept_design import KeptWorkload
    from mapper.staying.kept_network import check_keep

    usual = {one.name: one.default for one in fields(ExplorePlan)}
    for name in ("pretrained", "timeout"):
        if getattr(plan, name) != usual[name]:
            raise OptionError(f"--fuse keep: takes no --{name}; leave it out")
    options = plan.workload.cost_model_options
    check_keep(space.base, plan.workload.cost_model, options, plan.aims[0])
    kept = KeptWorkload(layers.graph_of(plan.network), options, stay.counted, plan.gap)
    return replace(plan, kept=kept)


def _wires_priced(wires: str, plan: ExplorePlan) -> bool:
    """Whether wires and ports have a price: where they shall, and the model knows the chip's area.

    Raises:
        OptionError: It is neither on nor off.
    """
    if wires not in ("on", "off"):
        raise OptionError(
            f"--wires: got {wires!r}, expected on or off.{suggest(wires, ('on', 'off'))}"
        )
    return wires == "on" and "area_um2" in cost_models.capabilities_of(plan.workload.model()).needs


def _begun(
    plan: ExplorePlan, space: DesignSpace, how: str, designs: int | None
) -> Exploration | None:
    """The designs, before anything is stored; None where NSGA-II draws them.

    Raises:
        AcceleratorError: There is no such chip.
        CostModelError: The cost model knows no lists of levels.
        NoDesignError: None meets the limit on area.
    """
    from mapper.explore.exploration import Exploration

    cost_models.check_depth(plan.workload.model(), space.base)
    if how == "nsga2":
        space.design(0)
        return None
    return Exploration.of(
        plan, space.draw(designs or 0, plan.seed) if how == "uniform" else space.all()
    )


def _tell_doubts(plan: ExplorePlan, space: DesignSpace) -> None:
    """On standard error: what of the smallest and of the largest design the agents never met."""
    from mapper.pretrained.cases import doubts_of
    from mapper.pretrained.weights import agents_of

    model = plan.workload.model()
    ends = [space.design(place).chip for place in (0, space.size - 1)]
    if plan.kept is not None:  # no agents there
        return
    agents = agents_of(plan.pretrained)
    found = [
        doubt
        for chip in dict.fromkeys(ends)
        for doubt in doubts_of(agents, plan.workload.problem(0, chip, plan.aims[0], model))
    ]
    for doubt in dict.fromkeys(found):
        tell(doubt)


def _done(
    plan: ExplorePlan,
    space: DesignSpace,
    begun: Exploration | None,
    designs: int | None,
    work: RayWork,
    as_json: bool,
) -> Exploration | None:
    """The finished exploration; None where the person asked to stop."""
    from mapper.explore.exploration import Exploration
    from mapper.explore.exploration import explore as explore_all
    from mapper.explore.generations import draw_generations
    from marl_runs import SilentReporter, Store, ray_session, run_all

    quiet = SilentReporter() if as_json and not sys.stderr.isatty() else None
    with Store.open(work.store) as opened, ExitStack() as ends:
        if work.ray_address is not None:  # one connection for all rounds
            ends.enter_context(ray_session(work.ray_address, work.processes))
        run = partial(
            run_all,
            store=opened,
            workers=work.processes,
            ray_address=work.ray_address,
            reporter=quiet,
        )
        if begun is None:
            drawn = draw_generations(plan, space, designs or DRAWN, opened, run)
            if drawn is None:
                return None
            begun = Exploration.of(plan, drawn)
        return None if explore_all(begun, opened, run).stopped else begun
