"""A row of the table: one tool on one case, both answers by both models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from benchmarks.export_cases import Case
from benchmarks.export_cost_rules import exact_energies
from benchmarks.export_costs import ENERGIES, cycles_cause, energy_cause
from benchmarks.export_rules import Node
from benchmarks.field.answer import MappingTool
from benchmarks.field.cases import FieldCase, choices_beyond, optimum, space_of, widened
from benchmarks.field.timeloop import rule_of
from benchmarks.frame import Row, grouped, markdown
from cost_models import ChainMapping, MappingError
from mapper.export.loop_nest import ExportError

COLUMNS = (
    "tool", "version", "chip", "layer", "objective", "theirs_by_tool", "theirs", "theirs_cpu_s",
    "ours", "bound", "ours_cpu_s", "whole", "whole_by_tool", "ratio", "space", "wide", "wide_space",
    "why",
)  # fmt: skip
SAME = 1e-4
"""Shares of a value below which two answers are one."""


def row_of(tool: MappingTool, case: FieldCase, said: Node, python: str) -> Node:
    """Both answers by both models; the ratio is ours over theirs, by our model."""
    answer = tool.read(case, said)
    proof, whole = optimum(case), optimum(case, "divisors")
    best = min(proof, whole, key=lambda found: found.value)
    row: Node = {
        "theirs_by_tool": digits(answer.value),
        "theirs_cpu_s": round(answer.cpu_s, 2),
        "ours": digits(best.value),
        "bound": digits(min(proof.bound, best.value)),
        "ours_cpu_s": round(proof.cpu_s + whole.cpu_s, 2),
        "why": answer.note,
    }
    by_tool = _priced(tool, case, whole.mapping, python)
    if by_tool is not None:
        row |= {"whole": digits(whole.value), "whole_by_tool": digits(by_tool)}
    if answer.mapping is None:
        return row
    try:
        cost = case.cost(answer.mapping)
    except MappingError as error:
        return row | {"why": str(error)}
    if cost.infeasible is not None:
        return row | {"why": cost.infeasible.message}
    theirs = case.ours(answer.mapping)
    row |= {"theirs": digits(theirs), "ratio": round(best.value / theirs, 5)}
    row["space"] = space_of(case, answer.mapping)
    if theirs < best.value * (1 - SAME):
        row["why"] = choices_beyond(answer.mapping) or "the proof is open"
        row["wide_space"], wide = widened(case, theirs)
        row["wide"] = digits(wide)
    elif by_tool is not None and answer.value < by_tool * (1 - SAME):
        row["why"] = _rule(tool, case, whole.mapping, by_tool / whole.value)
    return row


def digits(value: float) -> float:
    return float(f"{value:.8g}")


def _priced(tool: MappingTool, case: FieldCase, mapping: ChainMapping, python: str) -> float | None:
    try:
        return tool.price(case, mapping, python)
    except ExportError:
        return None


def _rule(tool: MappingTool, case: FieldCase, mapping: ChainMapping, dearer: float) -> str:
    """The rule of a tool that makes our answer dearer there than by our model.

    Args:
        tool: The tool.
        case: The case.
        mapping: Our answer.
        dearer: Its value by the tool's model over that by ours.
    """
    one, family = Case(case.layer, case.chip, mapping), tool.name.split("-", maxsplit=1)[0]
    if family not in ENERGIES:
        return rule_of(case, mapping)
    cost = case.cost(mapping)
    exact, rules = exact_energies(one, cost), ENERGIES[family](one)
    shares = (sum(rules.values()) - sum(exact.values())) / 1000 / cost.energy_nj
    mostly = case.objective == "edp" and 1 + shares > dearer**0.5
    if case.objective == "energy" or mostly:
        return energy_cause(one, family, exact, rules)
    return cycles_cause(one, family, cost.latency_cycles)


HEAD = (
    "tool", "objective", "cases", "none", "ours as low or lower", "in a larger space too", "proven",
    "ours over theirs: least", "median", "most", "CPU s: theirs", "ours",
)  # fmt: skip


def table_text(rows: Sequence[Row]) -> str:
    """The table in Markdown, a line a tool and objective."""
    groups = grouped(rows, "tool", "objective").items()
    cells = (_summed(*key, some) for key, some in groups)
    return markdown([dict(zip(HEAD, some, strict=True)) for some in cells]) + "\n"


def least_ratio(row: Row) -> float:
    """Ours over theirs, in the larger spaces where they were searched."""
    wide = float(row["wide"]) / float(row["theirs"]) if row["wide"] else math.inf
    return min(float(row["ratio"]), wide)


def _summed(tool: str, objective: str, rows: Sequence[Row]) -> list[str]:
    answered = [row for row in rows if row["ratio"]]
    ratios = [float(row["ratio"]) for row in answered]
    as_low = (
        sum(one <= 1 + SAME for one in found) for found in (ratios, map(least_ratio, answered))
    )
    proven = sum(row["bound"] == row["ours"] != "" for row in rows)
    found = [tool, objective, *map(str, (len(rows), len(rows) - len(ratios), *as_low, proven))]
    if not ratios:
        return [*found, *[""] * 5]
    times = [
        f"{median(float(row[name]) for row in answered):.1f}"
        for name in ("theirs_cpu_s", "ours_cpu_s")
    ]
    return [*found, *(f"{one(ratios):.3f}" for one in (min, median, max)), *times]
