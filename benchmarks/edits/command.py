"""Edit certificates, stores, weights and assignments at random; hold verdicts to oracles.

    python -m benchmarks edits --kind certificates --edits 10000 --seed 0
    python -m benchmarks edits --kind stores weights assignments --edits 2000

Prints counts by what was edited, how it was judged, and whether it is true. Fails on a false file
that was accepted, an accepted one that nobody can judge, an internal error, or a judgement beyond
10 s.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.edits import assignments, certificates, stores, weights
from benchmarks.edits.fields import Kind
from benchmarks.frame import asked

SLOW = 10.0
"""Longest judgement, in processor time [s]."""
KINDS = {
    "certificates": Kind("edited", certificates.prepare, certificates.judge, certificates.truth),
    "deep": Kind("edited", certificates.prepare_deep, certificates.judge, certificates.truth),
    "stores": Kind("s.sqlite", stores.prepare, stores.judge, stores.truth),
    "weights": Kind("w.safetensors", weights.prepare, weights.judge, weights.truth),
    "assignments": Kind("a.json", assignments.prepare, assignments.judge, assignments.truth),
}
WORDS = {True: "true", False: "false", None: "unknown"}


@dataclass
class Outcomes:
    """What became of the edits of a campaign.

    Args:
        counts: How often each outcome came.
        wrong: Outcomes that must not be.
        true: Edits that are true, accepted or not.
        slowest_s: Longest processor time of a refusal [s].
    """

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    true: int = 0
    slowest_s: float = 0.0


def campaign(kind: str, edits: int, seed: int) -> Outcomes:
    """Edit files of a kind.

    Args:
        kind: One of `KINDS`.
        edits: How many.
        seed: Same seed, same edits.
    """
    given, found = KINDS[kind], Outcomes()
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        edit = given.prepare(Path(folder))
        for number in range(edits):
            for left in Path(folder).iterdir():
                left.unlink()
            path = Path(folder) / given.file
            what, content = edit(rng)
            path.write_bytes(content)
            began = time.process_time()
            judged = given.judge(path)
            took = time.process_time() - began
            path.write_bytes(content)
            true = given.truth(path, judged)
            outcome = f"{what}: {judged if took < SLOW else 'hang'}, {WORDS[true]}"
            found.counts[outcome] += 1
            found.true += true is True
            if judged == "refused":
                found.slowest_s = max(found.slowest_s, took)
            sound = judged == "refused" or (judged == "accepted" and true)
            if took >= SLOW or not sound:
                found.wrong.append(f"{number}, {outcome}")
    return found


def main() -> bool:
    """Run the campaigns; true where a file was judged wrongly."""
    given = asked(__doc__, edits=(2_000, "of each kind"), seed=0, kind=(list(KINDS), None, KINDS))
    failed = False
    for kind in given.kind:
        found = campaign(kind, given.edits, given.seed)
        for name, count in sorted(found.counts.items()):
            print(f"{count:>7,}  {kind}, {name}")
        print(
            f"{kind}: {len(found.wrong)} of {given.edits:,} edits were judged wrongly; "
            f"{found.true:,} were true; longest refusal {found.slowest_s:.2f} s",
            flush=True,
        )
        for text in found.wrong[:5]:
            print(f"         {text[:500]}")
        failed |= bool(found.wrong)
    return failed
