"""What the package `runs` offers, and what it costs to import."""

import subprocess
import sys

import pytest

import marl_runs


@pytest.mark.parametrize("name", marl_runs.__all__)
def test_every_name_of_the_surface_is_there(name):
    value = getattr(marl_runs, name)
    if not isinstance(value, str):  # a colour
        assert value.__module__.startswith(("marl_runs.", "typing", "collections", "builtins"))


def test_no_name_of_the_surface_is_also_a_module():
    """Importing the module would put it in the name's place."""
    import pkgutil

    assert not set(marl_runs.__all__) & {
        module.name for module in pkgutil.iter_modules(marl_runs.__path__)
    }


def test_the_database_library_is_imported_for_a_store_only():
    code = (
        "import sys; from marl_runs import Context, Experiment, StopFlag, print_rows\n"
        "assert 'sqlalchemy' not in sys.modules\n"
        "from marl_runs import Store\n"
        "assert 'sqlalchemy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
