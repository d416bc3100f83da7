"""What a shell completes: names of layers, networks, accelerators, methods and objectives.

A completion that fails completes nothing: a shell has no place for errors.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable

import cost_models as models
import layers as zoo
from marl_common import plug_ins

Names = Callable[[str], list[str]]


def _quietly(names: Callable[[str], Iterable[str]]) -> Names:
    """Those of the names that begin like the word, none where they cannot be found."""

    def complete(incomplete: str) -> list[str]:
        try:
            return [name for name in names(incomplete) if name.startswith(incomplete)]
        except Exception:
            return []

    return complete


def _listed(names: Names) -> Names:
    """The same where names are joined by commas: the last one is completed."""

    def complete(incomplete: str) -> list[str]:
        head, comma, last = incomplete.rpartition(",")
        return [f"{head}{comma}{name}" for name in names(last)]

    return complete


def _layers(incomplete: str) -> Iterable[str]:
    """Names of the zoo's layers: of a network once it is clear which, else the networks."""
    network = incomplete.partition(".")[0]
    known = [name for name in zoo.networks() if name.startswith(incomplete) or name == network]
    if len(known) > 1:
        return [f"{name}." for name in known]
    return [layer.name for name in known for layer in zoo.network(name)]


def _table(module: str, name: str) -> Names:
    """Names in a table of a module, which is imported when a word is completed."""
    return _quietly(lambda _: getattr(importlib.import_module(module), name))


layers = _quietly(_layers)
networks = _quietly(lambda _: zoo.networks())
accelerators = _quietly(lambda _: [*models.PRESETS, *models.CHAINS])
objectives, dataflows = _table("maestro_env", "OBJECTIVES"), _table("maestro_env", "DATAFLOWS")
methods = _quietly(lambda _: sorted(plug_ins("mapper.searchers")))
cost_models = _quietly(lambda _: sorted(plug_ins("mapper.cost_models")))
export_tools = _table("mapper.export.export_files", "TOOLS")
layer_lists, objective_lists, method_lists = _listed(layers), _listed(objectives), _listed(methods)
