"""``mapper explore``: many chips for one network."""

from __future__ import annotations

import math
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapper.commands import completion
from mapper.commands.options import (
    DEFAULT_STORE,
    AcceleratorOption,
    CostModelOption,
    JsonFlag,
    ModelOptions,
    OptionError,
    SeedOption,
    Sets,
    StoreOption,
    WorkersOption,
    chip_of,
    cores,
    cost_model_with,
    picture_file,
)
from mapper.commands.stay_options import FuseOption, PassesOption, check_words
from mapper.output import check_writable
from marl_runs import go_on_with, tell

if TYPE_CHECKING:
    from mapper.explore.design_ranges import Value
    from mapper.explore.design_space import DesignSpace
    from mapper.explore.exploration import Exploration, ExplorePlan, RunAll
    from marl_runs import Store

GRID = 5_000
"""Designs up to which all of them are tried where nothing is said."""
DRAWN = 1_000
"""Designs that NSGA-II tries of more, where nothing is said."""
DRAWS = ("all", "uniform", "nsga2")
_PANEL = "Ranges: 64..1024 (powers of two), 64..1024:64 (steps), 64,96 (lists); 16k, 1M"
_Range = partial(typer.Option, rich_help_panel=_PANEL, metavar="RANGE", show_default="the chip's")


