"""The proven optima of the cases of marl_cases.py under `exact`, as docs/data/case-optima.csv.

    python benchmarks/case_optima.py --timeout 120

What the library of optima has is taken from it; the rest is proven here, a line of the file each;
lines that are there already stay. Where a proof was stopped, `bound` is below `value`.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import marl_cases

import baselines
from maestro_env import Problem

FILE = Path(__file__).resolve().parents[1] / "docs" / "data" / "case-optima.csv"
FIELDS = ("accelerator", "layer", "objective", "value", "bound")
Case = tuple[str, str, str]


def cases() -> Iterator[Case]:
    """Accelerator, layer and objective of every case, those of Table III included."""
    seen = set()
    for kind in ("compared", "table3"):
        for accelerator, layers in marl_cases.CASES[kind].items():
            for layer in layers:
                for objective in marl_cases.OBJECTIVES:
                    case = (accelerator, layer, objective)
                    if case not in seen and not (kind == "table3" and objective == "energy"):
                        seen.add(case)
                        yield case


def read(path: Path = FILE) -> dict[Case, tuple[float, float]]:
    """Value and bound of each case of the file."""
    if not path.exists():
        return {}
    with path.open(newline="") as stream:
        return {
            (row["accelerator"], row["layer"], row["objective"]): (
                float(row["value"]),
                float(row["bound"]),
            )
            for row in csv.DictReader(stream)
        }


def proven(case: Case, timeout: float) -> tuple[float, float]:
    """Value and bound of a case, equal where the optimum is proven."""
    accelerator, layer, objective = case
    problem = Problem(layer, accelerator, objective)
    known = baselines.known_optimum(problem)
    if known is not None and known.proven:
        return known.value, known.value
    start = None if known is None else known.mapping
    proof = baselines.prove(problem, start=start, timeout=timeout)
    return proof.value, proof.value if proof.status == "optimal" else proof.bound


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds of one proof")
    timeout = parser.parse_args().timeout
    found = read()
    for case in cases():
        if case in found:
            continue
        found[case] = proven(case, timeout)
        print(*case, *found[case], flush=True)
        with FILE.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(FIELDS)
            writer.writerows((*case, *map(repr, values)) for case, values in found.items())


if __name__ == "__main__":
    main()
