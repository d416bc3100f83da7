"""Counts of dividing mappings by Timeloop, whose program `timeloop-model` is run here.

A mapping of any depth is written as Timeloop's architecture, problem and mapping (version 0.3), in
one file. On two levels a level `cluster` that keeps nothing stands between L2 and the PEs: its
loops are those of the inner level, so that each cluster walks its own tile. The table of tools was
made without it, clusters lying inside the inner loops, which matters only where both cut an axis of
a sliding window.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, partial
from math import prod
from pathlib import Path

import yaml

import cost_models
from benchmarks import crosscheck_timeloop_rules as rules
from benchmarks.dividing_mapping import (
    COUNTED,
    INPUTS,
    NO_CAUSE,
    Bypass,
    Compared,
    DividingMapping,
    bypass_of,
    case_of,
    counted,
)
from benchmarks.export_rules import Counts, Node
from layers import TENSORS
from mapper.export.loop_nest import MAC, LoopNest, loop_nest
from mapper.export.timeloop_files import NAME, SPACES, problem

STATISTICS = "timeloop-model.stats.txt"
SECONDS = 60.0
MODELS = {
    halo: cost_models.load(
        "exact", halo_time=halo, halo_space="tile", window="box", energy="maestro", area="maestro"
    )
    for halo in ("retain", "none")
}
"""Timeloop counts the box around a strided tile, and every PE's tile apart. Credit between tiles it
gives for the tile before: as `rules.slid`, as `retain` where that is all a buffer holds, and none
where another loop lies inside the sliding one. Where it is none of these, one of the rules in
`crosscheck_timeloop_rules` is why."""
LIKE = {"slide": "equal, as a sliding window"} | {
    halo: f"equal, as halo_time={halo}" for halo in MODELS
}
Found = dict[tuple[str, str, str], int]
"""A figure of the statistics by level, tensor (empty for the MACs) and name."""


class TimeloopError(ValueError):
    """Timeloop's program is not there, or gave no statistics."""


def program_path(given: str) -> str:
    """Where a program is.

    Raises:
        TimeloopError: It is not there.
    """
    found = shutil.which(given)
    if found is None:
        raise TimeloopError(
            f"--timeloop: program {given!r} was not found; expected the path of `timeloop-model`, "
            "built from github.com/NVlabs/timeloop"
        )
    return os.path.realpath(found)


def nest_input(nest: LoopNest) -> Node:
    """What `timeloop-model` reads of a mapping: architecture, problem and mapping."""
    return {
        "architecture": _architecture(nest),
        "problem": problem_of(nest),
        "mapping": [
            *loops_of(nest, lambda name: [name]),
            *kept_in((loops.level, loops.keeps) for loops in nest.levels[:-1]),
        ],
    }


def _architecture(nest: LoopNest) -> Node:
    """The memories, none of which limits anything; one that keeps nothing has a word."""

    def memory(name: str, kind: str, **sizes: int | str) -> Node:
        word = {"width": 8, "block-size": 1, "word-bits": 8}
        return {"name": name, "class": kind, "attributes": {**word, **sizes}}

    parts = [("system", [memory("DRAM", "DRAM", type="LPDDR4")])]
    for outside, loops in nest.inside:
        fanout = nest.fanout(outside.name)
        units = prod(axis.units for axis in fanout)
        name = f"{outside.name}_units" + f"[0..{units - 1}]" * bool(fanout)
        if loops.level != MAC:
            kept = ("SRAM", 1 << 28) if loops.keeps else ("regfile", 1)
            parts.append((name, [memory(loops.level, kept[0], depth=kept[1])]))
            continue
        mac = {"name": "mac", "class": "intmac", "attributes": {"datawidth": 8}}
        if fanout:
            parts.append((name, [mac]))
        else:
            parts[-1][1].append(mac)
    below: list[Node] = []
    for name, local in reversed(parts):
        below = [{"name": name, "local": local} | ({"subtree": below} if below else {})]
    return {"version": 0.3, "subtree": below}


def problem_of(nest: LoopNest) -> Node:
    """The layer in version 0.3, which has other words than the product's 0.4."""
    stated = json.loads(problem(nest).model_dump_json(exclude_none=True))
    spaces = stated["shape"]["data-spaces"] = stated["shape"].pop("data_spaces")
    for space in spaces:
        space["read-write"] = space.pop("read_write", False)
    return {"shape": stated["shape"], "instance": stated["instance"]}


def loops_of(nest: LoopNest, names: Callable[[str], list[str]]) -> Iterator[Node]:
    """A mapping's loops; those of a level are those of the innermost of its memories' names."""
    for outside, loops in nest.inside:
        memories, ones = names(outside.name), dict.fromkeys(loops.order, 1)
        units = dict(ones)
        for spread in loops.spreads:
            units[spread.dim] *= spread.units or 1
        inward = "".join(NAME[dim] for dim in reversed(loops.order) if dim in nest.extents)
        for target, kind, steps in (
            *((name, "temporal", ones) for name in memories[:-1]),
            (memories[-1], "temporal", loops.steps),
            *[(memories[-1], "spatial", units)] * bool(nest.fanout(outside.name)),
        ):
            factors = " ".join(f"{NAME[dim]}={steps[dim]}" for dim in nest.extents)
            yield {"target": target, "type": kind, "factors": factors, "permutation": inward}


