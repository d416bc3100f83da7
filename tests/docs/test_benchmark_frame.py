"""The frame of the benchmarks: options from a list, and a table that is gone on with."""

import sys
from pathlib import Path

import pytest

from benchmarks.frame import Table, asked, known


def table(calls: list[int]) -> Table:
    def row(given, number):
        calls.append(number)
        square = number * number + given.more
        return {"square": square} if number else (square,)

    return Table(
        "Squares.",
        ("number", "cpu_s", "square"),
        lambda given: ((n,) for n in range(given.numbers)),
        row,
        options={"numbers": 3, "more": (0, "is added")},
        quick={"more": 5},
        told=lambda rows, given: any(row["square"] == "4" for row in rows),
    )


def run(monkeypatch, calls: list[int], *words: str) -> bool:
    monkeypatch.setattr(sys, "argv", ["squares", *words])
    return table(calls).run()


def refused(monkeypatch, capsys, *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, [], *words)
    assert ended.value.code == 2
    return str(capsys.readouterr().err)


def test_a_table_is_gone_on_with_and_rows_are_shared(monkeypatch, tmp_path: Path) -> None:
    file, calls = tmp_path / "squares.csv", []
    assert not run(monkeypatch, calls, "--out", str(file), "--share", "1/2")
    with file.open("a") as text:
        text.write("2,0.0")  # stopped within a line
    assert run(monkeypatch, calls, "--out", str(file), "--numbers", "4")
    assert calls == [1, 0, 2, 3]
    squares = [(row["number"], row["square"]) for row in known(file)]
    assert squares == [("1", "1"), ("0", "0"), ("2", "4"), ("3", "9")]
    assert all(float(row["cpu_s"]) >= 0 for row in known(file))


def test_quick_makes_few_rows_of_little(monkeypatch, tmp_path: Path, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert not run(monkeypatch, [], "--quick")
    assert capsys.readouterr().out.splitlines() == ["0 5", "1 6"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("share", ["2/2", "0", "a/b", "0/0"])
def test_a_share_that_is_none_ends_with_one_line(monkeypatch, capsys, share: str) -> None:
    said = refused(monkeypatch, capsys, "--share", share)
    assert f"argument --share: got '{share}', expected I/N" in said


def test_a_file_of_other_columns_stays_as_it_is(monkeypatch, tmp_path: Path, capsys) -> None:
    file = tmp_path / "other.csv"
    file.write_text("number,cube\n1,1\n")
    said = refused(monkeypatch, capsys, "--out", str(file))
    assert "other.csv: has other columns; expected number" in said
    assert file.read_text() == "number,cube\n1,1\n"


def test_options_are_read_as_they_are_declared(monkeypatch) -> None:
    words = ("in.csv", "--rates", "0.5", "1", "--to", "x", "--fast", "--kind", "b")
    monkeypatch.setattr(sys, "argv", ["some", *words, "--more-of", "4"])
    given = asked(
        "Some.", path_=Path, rates=([1.0], "of all"), to=[Path], fast=False, slow=False,
        kind=("a", "which", ("a", "b")), more_of=3, few=int,
    )  # fmt: skip
    assert vars(given) == {
        "path": Path("in.csv"), "rates": [0.5, 1.0], "to": [Path("x")], "fast": True,
        "slow": False, "kind": "b", "more_of": 4, "few": None,
    }  # fmt: skip
