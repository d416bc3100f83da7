"""What the package `baselines` offers."""

import pkgutil
import subprocess
import sys

import pytest

import baselines


@pytest.mark.parametrize("name", baselines.__all__)
def test_every_name_of_the_surface_is_there(name: str) -> None:
    assert getattr(baselines, name).__module__.startswith("baselines.")


def test_no_name_of_the_surface_is_also_a_module() -> None:
    """Importing the module would put it in the name's place."""
    modules = {module.name for module in pkgutil.iter_modules(baselines.__path__)}
    assert not set(baselines.__all__) & modules


def test_names_are_known_before_a_searcher_is_imported() -> None:
    code = "import sys, baselines; baselines.names(); assert 'maestro_env' in sys.modules, 'x'"
    heavy = "assert not {'torch', 'optuna', 'botorch', 'scipy.stats', 'cma'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"{code}; {heavy}"], check=True)
