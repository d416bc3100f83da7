"""Searchers by name: those that are installed, and any class that can be imported."""

from __future__ import annotations

import importlib
from dataclasses import is_dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from baselines.searcher import Searcher, SearcherError
from marl_common import plug_ins, suggest, working_folder_modules

if TYPE_CHECKING:
    from baselines.optimal import Optimal

ENTRY_POINT_GROUP = "mapper.searchers"
OFFERED = ("name", "config", "capabilities", "search")
"""What an object must have to be a searcher, see :class:`baselines.Searcher`."""


def names() -> list[str]:
    """Names of the installed searchers, sorted."""
    return sorted(plug_ins(ENTRY_POINT_GROUP))


def load(name: str, /, **config: Any) -> Searcher:
    """Load a searcher.

    Args:
        name: A name of :func:`names`, such as ``"ga"``, or ``"module:Class"``: a class in a module
            that can be imported, or that lies in the working folder.
        config: Fields of that searcher's config.

    Raises:
        SearcherError: The name is unknown, the module or class is not there or is no searcher, an
            optional dependency is missing, or the searcher does not take an option.
    """
    if ":" in name:
        return _imported(name, config)
    points = plug_ins(ENTRY_POINT_GROUP)
    if name not in points:
        hint = suggest(name, points)
        raise SearcherError(
            f"searcher {name!r} is not known; expected one of {', '.join(sorted(points))}, or "
            f"module:Class.{hint}"
        )
    searcher: Searcher = points[name].load()(**config)
    return searcher


def prover_of(searcher: Searcher) -> Optimal | None:
    """The searcher as one that bounds a problem's optimum and may be told when to stop; else None.

    A searcher that proves nothing imports nothing of the proof.
    """
    if not searcher.capabilities.proves_optimum:
        return None
    from baselines.optimal import Optimal

    return searcher if isinstance(searcher, Optimal) else None


def _imported(path: str, config: dict[str, Any]) -> Searcher:
    """The searcher of a class that no package has registered."""
    made = _class_of(path)
    try:
        searcher = made(**config)
    except TypeError as error:
        raise SearcherError(
            f"searcher {path!r}: cannot be made with {config or 'no options'}: {error}"
        ) from error
    missing = [name for name in OFFERED if not hasattr(searcher, name)]
    if missing:
        raise SearcherError(
            f"searcher {path!r}: lacks {', '.join(missing)}; derive the class from "
            "baselines.BaseSearcher, or give it what baselines.Searcher asks for"
        )
    if not is_dataclass(searcher.config):
        raise SearcherError(
            f"searcher {path!r}: config is {searcher.config!r}, expected a dataclass of its options"
        )
    found: Searcher = searcher
    return found


def _class_of(path: str) -> type[Any]:
    module_name, _, name = path.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), name]):
        raise SearcherError(
            f"searcher {path!r}: expected a name, or module:Class as in mypackage.search:Mine"
        )
    module = _module(path, module_name)
    classes = {key: value for key, value in vars(module).items() if isinstance(value, type)}
    if name in classes:
        return classes[name]
    if hasattr(module, name):
        raise SearcherError(f"searcher {path!r}: {name} is {getattr(module, name)!r}, no class")
    raise SearcherError(
        f"searcher {path!r}: {module_name} has no class {name!r}.{suggest(name, classes)}"
    )


def _module(path: str, name: str) -> ModuleType:
    try:
        with working_folder_modules():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise SearcherError(
                f"searcher {path!r}: importing {name} needs the module {error.name!r}, "
                "which is not installed"
            ) from error
        raise SearcherError(
            f"searcher {path!r}: there is no module {error.name!r}; install its package, or run "
            "in the folder that holds it"
        ) from error
    except Exception as error:
        raise SearcherError(
            f"searcher {path!r}: importing {name} fails: {type(error).__name__}: {error}"
        ) from error
