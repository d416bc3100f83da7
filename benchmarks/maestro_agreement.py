"""Agreement of the MAESTRO model with the program it ports.

    python -m benchmarks maestro_agreement REFERENCE.csv
    MAESTRO_BIN=... python -m benchmarks maestro_agreement MAESTRO/data/mapping

A CSV file (of the form of tests/cost_models/data/maestro_reference_sample.csv) is compared in every
column. Of a folder of .m files, each is run through the stock program on 256 PEs, NoC 64 and
off-chip 50 elements/cycle, and every layer is compared in runtime, MACs, L1 and L2 (not energy:
in a file of several layers the program adds the L1 counts of the layer before).
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.frame import asked, known, refuse
from cost_models import Accelerator, load, parse_network
from cost_models.maestro.binary import BinaryModel
from tests.cost_models.maestro_reference import differences, read_row

SHARED = ("Runtime (Cycles)", "Num MACs", "L1 SRAM Size Req (Bytes)", "L2 SRAM Size Req (Bytes)")
FIELDS = ("latency_cycles", "macs", "l1_bytes", "l2_bytes")


def compare_rows(path: Path) -> tuple[Counter[str], list[str]]:
    """Every row of a CSV file of the program's figures."""
    raw, guarded = load("maestro", guard=False), load("maestro")
    found: Counter[str] = Counter()
    notes = []
    for row in known(path):
        layer, accelerator, dataflow = read_row(row)
        cost = raw.evaluate(layer, accelerator, dataflow)
        verdict = "figures" if cost.infeasible is None else cost.infeasible.code.name
        if row["status"] != "ok":
            found[f"{row['status']} -> {verdict}"] += 1
            continue
        wrong = differences(cost, row) if cost.feasible else [str(cost.infeasible)]
        found["ok, all columns equal" if not wrong else "ok, different"] += 1
        if wrong:
            notes.append(f"row {row['id']}: {'; '.join(wrong[:3])}")
        guard = guarded.evaluate(layer, accelerator, dataflow).infeasible
        found["refused by the guard"] += guard is not None
    return found, notes


def compare_networks(folder: Path) -> tuple[Counter[str], list[str]]:
    """Every layer of a folder of network files."""
    model, stock = load("maestro", guard=False), BinaryModel()
    accelerator = Accelerator(256, noc_bw=64, offchip_bw=50)
    found: Counter[str] = Counter()
    notes = []
    for path in sorted(folder.glob("*.m")):
        text = path.read_text(encoding="utf-8")
        pairs = parse_network(text, path.name)
        costs = [model.evaluate(layer, accelerator, dataflow) for layer, dataflow in pairs]
        with tempfile.TemporaryDirectory() as work:
            Path(work, "mapping.m").write_text(text, encoding="utf-8")
            done = subprocess.run(
                stock.command(accelerator), cwd=work, capture_output=True, check=False
            )
            table = Path(work, "mapping.csv")
            if done.returncode != 0 or not table.exists():
                found["files that the program refuses or dies on"] += 1
                reasons = f"{sum(not cost.feasible for cost in costs)} of {len(costs)} layers"
                notes.append(
                    f"{path.name}: ends with {done.returncode}; here {reasons} are refused"
                )
                continue
            rows = [{name.strip(): n for name, n in row.items()} for row in known(table)]
        found["files answered"] += 1
        for (layer, _), cost, row in zip(pairs, costs, rows, strict=True):
            theirs = [int(row[column]) for column in SHARED]
            equal = cost.feasible and theirs == [int(getattr(cost, field)) for field in FIELDS]
            found["layers equal" if equal else "layers different"] += 1
            if not equal:
                notes.append(f"{path.name}: {layer.name}: the program {theirs}, here {cost}")
    return found, notes


def main() -> None:
    given = asked(__doc__, path_=(Path, "a CSV file, or a folder of .m files"))
    if given.path.is_dir() and not os.environ.get("MAESTRO_BIN"):
        refuse("a folder needs the stock program; set MAESTRO_BIN to it")
    compare = compare_networks if given.path.is_dir() else compare_rows
    found, notes = compare(given.path)
    for name, count in sorted(found.items()):
        print(f"{name:<45} {count:>14}")
    print(*notes, sep="\n")
