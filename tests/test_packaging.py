"""The wheel's list of packages names every package there is."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CODE = (".py", ".so", ".nbi", ".nbc")


def test_every_package_is_in_the_wheel() -> None:
    listed = SETTINGS["tool"]["setuptools"]["packages"]
    tops = SETTINGS["tool"]["importlinter"]["root_packages"]
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for top in tops
        for path in (ROOT / top).rglob("__init__.py")
    }
    assert set(listed) == found
    assert len(listed) == len(set(listed))


def test_every_data_file_is_in_the_wheel() -> None:
    """What is no Python file but lies in a package is named under package-data."""
    setuptools = SETTINGS["tool"]["setuptools"]
    everywhere = setuptools["package-data"]["*"]
    for package in setuptools["packages"]:
        folder = ROOT.joinpath(*package.split("."))
        patterns = [*everywhere, *setuptools["package-data"].get(package, [])]
        known = {path for pattern in patterns for path in folder.glob(pattern)}
        there = {path for path in folder.iterdir() if path.is_file() and path.suffix not in CODE}
        assert there <= known, package


def test_extras_bring_no_package_for_graphics_cards() -> None:
    """Only torch's own version decides that: it is pinned, and extras name nothing of the kind."""
    extras = SETTINGS["project"]["optional-dependencies"]
    names = " ".join(need for needs in extras.values() for need in needs)
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for word in ("nvidia", "cuda", "triton", "torchvision"):
        assert word not in names + pinned
    assert "\ntorch==" in pinned
