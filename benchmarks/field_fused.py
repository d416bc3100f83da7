"""AccelForge's fused mapper beside `--fuse tiles`, on five graphs under the same rules.

    python -m benchmarks field --make                   # AccelForge's environment, once
    python -m benchmarks field_fused

The chip is `edge` as in `python -m benchmarks field`, and the energy [nJ] is least. Both answers
are priced by both models: `theirs_by_tool` and `theirs`; `ours`, the better of the default space
and of its whole factors, and of the latter (`whole`) what AccelForge says of its export,
`whole_by_tool`, where it can be written. AccelForge counts no leakage of PEs. Times [s] are
AccelForge's without its start, and of both of our searches, on one core.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import marl_mapper
from benchmarks.export_cases import Case
from benchmarks.export_counts import cause_of, run_accelforge
from benchmarks.export_groups import GroupCase
from benchmarks.field.answer import ToolError
from benchmarks.field.cases import PLAIN, choices_beyond
from benchmarks.field.command import HOME, asked, python_of
from benchmarks.field.fused_graphs import (
    CHIP,
    GRAPHS,
    FusedCase,
    FusedForge,
    FusedReader,
    PartAnswer,
)
from benchmarks.field.row import SAME, digits
from benchmarks.frame import Row, Table, refuse, show
from layers import NetworkGraph
from mapper.export.fused_accelforge import FusedNests, fused_files
from mapper.export.fused_source import group_nests, groups_of_steps
from mapper.export.loop_nest import ExportError, loop_nest
from mapper.staying.kept_network import KeptNetwork
from mapper.staying.network_result import NodeResult

COLUMNS = (
    "graph", "objective", "theirs_by_tool", "theirs", "theirs_cpu_s", "theirs_s", "ours", "bound",
    "ours_cpu_s", "ours_s", "whole", "whole_by_tool", "ratio", "their_tiles", "our_tiles", "why",
)  # fmt: skip
RULES = {"double_buffer": False, **PLAIN}


class Found(NamedTuple):
    """Our answers, of the default space and of whole factors, and how long both took [s]."""

    free: KeptNetwork
    whole: KeptNetwork
    cpu_s: float
    wall_s: float


def searched(graph: NetworkGraph) -> Found:
    """Our optimum in two spaces."""
    cpu, wall = time.process_time(), time.perf_counter()
    free, whole = (
        marl_mapper.map_network(
            graph, CHIP, "energy", fuse="tiles", gap=0.0, space=space, cost_model=dict(RULES)
        )
        for space in ({}, {"tiles": "divisors"})
    )
    return Found(free, whole, time.process_time() - cpu, time.perf_counter() - wall)


def pieces(found: KeptNetwork) -> list[GroupCase]:
    """Groups of an answer, and its other layers each by itself, as they are exported.

    Raises:
        ExportError: AccelForge has no words for one.
    """
    chip, cases = found.chip, list[GroupCase]()
    for group in groups_of_steps(chip, found.best.steps):
        some = [one.parts[0] for one in group.fused]
        own = [Case(part.layer, chip, known.mapping) for part, known in some]
        cases.append(GroupCase("group", group_nests(group), own, [0] * len(own)))
    for step in found.best.steps:
        if step.fused is None and step.known is not None:
            case = Case(step.node.layer, chip, step.known.mapping)
            nest = loop_nest(case.layer, chip, case.mapping)
            alone = FusedNests(chip.to_levels(), (nest,), (1, 1), (step.resident,), frozenset())
            cases.append(GroupCase("layer", alone, [case], [0]))
    return cases


def rules_of(cases: list[GroupCase]) -> str:
    """The rules by which AccelForge counts an answer of ours otherwise."""
    found = set()
    for group in cases:
        for place, case in enumerate(group.cases):
            ours, theirs = group.exact(place), group.by_rules(place)
            differ = {key[1] for key, count in ours.items() if theirs[key] != count}
            found |= {cause_of(case, "accelforge", tensor) for tensor in differ}
    return "; ".join(sorted(found))


def tiles_of(step: NodeResult) -> str:
    """How a layer of ours is fused, or what of it stays."""
    if step.fused is None:
        return " and ".join(sorted(step.resident)) + " in L2" if step.resident else "alone"
    rows, columns = step.fused.tile
    keys = f" of {step.fused.keys} keys" if step.fused.keys else ""
    stays = ", filter stays" if step.fused.filter_stays else ""
    return f"{step.fused.tiles} tiles of {rows} x {columns}{keys}{stays}"


def their_tiles(answer: PartAnswer) -> str:
    """The same of AccelForge's."""
    tiles = " and ".join(f"{n} tiles along {rank}" for rank, n in answer.tiles.items())
    here = " and ".join(answer.here)
    return ", ".join([*([tiles] if tiles else []), *([f"{here} in L2"] if here else [])]) or "alone"