def explore(
    network: Annotated[
        str,
        typer.Option(
            help="A network of the zoo, or a file: .onnx, .yaml, .csv.",
            autocompletion=completion.networks,
        ),
    ],
    pes: Annotated[str | None, _Range(help="PEs.")] = None,
    l1: Annotated[str | None, _Range(help="L1 of one PE [B].")] = None,
    l2: Annotated[str | None, _Range(help="Shared L2 [B].")] = None,
    noc: Annotated[str | None, _Range(help="L2 to the PEs [B/cycle].")] = None,
    offchip: Annotated[str | None, _Range(help="DRAM to L2 [B/cycle].")] = None,
    lanes: Annotated[str | None, _Range(help="MACs of one PE in a cycle.")] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep",
            rich_help_panel=_PANEL,
            metavar="PATH=RANGE",
            help="Any field by its path: levels.L2.bytes=16k..1M, or axes: "
            "levels.GLB.fanout.axes=4x4,8x8; may be repeated.",
        ),
    ] = None,
    objectives: Annotated[
        str,
        typer.Option(
            "--objectives", "-o", help="Two or three of latency, energy, edp, area, power."
        ),
    ] = "edp,area",
    max_area: Annotated[
        str | None, typer.Option(metavar="AREA", help="Largest area, such as 5mm2.")
    ] = None,
    max_power: Annotated[
        str | None, typer.Option(metavar="POWER", help="Largest power, such as 500mW.")
    ] = None,
    designs: Annotated[
        int | None, typer.Option(min=1, max=10**6, help="Try so many designs, drawn by the seed.")
    ] = None,
    draw: Annotated[
        str | None,
        typer.Option(
            help="all, uniform, or nsga2: each generation from the best of those before.",
            show_default="all; uniform with --designs; nsga2 above 5,000 designs",
        ),
    ] = None,
    seed: SeedOption = 0,
    accelerator: AcceleratorOption = "edge",
    cost_model: CostModelOption = "exact",
    cost_model_option: ModelOptions = None,
    wires: Annotated[
        str,
        typer.Option(metavar="on|off", help="Whether wires and ports cost energy and area."),
    ] = "on",
    pretrained: Annotated[
        str, typer.Option(metavar="auto|FILE", help="Agents that propose mappings.")
    ] = "auto",
    gap: Annotated[
        float,
        typer.Option(min=0, help="Prove until a design's mappings are at most this share off."),
    ] = 0.01,
    timeout: Annotated[
        float, typer.Option(min=0, help="Seconds for the proof of one layer; 0 proves nothing.")
    ] = 20.0,
    fuse: FuseOption = "none",
    passes: PassesOption = "free",
    store: StoreOption = DEFAULT_STORE,
    sets: Sets = None,
    workers: WorkersOption = 0,
    ray_address: Annotated[
        str | None, typer.Option(help="Work on a Ray cluster instead: auto, HOST:PORT or local.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the designs (.png, .svg or .pdf).")
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every design as a row.")] = None,
    page: Annotated[Path | None, typer.Option(help="Write an HTML page of the front.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for explore.json; the network's page there draws the front."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Map a network on many chips, and find those that no other one beats.

    The same command goes on where it stopped. Exit code 1: no design meets the limits.
    """
    from mapper.explore.design_space import DesignSpace
    from mapper.explore.exploration import NoDesignError
    from marl_runs import SilentReporter, Store, check_ray_address, ray_session, run_all

    ranges = {
        "num_pes": pes,
        "l1_bytes": l1,
        "l2_bytes": l2,
        "noc_bw": noc,
        "offchip_bw": offchip,
        "simd_lanes": lanes,
    }
    plan = _plan(
        network,
        objectives,
        cost_model_with(cost_model, cost_model_option),
        max_area=max_area,
        max_power=max_power,
        pretrained=pretrained,
        seed=seed,
        gap=gap,
        timeout=timeout,
    )
    priced = _wires_priced(wires, plan)
    space = DesignSpace(chip_of(accelerator, sets), _values(ranges, sweep or []), priced)
    check_words(fuse, passes)
    if fuse == "tiles":
        raise OptionError("--fuse tiles: fuses layers of one chip, expected none or keep")
    if passes == "counted" and fuse == "none":
        raise OptionError("--passes counted: layers are mapped alone; give --fuse keep")
    if fuse == "keep":
        plan = _kept(plan, space, counted=passes == "counted")
    how = _how_drawn(space, designs, draw)
    _check_files(plot, csv, page)
    if out is not None:
        check_writable(out)
    if ray_address is not None:
        check_ray_address(ray_address)
    quiet = SilentReporter() if as_json and not sys.stderr.isatty() else None
    try:
        begun = _begun(plan, space, how, designs)
        _tell_doubts(plan, space)
        with Store.open(store) as opened, ExitStack() as ends:
            if ray_address is not None:  # one connection for all rounds
                ends.enter_context(ray_session(ray_address, workers or cores()))
            run = partial(
                run_all,
                store=opened,
                workers=workers or cores(),
                ray_address=ray_address,
                reporter=quiet,
            )
            done = _explored(plan, space, begun, designs, opened, run)
        if done is None:
            tell(go_on_with())
            raise typer.Exit(1)
        _show(done, plot, csv, page, as_json)
        if out is not None:
            _write_for_page(done, out)
    except NoDesignError as error:
        tell(str(error))
        raise typer.Exit(1) from None


def _plan(network: str, objectives: str, cost_model: str, **limits: Any) -> ExplorePlan:
    """What is explored; every mistake is found here.

    Raises:
        ValueError: An option's, layer's or cost model's error.
    """
    import cost_models
    from mapper.explore.design_figures import objectives_of
    from mapper.explore.design_ranges import AREA_UM2, POWER_MW, quantity_of
    from mapper.explore.design_run import Workload
    from mapper.explore.exploration import ExplorePlan, check_area
    from mapper.network_runs import shapes
    from mapper.pretrained.weights import agents_of

    names = objectives_of(objectives)
    for name in ("gap", "timeout"):
        if math.isinf(limits[name]):
            raise OptionError(f"--{name}: got {limits[name]}, expected a finite number")
    model = cost_models.load(cost_model)
    for name, units in (("max_area", AREA_UM2), ("max_power", POWER_MW)):
        text = limits[name]
        flag = "--" + name.replace("_", "-")
        limits[name] = None if text is None else quantity_of(flag, text, units)
    agents_of(limits["pretrained"], model.name)
    found = shapes(network)
    workload = Workload(
        tuple(shape.layer for shape in found),
        tuple(shape.count for shape in found),
        model.name,
        dict(getattr(model, "options", {})),
    )
    plan = ExplorePlan(network, workload, names, **limits)
    check_area(plan)
    return plan


def _kept(plan: ExplorePlan, space: DesignSpace, *, counted: bool) -> ExplorePlan:
    """The same with tensors that may stay in L2.

    Raises:
        OptionError: An option is given that proposes mappings, or limits a proof.
        ValueError: The network has no edges, or a chip, model or objective cannot be.
    """
    from dataclasses import fields, replace

    import layers
    from mapper.explore.exploration import ExplorePlan
    from mapper.explore.kept_design import KeptWorkload
    from mapper.staying.kept_network import USUAL_GAP, check_keep

    usual = {one.name: one.default for one in fields(ExplorePlan)}
    for name in ("pretrained", "timeout"):
        if getattr(plan, name) != usual[name]:
            raise OptionError(f"--fuse keep: takes no --{name}; leave it out")
    check_keep(space.base, plan.workload.cost_model, plan.aims[0])
    graph, gap = layers.graph_of(plan.network), plan.gap or USUAL_GAP
    kept = KeptWorkload(graph, plan.workload.cost_model_options, counted, gap)
    return replace(plan, kept=kept)


def _wires_priced(wires: str, plan: ExplorePlan) -> bool:
    """Whether wires and ports have a price: where they shall, and the model knows the chip's area.

    Raises:
        OptionError: It is neither on nor off.
    """
    from cost_models import capabilities_of
    from marl_common import suggest

    if wires not in ("on", "off"):
        raise OptionError(
            f"--wires: got {wires!r}, expected on or off.{suggest(wires, ('on', 'off'))}"
        )
    return wires == "on" and "area_um2" in capabilities_of(plan.workload.model()).needs


def _values(ranges: dict[str, str | None], sweeps: list[str]) -> dict[str, tuple[Value, ...]]:
    """The values of every swept field.

    Raises:
        ExploreError: A range is none.
        OptionError: A field is swept twice.
    """
    from mapper.explore.design_ranges import swept, values_of
    from mapper.explore.design_space import FIELDS

    found = {
        name: values_of(FIELDS[name], text) for name, text in ranges.items() if text is not None
    }
    for text in sweeps:
        path, values = swept(text)
        if path in found:
            raise OptionError(f"--sweep {path}: is swept twice; give one range, such as 8,16..64")
        found[path] = values
    return found


def _how_drawn(space: DesignSpace, designs: int | None, draw: str | None) -> str:
    """How designs are chosen, of `DRAWS`.

    Raises:
        OptionError: There is no such way, or it does not go with ``--designs``.
    """
    from marl_common import suggest

    if draw is None:
        if designs is None:
            return "all" if space.size <= GRID else "nsga2"
        return "uniform" if designs < space.size else "all"
    if draw not in DRAWS:
        raise OptionError(
            f"--draw: got {draw!r}, expected one of {', '.join(DRAWS)}.{suggest(draw, DRAWS)}"
        )
    if draw == "uniform" and designs is None:
        raise OptionError("--draw uniform: how many? Give --designs N")
    if draw == "all" and designs is not None and designs < space.size:
        raise OptionError(f"--draw all: {space.size:,} designs, but --designs {designs}; drop one")
    return draw


def _begun(
    plan: ExplorePlan, space: DesignSpace, how: str, designs: int | None
) -> Exploration | None:
    """The designs, before anything is stored; None where NSGA-II draws them.

    Raises:
        AcceleratorError: There is no such chip.
        CostModelError: The cost model knows no lists of levels.
        NoDesignError: None meets the limit on area.
    """
    from cost_models import check_depth
    from mapper.explore.exploration import Exploration

    check_depth(plan.workload.model(), space.base)
    if how == "nsga2":
        space.design(0)
        return None
    return Exploration.of(
        plan, space.draw(designs or 0, plan.seed) if how == "uniform" else space.all()
    )


def _tell_doubts(plan: ExplorePlan, space: DesignSpace) -> None:
    """On standard error: what of the smallest and of the largest design the agents never met."""
    from cost_models import Chain
    from mapper.pretrained.cases import doubts_of

    model = plan.workload.model()
    ends = [space.design(place).chip for place in (0, space.size - 1)]
    if isinstance(space.base, Chain) or plan.kept is not None:  # no agents there
        return
    found = [
        doubt
        for chip in dict.fromkeys(ends)
        for doubt in doubts_of(plan.pretrained, plan.workload.problem(0, chip, plan.aims[0], model))
    ]
    for doubt in dict.fromkeys(found):
        tell(doubt)


def _explored(
    plan: ExplorePlan,
    space: DesignSpace,
    begun: Exploration | None,
    designs: int | None,
    store: Store,
    run: RunAll,
) -> Exploration | None:
    """The finished exploration; None where the person asked to stop."""
    from mapper.explore.exploration import Exploration, explore
    from mapper.explore.generations import draw_generations

    if begun is None:
        drawn = draw_generations(plan, space, designs or DRAWN, store, run)
        if drawn is None:
            return None
        begun = Exploration.of(plan, drawn)
    return None if explore(begun, store, run).stopped else begun


def _check_files(plot: Path | None, csv: Path | None, page: Path | None) -> None:
    """Find out before anything is computed whether the files can be written.

    Raises:
        OptionError: A name has another ending than it should.
        OutputError: Its folder cannot be written to.
        ValueError: A library that draws is missing.
    """
    from mapper.report.explore_page import check_page
    from marl_runs import new_figure

    if plot is not None:
        picture_file("--plot", plot)
    for flag, path, ending in (("--csv", csv, ".csv"), ("--page", page, ".html")):
        if path is not None:
            if path.suffix.lower() != ending:
                raise OptionError(f"{flag} {path}: expected a name that ends in {ending}")
            check_writable(path.parent, flag)
    if plot is not None or page is not None:
        new_figure(1, 1)
    if page is not None:
        check_page()


def _show(
    done: Exploration, plot: Path | None, csv: Path | None, page: Path | None, as_json: bool
) -> None:
    from cost_models import prices_wires
    from mapper.explore.design_rows import front_table, write_csv
    from mapper.explore.front_plot import write_plot
    from mapper.report.explore_page import write_page
    from mapper.show.front_table import notes_of, print_exploration
    from marl_runs import print_json

    if as_json:
        priced = prices_wires(done.designs[0].chip)
        front = front_table(done)
        print_json(
            {"network": done.plan.network, "wires": priced, "front": front, **done.counted()}
        )
    else:
        print_exploration(done)
    if csv is not None:
        write_csv(csv, done)
    if plot is not None:
        write_plot(plot, done)
    if page is not None:
        write_page(page, done, notes_of(done))
    for path in (csv, plot, page):
        if path is not None:
            tell(f"wrote {path}")


def _write_for_page(done: Exploration, out: Path) -> None:
    from mapper.explore.explore_file import NAME, write_explored

    out.mkdir(parents=True, exist_ok=True)
    write_explored(out / NAME, done)
    tell(f"wrote {out / NAME}; `mapper report {out}` draws it on the network's page")
