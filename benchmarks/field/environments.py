"""Each tool's own environment: pinned packages, outside the checkout; and runs of its mapper."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path

from benchmarks.export_rules import Node
from benchmarks.field.answer import Tool, ToolError
from benchmarks.field.cases import FieldCase

HOME = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "marl-mapper-field"
SAID = "said.json"


def python_of(tool: Tool, home: Path, make: bool = True) -> str:
    """The Python of a tool's environment, made where there is none.

    Args:
        tool: The tool.
        home: Folder of all environments.
        make: Whether to make one; without it, no package is asked for.

    Raises:
        ToolError: There is no such Python, or a package can't be installed.
    """
    folder = home / "-".join((*tool.packages, tool.python)).replace("=", "")
    python = folder / "bin" / "python"
    if python.exists() or not make:
        return str(python)
    base = shutil.which(f"python{tool.python}")
    if base is None:
        raise ToolError(f"{tool.name}: needs Python {tool.python} on the path, which is not there")
    draft = folder.with_name(folder.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    said = _run([base, "-m", "venv", str(draft)]) or _run(
        [str(draft / "bin" / "python"), "-m", "pip", "install", "--quiet", *tool.packages]
    )
    if said:
        shutil.rmtree(draft, ignore_errors=True)
        raise ToolError(f"{tool.name}: its environment can't be made: {said}")
    draft.rename(folder)
    return str(python)


def _run(words: list[str]) -> str:
    """What a command that fails says last; nothing where it succeeds."""
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else (run.stderr.strip().splitlines() or ["it failed"])[-1]


def asked(tool: Tool, case: FieldCase, python: str, folder: Path, limit_s: int) -> Node:
    """What a mapper says of a case; taken from the folder where it has been asked before.

    Args:
        tool: The tool.
        case: The case.
        python: The Python of its environment.
        folder: Where its files go.
        limit_s: Processor time after which it is stopped [s].

    Raises:
        ToolError: It gave no answer.
    """
    kept = folder / SAID
    if kept.is_file():
        said: Node = json.loads(kept.read_text(encoding="utf-8"))
        return said
    folder.mkdir(parents=True, exist_ok=True)
    tool.state(case, folder)

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))

    try:
        run = subprocess.run(
            tool.command(python, folder, *tool.words(case.objective)),
            capture_output=True,
            text=True,
            cwd=folder,
            preexec_fn=bounded,
            check=False,
        )
    except OSError as error:
        raise ToolError(f"{tool.name}: {error}") from None
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode or not lines:
        if run.returncode < 0:
            raise ToolError(f"no answer in {limit_s} s of processor time")
        raise ToolError((run.stderr.strip().splitlines() or ["it printed nothing"])[-1])
    kept.write_text(lines[-1] + "\n", encoding="utf-8")
    answered: Node = json.loads(lines[-1])
    return answered
