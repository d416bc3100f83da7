"""What pages say was measured is what files of docs/data hold.

A comment of its own line before a table or a paragraph says where its figures are from:

- ``<!-- data: FILE.csv -->``: each row of the table is a row of the file. Columns are matched by
  their titles; a number of the table is the file's, rounded to the digits that the table shows.
- ``<!-- figures: FILE.csv -->``: each fractional number of the paragraph is some cell of the file.
- ``<!-- quoted: WHOSE -->``: figures that others printed, not measured here.

On the pages listed no table or paragraph with fractional numbers goes without.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import findings
from benchmarks.frame import known

DOCS = Path(__file__).parents[2] / "docs"
CHECKED = ("../README.md", "results.md", "marl.md", "sparse.md", "mst.md", "mpe.md", "paper.md")
"""Pages on which every table is checked."""
PROSE = ("../README.md", "results.md")
"""Pages on which every paragraph is checked, too."""
MARKED = ("mast.md", "accelerators.md", "networks.md", "field.md")
"""Pages on which what says its file is checked; the other tables have none yet."""
MARK = re.compile(r"<!-- (?P<kind>data|figures|quoted): (?P<source>.+?) -->")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
FRACTION = re.compile(r"(?<![\w./-])\d[\d,]*\.\d+(?![\w/-]|\.\d)")
CODE = re.compile(r"`[^`]*`|\]\([^)]*\)")


def blocks(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Kind of mark, its source, and the lines of every table and paragraph; fences are left out."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip().splitlines()
        mark = MARK.fullmatch(lines[0]) if lines else None
        if mark:
            yield mark["kind"], mark["source"], lines[1:]
        elif lines:
            yield "", "", lines


def cells(line: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def agrees(shown: str, kept: str) -> bool:
    """Whether a table's cell says what the file's does, as far as its digits go."""
    if shown == kept:
        return True
    if not (NUMBER.fullmatch(shown) and NUMBER.fullmatch(kept)):
        return False
    shown = shown.replace(",", "")
    mantissa, _, exponent = shown.partition("e")
    digits = len(mantissa.partition(".")[2])
    half = 0.5000001 * 10.0 ** (int(exponent or 0) - digits)
    return abs(float(shown) - float(kept)) <= half


def faults(kind: str, source: str, lines: list[str]) -> Iterator[str]:
    """What a marked block says that its file does not."""
    if kind == "quoted":
        return
    with (DOCS / "data" / source).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    if kind == "figures":
        values = [value for row in rows for value in row.values()]
        for number in FRACTION.findall(CODE.sub("", " ".join(lines))):
            if not any(agrees(number, value) for value in values):
                yield f"{source} has no {number}"
        return
    titles = cells(lines[0])
    for line in lines[2:]:
        shown = dict(zip(titles, cells(line), strict=True))
        if not any(all(agrees(shown[t], row.get(t, "")) for t in titles) for row in rows):
            yield f"{source} has no row {shown}"


@pytest.mark.parametrize("name", [*CHECKED, *MARKED])
def test_figures_of_a_page_are_those_of_its_files(name: str) -> None:
    wrong = []
    for kind, source, lines in blocks((DOCS / name).read_text(encoding="utf-8")):
        table = lines[:1] and lines[0].startswith("|")
        if kind:
            wrong += faults(kind, source, lines)
        elif name in MARKED:
            continue
        elif (table or name in PROSE) and FRACTION.search(CODE.sub("", " ".join(lines))):
            wrong.append(f"says no file: {lines[0]}")
    assert not wrong, "\n".join([f"docs/{name}:", *wrong])


def test_a_wrong_figure_is_found(tmp_path: Path) -> None:
    """The check itself: a digit that differs, one that is rounded, a row that is not there."""
    kept = str(tmp_path / "kept.csv")
    Path(kept).write_text('where,cases,figure\n"edge, edp",66,0.294\n')
    table = ["| where | cases | figure |", "|---|---|---|"]
    good = "| edge, edp | 66 | 0.29 |"
    assert not list(faults("data", kept, [*table, good]))
    for bad in ("| edge, edp | 66 | 0.28 |", "| edge, edp | 65 | 0.29 |", "| moon | 66 | 0.29 |"):
        assert len(list(faults("data", kept, [*table, bad]))) == 1
    assert not list(faults("figures", kept, ["it takes 0.294 s on all of 66"]))
    assert list(faults("figures", kept, ["it takes 0.291 s"])) == [f"{kept} has no 0.291"]


def test_the_findings_are_those_of_the_files_they_come_from() -> None:
    kept = known(DOCS / "data" / "findings.csv")
    found = [{name: str(cell) for name, cell in row.items()} for row in findings.rows(None)]
    assert found == kept, "run: python -m benchmarks findings"
