"""Make the table of docs/bench.md from the result files of docs/data/bench."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from mapper.bench.bench_file import read_file
from mapper.bench.bench_table import table_rows

DOCS = Path(__file__).parent
PAGE = DOCS / "bench.md"
FILES = sorted((DOCS / "data" / "bench").glob("*.json"))
MARK = re.compile(r"(<!-- made by docs/make_bench.py -->\n).*?(?=\n\n)", re.DOTALL)


def page() -> str:
    """The page with today's table."""
    rows = table_rows([read_file(path) for path in FILES])
    lines = [rows[0].keys(), ["---"] * len(rows[0]), *(row.values() for row in rows)]
    table = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    return MARK.sub(lambda found: found[1] + table, PAGE.read_text(encoding="utf-8"))


def main() -> int:
    """Write the page, or with ``--check`` say whether it is up to date."""
    if "--check" in sys.argv[1:]:
        return 0 if page() == PAGE.read_text(encoding="utf-8") else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
