"""Names that a terminal or a table would obey, and streams that cannot show every sign."""

import errno
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mapper import cli
from marl_common import atomic_write
from tests.mapper.toys import Walk
from tests.programs import in_process
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
    assert text.startswith(f"{SEEN} on edge: edp ")
    assert f"Searching {SEEN}" in err
    assert "\x1b[31m" not in text + err


def test_runs_of_such_names_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from marl_runs import SilentReporter, Store, run_all

    monkeypatch.setattr(Walk, "name", ODD)
    path = tmp_path / "runs[1].sqlite"
    with Store.open(path) as store:
        run_all([Walk(1)], store, reporter=SilentReporter())
    assert SEEN in run("runs", "list", "--store", str(path))
    assert SEEN in run("runs", "show", "1", "--store", str(path))


def test_an_output_of_ascii_gets_ascii(net: Path) -> None:
    words = ["evaluate", "-l", "mlp.2", "--mapping", "docs/examples/mapping.yaml"]
    env = {"PYTHONIOENCODING": "ascii", "PATH": "", "HOME": str(net.parent)}
    command = [sys.executable, "-m", "mapper", *words]
    done = subprocess.run(command, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("ascii")
    assert "mm^2" in text
    assert " uJ" in text or " nJ" in text


def test_a_full_disk_names_the_file_that_was_written(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    path = tmp_path / "made.csv"
    with pytest.raises(OSError, match="No space left on device") as found, atomic_write(path):
        raise full
    assert found.value.filename == str(path)
    other = OSError(errno.ENOENT, "not found", "other.csv")
    with pytest.raises(OSError, match="other") as found, atomic_write(path):
        raise other
    assert found.value.filename == "other.csv"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        "export --to maestro --layer mlp.2 --mapping m.yaml",
        "search --method random --budget 50 -l mlp.2 --store {store}",
    ],
)
def test_a_command_says_which_file_the_disk_had_no_room_for(words, tmp_path, monkeypatch):
    whole = {"orders": ["KCYXRS"] * 2, "parallel": ["K", "C"], "tiles": [{}, {}], "cluster_size": 1}
    (tmp_path / "m.yaml").write_text(json.dumps(whole), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def refuse(self: Path, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", refuse)
    text = f"mapper {words} --out out"
    code, out, err = in_process(text.format(store=tmp_path / "s.sqlite").split())
    assert code == 1
    assert ("mlp.fc3 on edge: edp" in out) == ("search" in words)
    last = err.splitlines()[-1]
    assert re.fullmatch(r"error: out/\w+\.\w+: No space left on device", last)
    assert list((tmp_path / "out").iterdir()) == []
