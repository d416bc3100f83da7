"""Energy and cycles that ZigZag and AccelForge give to exports, beside the exact model's.

    pip install 'marl-mapper[dev]'
    python -m benchmarks export_costs [--levels 3] [--accelforge PYTHON] [--csv FILE.csv]

Every mapping is written by `mapper export`, and read and run by the tool itself. Where its energy
is more than 1 % off the exact model's, or its cycles more than 10 %, the figure is worked out again
by the tool's rules (`zigzag_energies`, `zigzag_cycles`, `accelforge_...`), which names the cause.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.export_cases import Case, exports
from benchmarks.export_cost_rules import (
    Part,
    accelforge_cycles,
    accelforge_energies,
    exact_energies,
    zigzag_cycles,
    zigzag_energies,
)
from benchmarks.export_counts import COUNTED, Said, both_say, cause_of, exact_counts
from benchmarks.export_rules import accelforge_counts, zigzag_stays
from benchmarks.frame import Row, Summary, grouped
from layers import TENSORS
from mapper.export.chip_stores import ChipStores

ENERGY_WITHIN, CYCLES_WITHIN = 0.01, 0.10
RULES_WITHIN = 0.02
"""How near a tool's rules must come to its figure."""

FIRST_SUMS = "ZigZag reads back partial sums the first time too, when they are zero"
DRAINS = "ZigZag charges the innermost memory for giving outputs away and taking them back"
WHOLE = "ZigZag counts whole accesses of a wide port"
LANES = "ZigZag has one MAC a PE and cycle"
OWN_PORTS = "in ZigZag, memories with a capacity of their own have a port of their own"
PAST = "in the tool, a tensor that passes a memory does not use its port"
WAITS = "ZigZag waits for a tile that a memory cannot hold twice"
ROUNDED = "in ZigZag, each tensor's transfer takes whole cycles and a full tile"
WIDTH = "in AccelForge, outputs have the width of partial sums"
TURNS = "in AccelForge, reads and writes of a memory take turns, those from outside included"
SLOWEST = "AccelForge takes the slowest of MACs and memories, over all steps together"


def energy_cause(case: Case, tool: str, exact: dict[Part, float], rules: dict[Part, float]) -> str:
    """The rule that changes most."""
    memory, tensor = max(exact, key=lambda part: abs(rules[part] - exact[part]))
    if tool == "accelforge":
        widths = case.nest.chip.widths
        same = exact_counts(case, tool) == accelforge_counts(case.nest)
        return WIDTH if same and widths.output != widths.psum else cause_of(case, tool, tensor)
    if tensor != "output":
        return cause_of(case, tool, tensor) if tensor == "input" else WHOLE
    innermost = zigzag_stays(case.nest, "output")[-2].memory
    more = sum(rules.values()) > sum(exact.values())
    return (DRAINS if memory == innermost else FIRST_SUMS) if more else WHOLE


def cycles_cause(case: Case, tool: str, exact: float) -> str:
    """Why a tool's cycles differ; ZigZag's waits come on top of another cause."""
    nest, rules = case.nest, CYCLES[tool](case)
    past = any(set(nest.kept(level.name)) < set(TENSORS) for level in nest.chip.memories)
    if tool == "accelforge":
        return TURNS if rules > exact else PAST if past else SLOWEST
    split = any(len(ChipStores(nest).at(level.name)) > 1 for level in nest.chip.memories[:-1])
    causes = [ROUNDED]
    if nest.chip.lanes > 1:
        causes = [LANES]
    elif rules < exact and (split or past):
        causes = [OWN_PORTS if split else PAST]
    if rules > zigzag_cycles(case, waits=False) * (1 + RULES_WITHIN):
        causes.append(WAITS)
    return "; ".join(causes)


ENERGIES = {"zigzag": zigzag_energies, "accelforge": accelforge_energies}
CYCLES = {"zigzag": zigzag_cycles, "accelforge": accelforge_cycles}


def compare_one(case: Case, tool: str, said: Said) -> Row:
    """A row of the table."""
    ours, by_rules, cost = exact_counts(case, tool), COUNTED[tool](case.nest), case.cost()
    exact, rules = exact_energies(case, cost), ENERGIES[tool](case)
    mac = cost.detail["energy_mac_nj"]
    energy, rules_nj = (mac + sum(parts.values()) / 1000 for parts in (exact, rules))
    row: Row = {
        "tool": tool,
        "layer": case.layer.name,
        "chip": case.nest.chip.name,
        "counts": len(ours),
        "counts_equal": sum(said.counts[key] == n for key, n in ours.items()),
        "counts_by_rules": sum(said.counts[key] == by_rules[key] for key in ours),
        "exact_nj": round(energy, 3),
        "tool_nj": round(said.nj, 3),
        "energy_ratio": round(said.nj / energy, 5),
        "energy_cause": "",
        "rules_nj": round(rules_nj, 3),
        "exact_cycles": round(cost.latency_cycles),
        "tool_cycles": round(said.cycles),
        "cycles_ratio": round(said.cycles / cost.latency_cycles, 5),
        "cycles_cause": "",
        "rules_cycles": round(CYCLES[tool](case)),
    }
    if abs(row["energy_ratio"] - 1) > ENERGY_WITHIN:
        row["energy_cause"] = energy_cause(case, tool, exact, rules)
    if abs(row["cycles_ratio"] - 1) > CYCLES_WITHIN:
        row["cycles_cause"] = cycles_cause(case, tool, cost.latency_cycles)
    return row


def reproduced(row: Row) -> bool:
    """Whether each figure that is not the exact model's is what the tool's rules give."""
    return row["counts_by_rules"] == row["counts"] and all(
        not row[f"{what}_cause"] or abs(row[f"rules_{of}"] / row[f"tool_{of}"] - 1) <= RULES_WITHIN
        for what, of in (("energy", "nj"), ("cycles", "cycles"))
    )


def compare(found: list[Case], accelforge: str | None = None) -> list[Row]:
    """A row for each export and tool."""
    return [compare_one(*one) for one in both_say(found, accelforge)]


def told(rows: Any, _: Any) -> bool:
    """Print what is equal and within limits; true where rules do not give a figure."""
    for tool, own in grouped(rows, "tool").items():
        sums = [sum(row[n] for row in own) for n in ("counts", "counts_equal", "counts_by_rules")]
        print(f"{tool}: {len(own)} exports, {sums[0]} counts, {sums[1]} equal, {sums[2]} by rules")
        for name, cause in (("energy_ratio", "energy_cause"), ("cycles_ratio", "cycles_cause")):
            ratios, causes = [row[name] for row in own], Counter(row[cause] for row in own)
            print(f"  {name}: {causes.pop('', 0)} within the limit, {min(ratios)} to {max(ratios)}")
            for why, times in causes.items():
                print(f"    {times:3} {why}")
    missed = [row for row in rows if not reproduced(row)]
    print(f"beyond a limit and not by the tools' rules: {len(missed)}", *missed, sep="\n")
    return bool(missed)


TABLE = Summary(
    __doc__,
    lambda given: compare(list(exports(given.exports, given.seed, given.levels)), given.accelforge),
    options={
        "exports": 60,
        "seed": 0,
        "levels": (3, "of the chips", (2, 3)),
        "accelforge": (str, "a Python 3.12 that has AccelForge"),
    },
    quick={"exports": 3},
    told=told,
    digits=None,
)
