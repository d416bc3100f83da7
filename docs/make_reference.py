"""Write the reference's pages: public names from the ``.pyi`` files, commands from the programs."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marl_common import atomic_write

PACKAGES = (
    "marl_mapper",
    "layers",
    "cost_models",
    "maestro_env",
    "baselines",
    "mapper",
    "marl_runs",
    "marl_common",
    "mpe_marl",
    "mast",
    "mst",
    "sparse_training",
)
PROGRAMS = {
    "mapper": "mapper.cli",
    "mpe-marl": "mpe_marl.cli",
    "mast": "mast.cli",
    "mst": "mst.cli",
}
NAME = re.compile(r"^from (\.[\w.]*) import (\w+) as (\w+)$", re.MULTILINE)


def write(folder: Path) -> None:
    """Write all pages; those that say the same as before stay as they are.

    Args:
        folder: Where they go.
    """
    folder.mkdir(exist_ok=True)
    pages = {f"{package}.rst": "".join(package_page(package)) for package in PACKAGES}
    pages |= {f"cli-{name}.md": "".join(program_page(name)) for name in PROGRAMS}
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            with atomic_write(path) as draft:
                draft.write_text(text, encoding="utf-8")


def public_names(package: str) -> list[tuple[str, str]]:
    """What a package offers: each name with the module it lives in, as the stub lists them."""
    home = importlib.import_module(package)
    stub = Path(str(home.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    found = [(name, package + module.rstrip(".")) for module, _, name in NAME.findall(stub)]
    missing = set(home.__all__) - {name for name, _ in found}
    if missing:
        raise ValueError(f"{package}/__init__.pyi: {sorted(missing)} cannot be read")
    return found


def package_page(package: str) -> Iterator[str]:
    """The page of a package, as reStructuredText for autodoc, piece by piece."""
    home = importlib.import_module(package)
    yield f"{package}\n{'=' * len(package)}\n\n{(home.__doc__ or '').partition(chr(10))[0]}\n\n"
    for name, module in public_names(package):
        shown = getattr(home, name)
        if isinstance(shown, type):
            elsewhere = not shown.__module__.startswith(f"{package}.")  # its own page has it too
            yield f".. autoclass:: {package}.{name}\n"
            yield "   :no-index:\n\n" if elsewhere else "\n"
        elif inspect.isroutine(shown) or hasattr(shown, "py_func"):
            yield f".. autofunction:: {package}.{name}\n\n"
        else:
            yield f".. py:data:: {package}.{name}\n\n   {_constant(module, name)}\n\n"


def _constant(module: str, name: str) -> str:
    """What the source says below a constant: Python itself keeps no docstring of it."""
    source = inspect.getsource(importlib.import_module(module))
    said = re.search(
        rf'^{name}\b[^\n]*(?:\n[ )}}\]][^\n]*)*\n"""(.*?)"""', source, re.MULTILINE | re.DOTALL
    )
    text = "" if said is None else re.sub(r"\s+", " ", said[1])
    return text or f"See :mod:`{module}`."


def program_page(name: str) -> Iterator[str]:
    """The page of a program, as Markdown, piece by piece."""
    import typer

    app = importlib.import_module(PROGRAMS[name]).app
    command: Any = typer.main.get_command(app)
    yield f"# {name}\n\n{command.help}\n\nMade from the program itself; `{name} --help` says the "
    yield "same.\n"
    for verb in command.list_commands(None):
        yield from _command(f"{name} {verb}", command.get_command(None, verb))


def _command(title: str, command: Any) -> Iterator[str]:
    yield f"\n## {title}\n\n{_plain(inspect.cleandoc(command.help or ''))}\n\n"
    shown = [param for param in command.params if not getattr(param, "hidden", False)]
    if shown:
        yield "| option | is |\n|---|---|\n"
    for param in shown:
        names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
        value = f" {_plain(param.metavar)}" if param.metavar else ""
        yield f"| {names}{value} | {_cell(param)} |\n"


def _cell(param: Any) -> str:
    text = getattr(param, "help", None) or ""
    default = getattr(param, "show_default", None)
    if not isinstance(default, str):
        value = param.default
        plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        default = str(value) if plain and value != "" else ""
    said = f" (default: {default})" if default else ""
    return _plain(" ".join(text.split())) + said


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return re.sub(r"([|<>*_\[\]])", r"\\\1", text)