def kept_in(memories: Iterable[tuple[str, Collection[str]]]) -> Iterator[Node]:
    """What each memory keeps, and what it does not."""
    for target, tensors in memories:
        kept, passed = (
            [space for tensor, space in SPACES.items() if (tensor in tensors) == here]
            for here in (True, False)
        )
        yield {"target": target, "type": "bypass", "keep": kept, "bypass": passed}


def nest_counts(program: str, nest: LoopNest) -> Counts:
    """Elements that Timeloop reads and writes in every memory of a mapping of any depth."""
    found = statistics(program, nest_input(nest))
    kinds = {"read": ("reads",), "write": ("fills", "updates")}
    return {
        (level, tensor, way): sum(scalars(found, level, tensor, kind) for kind in kinds[way])
        for level in ("DRAM", *(loops.level for loops in nest.levels if loops.keeps))
        for tensor in nest.kept(level)
        for way in kinds
    }


def scalars(found: Found, level: str, tensor: str, kind: str) -> int:
    """Elements of a tensor that all instances of a level read, fill or update."""
    number, instances = (
        found.get((level, SPACES[tensor], name), least)
        for name, least in ((f"Scalar {kind} (per-instance)", 0), ("Utilized instances (max)", 1))
    )
    return number * instances


def statistics(program: str, given: Node) -> Found:
    """Run the program in a folder of its own, and read its statistics.

    Raises:
        TimeloopError: It gave none.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "input.yaml").write_text(yaml.safe_dump(given, sort_keys=False))
        run = subprocess.run(
            [program, "input.yaml"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            # its library is built beside it
            env=os.environ | {"LD_LIBRARY_PATH": str(Path(program).parent)},
        )
        written = folder / STATISTICS
        if not written.exists():
            said = (run.stdout + run.stderr).strip().splitlines()[-3:]
            raise TimeloopError(f"{program} wrote no {STATISTICS}: {' | '.join(said)}")
        return read_statistics(written.read_text().splitlines())


def read_statistics(lines: Iterable[str]) -> Found:
    """The whole numbers of a file of statistics."""
    found: Found = {}
    level = tensor = ""
    for line in lines:
        if line.startswith("Networks"):
            break
        if heading := re.fullmatch(r"=== (\S+) ===\s*", line):
            level, tensor = heading[1], ""
        elif heading := re.fullmatch(r"    (\w+):\s*", line):
            tensor = heading[1]
        elif figure := re.fullmatch(r"\s+(\S.*?)\s*: (\d+)\s*", line):
            found[level, tensor, figure[1]] = int(figure[2])
    return found


def timeloop_counts(program: str, case: DividingMapping, bypass: Bypass) -> dict[str, int]:
    """Timeloop's counts by our names, of levels that the tensors do not pass."""
    nest = loop_nest(case.layer(), case.chip, case.mapping(bypass))
    found = statistics(program, nest_input(nest))
    past = dict(zip(("L2", "L1"), bypass, strict=True))
    counts = {
        "macs": found["mac", "", "Computes (total)"],
        "compute_cycles": found["mac", "", "Cycles"],
    }
    for name, (level, tensor, kind) in COUNTED.items():
        if tensor not in past.get(level, ()):
            counts[name] = scalars(found, level, tensor, kind)
    for level, passed in past.items():
        kept = [SPACES[tensor] for tensor in TENSORS if tensor not in passed]
        peak = (found[level, space, "Utilized capacity"] for space in kept)
        counts[f"{level.lower()}_peak"] = sum(peak)
    return counts


def lines(program: str, path: Path) -> Iterator[dict[str, str]]:
    """Timeloop's counts of every mapping of a table under every bypass, a line each."""
    return counted(path, "timeloop", partial(timeloop_counts, program))


@cache
def _ours(case: DividingMapping, bypass: Bypass, halo: str) -> dict[str, int]:
    if halo == "slide":
        return rules.slid(case, bypass, _ours(case, bypass, "none"), box=True)
    return case.counts(MODELS[halo], bypass)


def compare(found: Iterable[dict[str, str]]) -> Iterator[Compared]:
    """What PEs lack of their tiles by our count beside :func:`lines`, and how both relate."""
    for line in found:
        theirs, metric = int(line["timeloop"]), line["metric"]
        ours = {}
        for halo in LIKE:
            counts = _ours(case_of(line), bypass_of(line), halo)
            ours[halo] = counts.get(f"{metric}_tile", counts[metric])
        equal = next((LIKE[halo] for halo, count in ours.items() if count == theirs), None)
        retained = ours["retain"]
        yield Compared(line, retained, theirs, equal or cause(line, retained))


def by_rules(line: dict[str, str], given: rules.Rules = rules.ALL) -> int:
    """An input count of :func:`lines` by Timeloop's rules."""
    return rules.input_count(case_of(line), bypass_of(line), line["metric"], given)


def cause(line: dict[str, str], retained: int) -> str:
    """Which of Timeloop's rules makes a count other than what PEs lack of their tiles."""
    theirs = int(line["timeloop"])
    if line["metric"] not in INPUTS or by_rules(line) != theirs:
        return NO_CAUSE
    if by_rules(line, rules.Rules(extrapolates=False)) == retained:
        return rules.EXTRAPOLATES
    if by_rules(line, rules.Rules(extrapolates=False, drops=False)) == retained:
        return rules.DROPS
    return rules.WHOLE
