"""The tables of a board, as text cells: what every format prints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from maestro_env import Objective
from mapper.compare.entry import ComparedCase
from mapper.compare.plan import AREA_NOTE
from mapper.compare.summary import Summary
from marl_common import engineering

NONE = "-"
INFEASIBLE = "no mapping"
NEVER = "not reached"


@dataclass(frozen=True)
class TextTable:
    """A table of text.

    Args:
        title: What it shows, of which cost model and accelerator.
        header: Names of the columns; the first one is the method.
        rows: One row a method.
        notes: Sentences below it.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def make_tables(summary: Summary) -> list[TextTable]:
    """All tables of a board: values, samples to the target, time, gaps, and the overall picture."""
    tables = []
    for objective, cases in _by_objective(summary):
        tables += [
            _values(summary, objective, cases),
            _targets(summary, objective, cases),
            _gaps(summary, objective, cases),
        ]
    return [*tables, _effort(summary), _overall(summary)]


def gap_tables(summary: Summary) -> list[TextTable]:
    """How far each method is from the optimum, or its values where nothing is known of that.

    A table an objective, with what is missing below it.
    """
    tables = [
        _gaps(summary, objective, cases)
        if any(summary.floor(case) for case in cases)
        else _values(summary, objective, cases)
        for objective, cases in _by_objective(summary)
    ]
    lacking = tuple(_lacking(summary))
    return [
        table if set(lacking) <= {*table.notes} else replace(table, notes=(*table.notes, *lacking))
        for table in tables
    ]


def _by_objective(summary: Summary) -> Iterator[tuple[str, list[ComparedCase]]]:
    for objective in summary.objectives:
        yield objective, [case for case in summary.cases if case.objective == objective]


def _values(summary: Summary, objective: str, cases: list[ComparedCase]) -> TextTable:
    """As the paper's Table III: the value, and its ratio to the reference."""
    unit = Objective.parse(objective).unit
    title = f"Best {objective}"
    if unit == "cycles":
        title, unit = f"{title} [cycles]", ""

    def cell(case: ComparedCase, method: str) -> str:
        found = summary.cell(case, method)
        return _with_lack(_value(found.median, unit, summary.ratio(case, method)), found.lack)

    def mean(method: str) -> str:
        ratio = summary.mean_ratio(objective, method)
        return NONE if ratio is None else _ratio(ratio)

    notes = [
        f"Median of {_seeds(summary)}, in brackets the ratio to {summary.reference}; "
        "below 1 is better."
    ]
    if "area" in objective.split("*"):
        notes.append(AREA_NOTE)
    return _table(
        summary,
        title,
        cases,
        cell,
        ("geometric mean", mean),
        (*notes, *_lacking(summary)),
    )


def _targets(summary: Summary, objective: str, cases: list[ComparedCase]) -> TextTable:
    """Samples until a run is near the best known value."""

    def cell(case: ComparedCase, method: str) -> str:
        found = summary.cell(case, method)
        if found.to_target is None:
            return _with_lack(NONE, found.lack)
        text = NEVER if math.isinf(found.to_target) else f"{found.to_target:,.0f}"
        return f"{text} ({found.reached}/{len(found.finished)})"

    share = 100 * (summary.target - 1)
    note = (
        f"Median samples until a run is within {share:g} % of the best value that any method "
        "found, in brackets how many runs got there."
    )
    return _table(summary, f"Samples to target, {objective}", cases, cell, None, (note,))


def _gaps(summary: Summary, objective: str, cases: list[ComparedCase]) -> TextTable:
    """How far the median is from the optimum or the bound."""

    def cell(case: ComparedCase, method: str) -> str:
        gap = summary.gap(case, method)
        return NONE if gap is None else INFEASIBLE if math.isinf(gap) else f"{100 * gap:+,.1f} %"

    kinds = {case: (summary.floor(case) or (0.0, "no bound"))[1] for case in cases}
    note = "Median above the proven optimum of the space, or else above the physical bound, which "
    note += "no mapping need reach: " + ", ".join(f"{c.layer}: {k}" for c, k in kinds.items())
    notes = [note + "."]
    if "area" in objective.split("*") and "bound" in kinds.values():
        notes.append("The bound of area knows nothing of the latency limit, so it is far below.")
    return _table(summary, f"Gap, {objective}", cases, cell, None, tuple(notes))


