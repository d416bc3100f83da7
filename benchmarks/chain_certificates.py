"""Time a proof on a chip that is a list of levels, its certificate and the check of that.

    python -m benchmarks chain_certificates

Processor time of one core. The proof's has its first value with it; the check builds the problem,
walks all boxes, and looks at mappings beside. Exits with 1 where a certificate does not hold.
"""

from __future__ import annotations

import tempfile
import time
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import layers
from baselines import prove
from benchmarks.frame import Row, Table
from cost_models import CHAINS
from mapper import ProblemSpec
from mapper.certificate.certificate_file import (
    CertificateError,
    read_certificate,
    write_certificate,
)
from mapper.certificate.checker import check_certificate
from mapper.certificate.making import make_certificate

COUNTS = ("boxes", "ruled_out", "alone", "evaluated")


def row_of(given: Any, chip: str, objective: str, layer: str) -> tuple[Any, ...]:
    """Prove, certify and check one case."""
    spec = ProblemSpec(layers.parse(layer), layer, CHAINS[chip], chip, objective)
    at = [time.process_time()]
    proof = prove(spec.build(), boxes=given.boxes)
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
    times = (f"{s:.2f}" for s in (proving, certifying, checking, checking / proving))
    counts = (checked.get(name, "") for name in COUNTS)
    return proof.status, *times, size, *counts, bool(checked)


def told(rows: list[Row], _: Any) -> bool:
    """Print how many checks are quick; true where a certificate does not hold."""
    ratios = [float(row["ratio"]) for row in rows]
    print(f"{sum(r <= 2 for r in ratios)} of {len(ratios)} checks take 2 x their proof or less")
    return any(row["holds"] != "True" for row in rows)


TABLE = Table(
    __doc__,
    (
        *("accelerator", "objective", "layer", "status", "prove_s", "certify_s", "check_s"),
        *("ratio", "bytes", *COUNTS, "holds"),
    ),
    lambda given: product(given.accelerators, given.objectives, given.layers),
    row_of,
    "chain-certificates.csv",
    {
        "layers": ["resnet18.conv5_1a", "mobilenetv2.block2_depthwise"],
        "accelerators": ["simba", "nvdla-cacc", "eyeriss-rs"],
        "objectives": ["edp", "energy"],
        "boxes": (150_000_000, "where a proof ends"),
    },
    {"boxes": 2_000},
    told,
)
