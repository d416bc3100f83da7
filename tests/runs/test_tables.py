"""Tables: what a narrow terminal leaves out, and that no figure is ever cut."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marl_runs import Column, print_rows
from marl_runs.table_layout import ALWAYS, GAP, Extent, fit, split
from tests.terminals import terminal


@st.composite
def extents(draw: st.DrawFn) -> Extent:
    head = draw(st.integers(1, 20))
    return Extent(
        cell=draw(st.integers(1, 30)),
        head=head,
        word=draw(st.integers(1, head)),
        keep=draw(st.sampled_from([0, 1, 2, 3, ALWAYS])),
        fold=draw(st.sampled_from([None, 4, 16])),
    )


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(extents(), min_size=1, max_size=12), st.integers(10, 160))
def test_what_fits_stays_and_what_stays_is_whole(columns: list[Extent], room: int) -> None:
    layout = fit(columns, room)
    total = sum(layout.widths) + GAP * (len(layout.widths) - 1)
    stay = [columns[place] for place in layout.columns]
    assert [c for c in columns if c.keep == ALWAYS] == [c for c in stay if c.keep == ALWAYS]
    for column, width in zip(stay, layout.widths, strict=True):
        assert column.least <= width <= column.full
        assert column.fold is not None or width >= column.cell
    assert total <= room or all(column.keep == ALWAYS for column in stay)
    if sum(c.full for c in columns) + GAP * (len(columns) - 1) <= room:
        assert layout.columns == tuple(range(len(columns)))
        assert layout.widths == tuple(column.full for column in columns)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(extents(), min_size=2, max_size=12), st.integers(10, 160))
def test_tables_below_each_other_hold_every_column_once(columns: list[Extent], room: int) -> None:
    layouts = split(columns, room)
    assert all(layout.columns[0] == 0 for layout in layouts)
    assert [place for layout in layouts for place in layout.columns[1:]] == list(
        range(1, len(columns))
    )
    for layout in layouts:
        total = sum(layout.widths) + GAP * (len(layout.widths) - 1)
        assert total <= room or len(layout.columns) == 2


def test_columns_of_the_least_keep_leave_first() -> None:
    columns = [Extent(10, 4, 4, ALWAYS), Extent(10, 4, 4, 2), Extent(10, 4, 4, 1)]
    assert fit(columns, 34).columns == (0, 1, 2)
    assert fit(columns, 33).columns == (0, 1)
    assert fit(columns, 21).columns == (0,)
    assert fit(columns, 5).columns == (0,)


def test_names_fold_before_what_is_worth_it_leaves() -> None:
    columns = [Extent(40, 4, 4, ALWAYS, 16, 5), Extent(10, 4, 4, 6), Extent(10, 4, 4, 4)]
    assert fit(columns, 64).columns == (0, 1, 2)
    assert fit(columns, 63).columns == (0, 1)
    assert fit(columns, 40).widths == (28, 10)
    assert fit(columns, 27).widths == (27,)


ROWS = [
    {"name": "net.conv[/x]", "macs": 118_013_952, "stride": 2, "N": 1},
    {"name": "net.a_name_that_is_rather_long_for_forty", "macs": 1, "stride": 1, "N": 1},
]


def test_a_line_says_what_a_terminal_has_no_room_for() -> None:
    columns = [Column.name("name"), Column("macs", keep=9), Column("stride"), Column("N", keep=0)]
    with terminal(40) as out:
        print_rows("Layers", ROWS, "", columns)
    assert max(map(len, out.lines)) <= 40
    assert "118,013,952" in out.text
    assert "no room for stride, N (1 everywhere)" in " ".join(out.text.split())
    assert "…" not in out.text
    assert "net.conv[/x]" in out.text


def test_without_a_terminal_a_line_holds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"name": "x" * 2000, "value": 7, "\x1bbad": "\x1b[31m"}]
    print_rows("Rows", rows)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "x" * 2000 in lines[2]
    assert lines[2].rstrip().endswith("\\x1b[31m")
    assert "\x1b" not in "".join(lines)


def test_nothing_is_a_table_too(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows("0 runs", [])
    print_rows("0 runs", [], "", [Column.name("name"), Column("value")])
    assert capsys.readouterr().out.startswith("0 runs\n")
