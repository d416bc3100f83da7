"""Time a proof on a chip that is a list of levels, its certificate and the check of that.

    python -m benchmarks chain_certificates

Processor time of one core. The proof's has its first value with it; the check builds the problem,
walks all boxes, and looks at mappings beside. Rows that are in the file already are kept. Exits
with 1 where a certificate does not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import layers
from baselines import prove
from benchmarks.chain_searchers import known, write
from cost_models import CHAINS
from mapper import ProblemSpec
from mapper.certificate import (
    CertificateError,
    check_certificate,
    make_certificate,
    read_certificate,
    write_certificate,
)

LAYERS = ("resnet18.conv5_1a", "mobilenetv2.block2_depthwise")
CHIPS = ("simba", "nvdla-cacc", "eyeriss-rs")
OBJECTIVES = ("edp", "energy")
FIELDS = (
    *("accelerator", "objective", "layer", "status", "prove_s", "certify_s", "check_s", "ratio"),
    *("bytes", "boxes", "ruled_out", "alone", "evaluated", "holds"),
)


def row_of(layer: str, chip: str, objective: str, boxes: int) -> dict[str, Any]:
    """Prove, certify and check one case."""
    spec = ProblemSpec(layers.parse(layer), layer, CHAINS[chip], chip, objective)
    at = [time.process_time()]
    proof = prove(spec.build(), boxes=boxes)
    at.append(time.process_time())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate"
        write_certificate(path, make_certificate(spec, proof))
        at.append(time.process_time())
        size, certificate = path.stat().st_size, read_certificate(path)
    try:
        checked = vars(check_certificate(certificate))
    except CertificateError:
        checked = {}
    at.append(time.process_time())
    proving, certifying, checking = (b - a for a, b in pairwise(at))
    counts = {name: checked.get(name, "") for name in ("boxes", "ruled_out", "alone", "evaluated")}
    return {
        "accelerator": chip,
        "objective": objective,
        "layer": layer,
        "status": proof.status,
        "prove_s": f"{proving:.2f}",
        "certify_s": f"{certifying:.2f}",
        "check_s": f"{checking:.2f}",
        "ratio": f"{checking / proving:.2f}",
        "bytes": size,
        **counts,
        "holds": bool(checked),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", nargs="+", default=list(LAYERS))
    parser.add_argument("--accelerators", nargs="+", default=list(CHIPS))
    parser.add_argument("--objectives", nargs="+", default=list(OBJECTIVES))
    parser.add_argument("--boxes", type=int, default=150_000_000, help="where a proof ends")
    parser.add_argument("--out", type=Path, default=Path("docs/data/chain-certificates.csv"))
    args = parser.parse_args()
    rows = known(args.out)
    done = {(row["layer"], row["accelerator"], row["objective"]) for row in rows}
    for case in product(args.layers, args.accelerators, args.objectives):
        if case not in done:
            rows.append(row_of(*case, args.boxes))
            write(args.out, FIELDS, rows)
    ratios = [float(row["ratio"]) for row in rows]
    print(f"{sum(r <= 2 for r in ratios)} of {len(ratios)} checks take 2 x their proof or less")
    sys.exit(not all(str(row["holds"]) == "True" for row in rows))


if __name__ == "__main__":
    main()
