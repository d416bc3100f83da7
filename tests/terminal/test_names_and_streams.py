"""Names that a terminal or a table would obey, and streams that cannot show every sign."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mapper import cli
from tests.mapper.toys import Walk
from tests.terminals import terminal

ODD = "conv[/x]\x1b[31m"
SEEN = "conv[/x]\\x1b[31m"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net[v2].yaml"
    path.write_text(
        f'layers:\n  - {{name: "{ODD}", kind: gemm, M: 4, N: 4, K: 4}}\n'.replace("\x1b", "\\x1b")
    )
    return path


def run(*words: str) -> str:
    """What a command line shows on a terminal of 100 columns."""
    with terminal(100) as out, pytest.raises(SystemExit) as end:
        cli.main(list(words))
    assert end.value.code == 0
    return out.text


@pytest.mark.parametrize("command", ["layers", "space --network", "search --budget 20 --network"])
def test_names_are_shown_as_they_are(command: str, net: Path) -> None:
    words = [*command.split(), str(net)]
    if "search" in words:
        words += ["--method", "random"]
    text = run(*words)
    assert SEEN in text
    assert "\x1b[31m" not in text


def test_a_search_of_one_such_layer_names_it(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run("search", "--method", "random", "--budget", "20", "-l", f"{net}:0")
    err = capsys.readouterr().err
    assert f"Best mapping of {SEEN}" in text
    assert f"Searching {SEEN}" in err
    assert "\x1b[31m" not in text + err


def test_runs_of_such_names_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from runs import SilentReporter, Store, run_all

    monkeypatch.setattr(Walk, "name", ODD)
    path = tmp_path / "runs[1].sqlite"
    with Store.open(path) as store:
        run_all([Walk(1)], store, reporter=SilentReporter())
    assert SEEN in run("runs", "list", "--store", str(path))
    assert SEEN in run("runs", "show", "1", "--store", str(path))


def test_an_output_of_ascii_gets_ascii(net: Path) -> None:
    words = ["evaluate", "-l", "mlp.2", "--mapping", "docs/examples/mapping.yaml"]
    done = subprocess.run(
        [sys.executable, "-m", "mapper", *words],
        env={"PYTHONIOENCODING": "ascii", "PATH": "", "HOME": str(net.parent)},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("ascii")
    assert "mm^2" in text
    assert " uJ" in text or " nJ" in text


def test_a_full_disk_is_a_fault_in_one_line() -> None:
    command = f"{sys.executable} -m mapper layers > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: standard output: No space left on device\n"
