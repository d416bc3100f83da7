"""Build the wheels and try them in fresh environments outside of the checkout: ``make wheel``.

One wheel is built for each Python that is found, beside the one that runs this: on PATH, or among
pyenv's versions. The environments find no compiler. That of this Python gets the base dependencies
only, at the versions of ``constraints.txt``: no torch, no package for graphics cards. There the
programs start, a layer is mapped and proven from Python, and a search prints its answer. In those
of the other Pythons the kernels are called. ``mypy --strict`` of this environment checks a user's
program against the wheel, and against an editable install.

python -m benchmarks try_wheel --out dist
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from shutil import rmtree, which

from benchmarks.frame import asked

ROOT = Path(__file__).parents[1]
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
GPU = ("nvidia", "triton", "cuda", "torch")
PROGRAM = """
import marl_mapper
mapped = marl_mapper.map("conv:K=4,C=4,Y=6,X=6,R=3,S=3", "edge")
assert mapped.gap == 0, mapped
assert "site-packages" in marl_mapper.__file__, marl_mapper.__file__
print(mapped)
"""
USER = ROOT / "tests" / "marl_mapper" / "user_program.py"
KERNELS = """
import numpy as np
from cost_models.maestro import kernel
from maestro_env import Problem
problem = Problem("mlp.2", "edge", "edp", "maestro")
values = problem.evaluate(problem.space.sample(200, seed=0)).values
assert np.isfinite(values).any()
assert kernel.__file__.endswith(".so"), kernel.__file__
"""
VERSIONS = ("3.11", "3.12", "3.13")


def pythons() -> dict[str, str]:
    """An interpreter of each version that is found; this one for its own."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {own: sys.executable}
    for version in VERSIONS:
        places = [which(f"python{version}"), *pyenv.glob(f"{version}.*/bin/python")]
        for place in filter(None, places):
            done = subprocess.run([place, "-c", "import ensurepip"], capture_output=True)
            if done.returncode == 0:
                found.setdefault(version, str(place))
    return found


def run(*words: str | Path, folder: Path, compiler: bool = False) -> str:
    """What a command prints; its failure ends the trial."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if not compiler:
        outside["PATH"] = str(folder / "venv" / "bin")
    print("$", *words, flush=True)
    done = subprocess.run([str(word) for word in words], cwd=folder, text=True, env=outside,
                          capture_output=True)  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}failed with exit code {done.returncode}")
    return done.stdout


def build(python: str, out: Path) -> Path:
    """The wheel that an interpreter builds."""
    for stale in (ROOT / "build").glob("lib*"):
        rmtree(stale)
    run(python, *PIP, "wheel", "--no-deps", "--wheel-dir", out, ROOT, folder=ROOT, compiler=True)
    return max(out.glob("marl_mapper-*.whl"), key=lambda path: path.stat().st_mtime)


def environment(python: str, folder: Path, *install: str | Path) -> Path:
    """A fresh environment with what pip is told to install; its interpreter."""
    run(python, "-m", "venv", folder / "venv", folder=folder)
    inside = folder / "venv" / "bin" / "python"
    run(inside, *PIP, "install", *install, folder=folder)
    return inside


def try_all(python: str, wheel: Path, folder: Path) -> None:
    """Everything that the base dependencies allow."""
    constraints = ROOT / "constraints.txt"
    inside = environment(python, folder, "--constraint", constraints, wheel)
    installed = run(inside, "-m", "pip", "list", "--format=freeze", folder=folder)
    gpu = [line for line in installed.splitlines() if line.lower().startswith(GPU)]
    if gpu:
        sys.exit(f"the base install brings {', '.join(gpu)}")
    print(run(inside, "-c", PROGRAM, folder=folder))
    for program in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]:
        print(run(folder / "venv" / "bin" / program, "--version", folder=folder), end="")
    words = ("search", "--layer", "mlp.0", "--method", "random", "--budget", "200")
    print(run(folder / "venv" / "bin" / "mapper", *words, folder=folder))
    check_types(inside, folder)
    run(inside, *PIP, "install", "--no-deps", "--editable", ROOT, folder=folder, compiler=True)
    check_types(inside, folder)


def check_types(inside: Path, folder: Path) -> None:
    """Check a user's program against what an environment has installed."""
    strict = ("--strict", "--cache-dir", folder / "types", "--python-executable", inside)
    print(run(sys.executable, "-m", "mypy", *strict, USER, folder=folder))


def main() -> None:
    given = asked(__doc__, out=(ROOT / "dist", "folder for the wheels"))
    for python in pythons().values():
        wheel = build(python, given.out.absolute())
        with tempfile.TemporaryDirectory() as name:
            if python == sys.executable:
                try_all(python, wheel, Path(name))
            else:
                inside = environment(python, Path(name), wheel)
                run(inside, "-c", KERNELS, folder=Path(name))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, fit", flush=True)