def _effort(summary: Summary) -> TextTable:
    """Samples and processor time, over all cases."""
    rows = []
    for method in summary.methods:
        done = [e for e in summary.entries if e.method == method and e.finished]
        timed = [(e.samples, e.cpu_s) for e in done if e.cpu_s is not None]
        spent, total = sum(n for n, _ in timed), sum(cpu for _, cpu in timed)
        cpu = (
            (f"{total / len(timed):.2f}", f"{1e6 * total / spent:,.1f}") if spent else (NONE, NONE)
        )
        rows.append((method, str(len(done)), _range([e.samples for e in done]), *cpu))
    return TextTable(
        f"Effort: {summary.board}",
        ("method", "runs", "samples a run", "CPU s a run", "CPU us a sample"),
        tuple(rows),
        ("Processor time of the search and its cost model, without imports.",),
    )


def _range(counts: list[int]) -> str:
    """Such as ``200`` or ``150 to 200``."""
    ends = list(dict.fromkeys([min(counts), max(counts)])) if counts else []
    return " to ".join(f"{n:,}" for n in ends) or NONE


def _overall(summary: Summary) -> TextTable:
    """Interquartile mean and probability of improvement over all cases."""
    rows = []
    for method in summary.methods:
        iqm, better = summary.iqm(method), summary.improvement(method)
        own = method == summary.reference
        rows.append((method, str(iqm or NONE), NONE if own or better is None else str(better)))
    return TextTable(
        f"Over all layers and objectives: {summary.board}",
        ("method", "IQM of the score", f"P({summary.reference} is better)"),
        tuple(rows),
        (
            "Score: best known value / value of a run; 1 is the best, 0 no feasible mapping. "
            "IQM: mean of the middle half of all runs. P: how often a run of the reference beats "
            "one of the method, ties counted half. In brackets 95 % intervals of a bootstrap "
            "stratified by case, 2,000 draws.",
        ),
    )


def _table(
    summary: Summary,
    title: str,
    cases: list[ComparedCase],
    cell: Callable[[ComparedCase, str], str],
    last: tuple[str, Callable[[str], str]] | None,
    notes: tuple[str, ...],
) -> TextTable:
    """One row a method, one column a layer, and perhaps one more."""
    header = ["method", *(case.layer for case in cases)]
    rows = []
    for method in summary.methods:
        row = [method, *(cell(case, method) for case in cases)]
        rows.append(tuple(row if last is None else [*row, last[1](method)]))
    if last is not None:
        header.append(last[0])
    return TextTable(f"{title}: {summary.board}", tuple(header), tuple(rows), notes)


def _value(median: float | None, unit: str, ratio: float | None) -> str:
    if median is None:
        return NONE
    if math.isinf(median):
        return INFEASIBLE
    return engineering(median, unit, digits=4) + ("" if ratio is None else f" ({_ratio(ratio)})")


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 100 else f"{ratio:,.0f}x" if ratio < 1e6 else f"{ratio:.3g}x"


def _with_lack(text: str, lack: str) -> str:
    """A cell that also says what is missing."""
    return text if not lack else lack if text == NONE else f"{text} [{lack}]"


def _seeds(summary: Summary) -> str:
    count = len({entry.seed for entry in summary.entries})
    return f"{count} seed" if count == 1 else f"{count} seeds"


def _lacking(summary: Summary) -> Iterator[str]:
    """Why some runs have no value, once a reason."""
    reasons: dict[tuple[str, str], set[str]] = {}
    for entry in summary.entries:
        if entry.note and not entry.finished:
            reasons.setdefault((entry.state, entry.note), set()).add(entry.method)
    for (state, note), methods in reasons.items():
        yield f"{', '.join(sorted(methods))} {state}: {note}"
