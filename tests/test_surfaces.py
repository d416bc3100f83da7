"""What each package offers: every name is there, and importing the package costs little."""

import ast
import importlib
import importlib.util
import pkgutil
from pathlib import Path

import pytest

from tests.programs import python

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "marl_common", "layers", "cost_models", "maestro_env", "mapper", "marl_mapper", "mpe_marl",
    "mst", "sparse_training", "mast",
)  # fmt: skip
LATE = ("marl_runs", "baselines")
"""Their names are there, whose modules are heavier."""
PARTS = ("layers.importing", "cost_models.exact", "baselines.optimal")
HEAVY = ("torch", "ray", "sqlalchemy", "matplotlib", "pydantic", "sklearn", "optuna", "numba")
EXTRAS = ("torch", "pettingzoo", "mpe2", "sklearn")


@pytest.mark.parametrize("name", [*PACKAGES, *PARTS, *LATE])
def test_every_name_is_there_and_in_the_stub(name: str) -> None:
    """In order; and none is also a module, whose import would put it in the name's place."""
    package = importlib.import_module(name)
    assert package.__all__
    for public in package.__all__:
        try:
            getattr(package, public)
        except ModuleNotFoundError as error:
            if error.name not in EXTRAS:
                raise
    assert package.__file__ is not None
    tree = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    offered = {alias.asname for node in imports for alias in node.names}
    assert list(package.__all__) == sorted(offered - {None})
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not set(package.__all__) & modules


def command(words: str) -> str:
    """Code that gives the mapper a command line."""
    imports = "from typer.testing import CliRunner as R; from mapper.cli import app"
    return f"{imports}; assert not R().invoke(app, {words.split()!r}).exit_code"


SEARCH = "search --layer gemm:M=4,N=4,K=4 --method random --budget 8 --no-proof --json"
LIGHT = {
    f"import {', '.join(PACKAGES)}": HEAVY,
    "import baselines; baselines.names()": ("torch", "optuna", "botorch", "scipy.stats", "cma"),
    "from marl_runs import Context, Experiment, StopFlag, print_rows": ("sqlalchemy",),
    "from marl_runs import Store; Store.open('new').close(); Store.open('new').close()": (
        "alembic",
    ),
    "import cost_models; cost_models.Accelerator.preset('edge')": ("pydantic",),
    "import gymnasium; gymnasium.make('maestro_env:MaestroEnv-v0').reset(seed=0)": (
        "torch", "ray", "matplotlib", "pettingzoo", "stable_baselines3", "sklearn",
    ),
    "import mpe_marl.cli": ("torch", "matplotlib", "numba", "sqlalchemy"),
    command("-h"): (
        *HEAVY, "numpy", "scipy", "yaml", "gymnasium", "layers", "cost_models",
    ),
    command(SEARCH): (
        "baselines.optimal.proof", "layers.importing.report", "cost_models.exact.simulator",
    ),
}  # fmt: skip
"""What imports none of what is heavy."""


@pytest.mark.parametrize("code", LIGHT)
def test_nothing_heavy_is_imported(code: str, tmp_path: Path) -> None:
    script = f"import sys; {code}; print(*(set({LIGHT[code]!r}) & set(sys.modules)))"
    assert python(script, folder=tmp_path).split() == []


USED = """
import sys
import baselines
from mapper.cli import main
from maestro_env import Problem
folder = sys.argv[1]
for words in (
    ["search", "--layer", "gemm:M=8,N=4,K=6", "--certificate", f"{folder}/proof.json"],
    ["search", "--layer", "gemm:M=8,N=4,K=6", "--method", "zero-shot", "--budget", "80"],
    ["explain", "--layer", "gemm:M=8,N=4,K=6"],
    ["validate", "--certificate", f"{folder}/proof.json"],
):
    try:
        main(words)
    except SystemExit as done:
        assert not done.code, (words, done.code)
problem = Problem("gemm:M=4,N=4,K=2", space={"only": {"cluster_size": [1, 2]}})
baselines.load("exhaustive").search(problem, 3000, 0)
if "torch" in sys.argv:
    baselines.load("marl").search(Problem("gemm:M=8,N=4,K=6"), 100, 0)
print(*sorted(name for name in sys.modules if name.partition(".")[0] in ("numba", "llvmlite")))
"""


def test_the_mapper_compiles_nothing_at_first_use(tmp_path: Path) -> None:
    """Proofs, their check, trained agents and MARL run without Numba, which extras bring."""
    there = ["torch"] if importlib.util.find_spec("torch") is not None else []
    assert python(USED, str(tmp_path), *there).splitlines()[-1] == ""


def test_packages_carry_their_types() -> None:
    assert all((ROOT / name / "py.typed").exists() for name in [*PACKAGES, *LATE])
