"""Ctrl-C at a terminal while Python still imports a command line."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

SLOW = """
import time
print("importing", flush=True)
time.sleep(600)
"""


def own_terminal() -> None:
    """Take standard input as the terminal that Ctrl-C is typed at."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job's may be ignored


def read_to(end: str, fd: int) -> str:
    """What a terminal shows up to a text; to its end, where that is empty."""
    text = ""
    while not end or end not in text:
        try:
            part = os.read(fd, 1024)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        text += part.decode()
    return text


def started(library: str, tmp_path: Path, *words: str) -> tuple[int, str]:
    """The exit code and words of a program that is stopped while it imports a library."""
    (tmp_path / f"{library}.py").write_text(SLOW)
    ours, theirs = pty.openpty()
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    process = subprocess.Popen(
        [sys.executable, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        preexec_fn=own_terminal,
    )
    os.close(theirs)
    try:
        assert "importing" in read_to("importing\r\n", ours)
        os.write(ours, b"\x03")
        return process.wait(60), read_to("", ours)
    finally:
        process.kill()
        os.close(ours)


@pytest.mark.parametrize("library", ["lazy_loader", "typer"])
@pytest.mark.parametrize("program", ["mapper", "mpe_marl", "mast", "mst"])
def test_ctrl_c_while_a_program_is_imported_is_one_line(
    program: str, library: str, tmp_path: Path
) -> None:
    code, text = started(library, tmp_path, "-c", f"from marl_start import {program} as m; m()")
    assert (code, text.strip()) == (130, "^Cerror: stopped by Ctrl-C")


def test_the_same_where_the_package_is_run(tmp_path: Path) -> None:
    code, text = started("typer", tmp_path, "-m", "mapper")
    assert (code, text.strip()) == (130, "^Cerror: stopped by Ctrl-C")
