"""A row of the table: one tool on one case, both answers by both models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.export_cases import Case
from benchmarks.export_cost_rules import accelforge_energies, exact_energies, zigzag_energies
from benchmarks.export_costs import energy_cause
from benchmarks.field.answer import Answer, Tool
from benchmarks.field.cases import FieldCase
from benchmarks.field.ours import choices_beyond, optimum, searched, space_of, uneven
from cost_models import ChainMapping
from mapper.export.loop_nest import ExportError

COLUMNS = (
    "tool", "version", "chip", "layer", "tool_nj", "tool_by_ours_nj", "tool_cpu_s", "ours_nj",
    "ours_bound_nj", "ours_cpu_s", "whole_nj", "whole_by_tool_nj", "ratio", "space", "uneven_nj",
    "full_nj", "why",
)  # fmt: skip
SAME = 1e-4
"""Shares of energy below which two answers are one."""
RULES: dict[str, Callable[..., Any]] = {
    "accelforge": accelforge_energies,
    "zigzag": zigzag_energies,
}


def unanswered(tool: Tool, case: FieldCase, why: str) -> dict[str, Any]:
    """The row of a tool that gave no answer."""
    row = dict.fromkeys(COLUMNS, "")
    return row | _names(tool, case) | {"why": why}


def _names(tool: Tool, case: FieldCase) -> dict[str, Any]:
    return {
        "tool": tool.name,
        "version": tool.version,
        "chip": case.chip_name,
        "layer": case.layer_name,
    }


def row_of(tool: Tool, case: FieldCase, answer: Answer, python: str) -> dict[str, Any]:
    """Both answers by both models; the ratio is ours over theirs, by our model."""
    proof, whole = optimum(case), optimum(case, "divisors")
    ours = min(proof, whole, key=lambda found: found.energy_nj)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "") | _names(tool, case)
    row |= {
        "tool_nj": round(answer.energy_nj, 3),
        "tool_cpu_s": round(answer.cpu_s, 2),
        "ours_nj": round(ours.energy_nj, 3),
        "ours_bound_nj": round(min(proof.bound_nj, ours.energy_nj), 3),
        "ours_cpu_s": round(proof.cpu_s + whole.cpu_s, 2),
        "why": answer.note,
    }
    by_tool = _priced(tool, case, whole.mapping, python)
    if by_tool is not None:
        row |= {"whole_nj": round(whole.energy_nj, 3), "whole_by_tool_nj": round(by_tool, 3)}
    if answer.mapping is None:
        return row
    cost = case.cost(answer.mapping)
    if cost.infeasible is not None:
        return row | {"why": cost.infeasible.message}
    row |= {"tool_by_ours_nj": round(cost.energy_nj, 3)}
    row["ratio"] = round(ours.energy_nj / cost.energy_nj, 5)
    row["space"] = space_of(case, answer.mapping)
    if cost.energy_nj < ours.energy_nj * (1 - SAME):
        row["why"] = choices_beyond(answer.mapping) or "the proof is open"
        row["uneven_nj"] = round(uneven(case), 3)
        row["full_nj"] = round(searched(case), 3)
    elif by_tool is not None and answer.energy_nj < by_tool * (1 - SAME):
        row["why"] = _rule(tool, case, whole.mapping)
    return row


def _priced(tool: Tool, case: FieldCase, mapping: ChainMapping, python: str) -> float | None:
    try:
        return tool.price(case, mapping, python)
    except ExportError:
        return None


def _rule(tool: Tool, case: FieldCase, mapping: ChainMapping) -> str:
    """The rule of a tool that makes our answer dearer there than by our model."""
    one, family = Case(case.layer, case.chip, mapping), tool.name.split("-", maxsplit=1)[0]
    return energy_cause(one, family, exact_energies(one, case.cost(mapping)), RULES[family](one))