def keys(given: Any) -> Iterator[tuple[str, ...]]:
    """The graphs."""
    try:
        given.python = python_of(FusedForge(), given.home, make=False)
    except ToolError as error:
        refuse(str(error))
    yield from ((graph, "energy") for graph in GRAPHS if graph in given.graphs)


def row_of(given: Any, graph: str, objective: str) -> Row:
    """Both answers by both models."""
    case, found = FusedCase(graph, objective), searched(GRAPHS[graph])
    best = min((found.free.best, found.whole.best), key=lambda one: one.value)
    row: Row = {
        "ours": digits(best.value),
        "bound": digits(min(found.free.best.bound, best.value)),
        "ours_cpu_s": round(found.cpu_s, 2),
        "ours_s": round(found.wall_s, 2),
        "whole": digits(found.whole.best.value),
        "our_tiles": "; ".join(map(tiles_of, best.steps)),
    }
    try:
        written = pieces(found.whole)
        said = run_accelforge([fused_files(one.nests) for one in written], given.python)
        row["whole_by_tool"] = digits(1e9 * sum(one["energy_j"] for one in said))
        row["why"] = rules_of(written)
    except ExportError as error:
        row["why"] = str(error).split("; add ")[0]
    folder = Path(given.home) / "cases" / "fused" / "".join(c for c in graph if c.isalnum())
    try:
        said = asked(FusedForge(), case, given.python, folder, given.limit)
        row |= {
            "theirs_by_tool": digits(1e9 * said["value"]),
            "theirs_cpu_s": round(said["cpu_s"], 2),
            "theirs_s": round(said["wall_s"], 2),
        }
        answer = FusedReader(case).read(said["nodes"])
    except ToolError as error:
        return row | {"why": str(error)}
    theirs = sum(one.energy for one in answer)
    row |= {"theirs": digits(theirs), "ratio": round(best.value / theirs, 5)}
    row["their_tiles"] = "; ".join(map(their_tiles, answer))
    if theirs < best.value * (1 - SAME):
        row["why"] = "; ".join(choices_beyond(one.mapping) for one in answer)
    return row


def told(rows: list[Row], _: Any) -> bool:
    """Print the table of docs/field.md; true where ours is higher by more than a hundredth."""
    names = ("graph", "theirs_by_tool", "theirs", "ours", "ratio", "theirs_cpu_s", "ours_cpu_s")
    show([{name: row[name] for name in names} for row in rows])
    return any(float(row["ratio"] or 0) > 1.01 for row in rows)


TABLE = Table(
    __doc__,
    COLUMNS,
    keys,
    row_of,
    "fused-accelforge.csv",
    {
        "graphs": list(GRAPHS),
        "home": (HOME, "folder of environments and files"),
        "limit": (600, "processor time of AccelForge's mapper [s]"),
    },
    {"graphs": ["GPT-2's MLP, 1 token"]},
    told=told,
)
