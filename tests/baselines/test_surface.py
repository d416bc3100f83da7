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


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ga", {"population": 1e30}, "population: got 1e[+]30, expected a whole number"),
        ("ga", {"population": 10**12}, "expected a whole number of at most 1,000,000,000"),
        ("ga", {"rate": float("nan")}, "rate: got nan, expected a finite number"),
        ("ga", {"carry": "yes"}, "carry: got 'yes', expected true or false"),
        ("ga", {"population": True}, "population: got True, expected a whole number"),
        ("ppo", {"reward": 3}, "reward: got 3, expected text"),
    ],
)
def test_options_of_a_wrong_type_are_refused(name: str, options: dict, message: str) -> None:
    with pytest.raises(baselines.SearcherError, match=message):
        baselines.load(name, **options)
