"""Edit certificates, stores, weights and assignments at random; hold verdicts to oracles.

    python -m benchmarks.edits --kind certificates --edits 10000 --seed 0
    python -m benchmarks.edits --kind stores --kind weights --kind assignments --edits 2000

Prints counts by what was edited, how it was judged, and whether it is true. Fails on a false file
that was accepted, an accepted one that nobody can judge, an internal error, or a judgement beyond
10 s.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.edits.campaign import KINDS, campaign


def main() -> int:
    """Run the campaigns; 1 where a file was judged wrongly."""
    parser = argparse.ArgumentParser(prog="benchmarks.edits", description=__doc__)
    parser.add_argument("--edits", type=int, default=2_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--keep", type=Path, help="a folder for files that were judged wrongly")
    given = parser.parse_args()
    failed = 0
    for kind in given.kind or KINDS:
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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
