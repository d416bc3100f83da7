"""Build the wheel and try it in a fresh environment outside of the checkout: ``make wheel``.

The environment gets the base dependencies only, at the versions of ``constraints.txt``: no torch,
no package for graphics cards. There the programs start, a layer is mapped and proven from Python,
and a search prints its answer.

python benchmarks/try_wheel.py --out dist
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
GPU = ("nvidia", "triton", "cuda", "torch")
PROGRAM = """
import marl_mapper
mapped = marl_mapper.map("conv:K=4,C=4,Y=6,X=6,R=3,S=3", "edge")
assert mapped.gap == 0, mapped
assert "site-packages" in marl_mapper.__file__, marl_mapper.__file__
print(mapped)
"""


def run(*words: str | Path, folder: Path) -> str:
    """What a command prints; its failure ends the trial."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    print("$", *words, flush=True)
    done = subprocess.run([str(word) for word in words], cwd=folder, text=True, env=outside,
                          capture_output=True)  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}failed with exit code {done.returncode}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the wheel")
    out = parser.parse_args().out.absolute()
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", out, ROOT, folder=ROOT)
    wheel = max(out.glob("marl_mapper-*.whl"), key=lambda path: path.stat().st_mtime)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        constraints = ROOT / "constraints.txt"
        run(python, *pip, "install", "--constraint", constraints, wheel, folder=folder)
        installed = run(python, "-m", "pip", "list", "--format=freeze", folder=folder)
        gpu = [line for line in installed.splitlines() if line.lower().startswith(GPU)]
        if gpu:
            sys.exit(f"the base install brings {', '.join(gpu)}")
        print(run(python, "-c", PROGRAM, folder=folder))
        for program in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]:
            print(run(folder / "venv" / "bin" / program, "--version", folder=folder), end="")
        words = ("search", "--layer", "mlp.0", "--method", "random", "--budget", "200")
        print(run(folder / "venv" / "bin" / "mapper", *words, folder=folder))
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, fit")


if __name__ == "__main__":
    main()
