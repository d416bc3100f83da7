"""A user's own file or folder that bears the name of one of our packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENTRIES = {
    "api": ("-c", "import marl_mapper; marl_mapper.map"),
    "environment": ("-c", "import maestro_env"),
    "command": ("-m", "mapper", "layers"),
}


def run(folder: Path, *words: str) -> tuple[int, str]:
    """Exit code and standard error of Python in a folder that it looks in first."""
    paths = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        *(("layers", entry) for entry in ENTRIES),
        ("layers.py", "api"),
        ("marl_runs", "command"),
        ("cost_models", "environment"),
        ("baselines", "api"),
    ],
)
def test_what_stands_before_a_package_is_named_with_the_cure(
    tmp_path: Path, name: str, entry: str
) -> None:
    place = tmp_path / name
    kind = "file" if place.suffix else "folder"
    if kind == "folder":
        place.mkdir()
    (place if kind == "file" else place / "__init__.py").touch()
    code, errors = run(tmp_path, *ENTRIES[entry])
    assert code == (2 if entry == "command" else 1)
    *_, last = errors.splitlines()
    assert f"{place} stands before the package {place.stem!r}" in last
    assert f"Rename that {kind}" in last
    assert entry != "command" or errors.count("\n") == 1


def test_what_a_package_does_not_need_may_stand_there(tmp_path: Path) -> None:
    for name in ("mast", "mst", "tests", "docs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    assert run(tmp_path, *ENTRIES["api"]) == (0, "")
