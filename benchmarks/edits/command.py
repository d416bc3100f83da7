"""Edit certificates, stores, weights and assignments at random; hold verdicts to oracles.

    python -m benchmarks edits --kind certificates --edits 10000 --seed 0
    python -m benchmarks edits --kind stores weights assignments --edits 2000

Prints counts by what was edited, how it was judged, and whether it is true. Fails on a false file
that was accepted, an accepted one that nobody can judge, an internal error, or a judgement beyond
10 s.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.edits.campaign import KINDS, campaign
from benchmarks.frame import asked


def main() -> bool:
    """Run the campaigns; true where a file was judged wrongly."""
    given = asked(
        __doc__,
        edits=(2_000, "of each kind"),
        seed=0,
        kind=(list(KINDS), None, KINDS),
        keep=(Path, "a folder for files that were judged wrongly"),
    )
    failed = 0
    for kind in given.kind:
        found = campaign(kind, given.edits, given.seed, given.keep)
        for name, count in sorted(found.counts.items()):
            print(f"{count:>7,}  {kind}, {name}")
        print(
            f"{kind}: {len(found.wrong)} of {given.edits:,} edits were judged wrongly; "
            f"{found.true:,} were true; longest refusal {found.slowest_s:.2f} s",
            flush=True,
        )
        for text in found.wrong[:5]:
            print(f"         {text[:500]}")
        failed += len(found.wrong)
    return failed > 0
