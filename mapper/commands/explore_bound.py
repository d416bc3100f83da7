"""``mapper explore --bound``: the least DRAM traffic of a network over the capacity of L2."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import typer

import layers
from layers import NetworkGraph
from mapper.commands.explore_options import FrontOptions, JudgingOptions, SearchedDesigns
from mapper.commands.options import OptionError
from mapper.commands.problem_options import ModelledChip
from mapper.commands.work_options import RayWork
from mapper.explore.design_rows import write_rows
from mapper.explore.traffic_curve import (
    SCHEDULES,
    CurvePoint,
    bounding_chip,
    draw_curve,
    traffic_curve,
)
from mapper.staying.kept_figures import proven
from mapper.staying.kept_network import stored_proofs
from mapper.staying.network_result import NetworkStoppedError
from marl_runs import Column, SilentReporter, Store, go_on_with, print_json, print_rows, tell


def check_bound(
    designs: SearchedDesigns,
    judging: JudgingOptions,
    files: FrontOptions,
    others: Mapping[str, bool],
) -> list[int]:
    """The capacities, where all that is given says something of the curve.

    Args:
        designs: Of which L2's range is taken alone.
        judging: Of which the gap is taken alone.
        files: Of which the picture, the rows and JSON are.
        others: Options by what they say, and whether one is given.

    Raises:
        OptionError: One says something else, or L2 has no range.
        ValueError: A range is none.
    """
    judging.check()
    refused = {
        "ranges but --l2, objectives and draws": designs != SearchedDesigns(l2=designs.l2),
        "way to judge but --gap": judging != JudgingOptions(gap=judging.gap),
        "--page and --out": files.page is not None or files.out is not None,
        **others,
    }
    for name, given in refused.items():
        if given:
            raise OptionError(f"--bound: takes no {name}; leave it out")
    if designs.l2 is None:
        raise OptionError("--bound: over which capacities? Give --l2, such as --l2 1k..1M")
    return [int(value) for value in designs.values()["l2_bytes"]]


def explore_bound(
    network: str,
    chip: ModelledChip,
    capacities: list[int],
    gap: float,
    work: RayWork,
    files: FrontOptions,
) -> None:
    """Prove the least traffic at each capacity, and print, write and draw it.

    The same command goes on where it stopped.

    Raises:
        ValueError: The network or the chip cannot be.
    """
    graph, loaded = _graph(network), chip.chip()
    bounding_chip(loaded, capacities[0])
    files.check()
    quiet = SilentReporter() if files.as_json and not sys.stderr.isatty() else None
    with Store.open(work.store) as opened:
        run = stored_proofs(opened, work.processes, quiet)
        try:
            points = traffic_curve(graph, loaded, capacities, run, gap)
        except (NetworkStoppedError, KeyboardInterrupt):
            tell(go_on_with())
            raise typer.Exit(1) from None
    rows = [point.row() for point in points]
    if files.as_json:
        print_json({"network": network, "points": rows})
    else:
        _print(network, points)
    if files.csv is not None:
        write_rows(files.csv, rows)
        tell(f"wrote {files.csv}")
    if files.plot is not None:
        draw_curve(files.plot, network, points)
        tell(f"wrote {files.plot}")
    if not any(point.least for point in points):
        tell("a layer has no mapping in any of these capacities")
        raise typer.Exit(1)


def _graph(network: str) -> NetworkGraph:
    """A network, or a layer as one of a single node."""
    try:
        return layers.graph_of(network)
    except layers.LayerError as error:
        try:
            layer = layers.parse(network)
        except layers.LayerError:
            raise error from None
    read = layer.repeats * layer.C, layer.given_y, layer.given_x
    what = f"input of {layer.name}"
    node = layers.GraphNode(layer.name, layers.NodeKind.MAC, (what,), (layer.output_size,), layer)
    return layers.NetworkGraph((node,), {what: read})


def _print(network: str, points: list[CurvePoint]) -> None:

    rows = [
        {
            "L2": point.capacity,
            **{name: one.bound for name, one in point.least.items()},
            "within": proven(max(one.gap for one in point.least.values())) if point.least else "-",
        }
        for point in points
    ]
    columns = [Column(name, words, "B", digits=4) for name, words in SCHEDULES.items()]
    print_rows(
        f"{network}: bytes over DRAM's boundary that nothing is below", rows, "",
        [Column("L2", "L2", "B"), *columns, Column("within", "reached", keep=2)],
    )  # fmt: skip
