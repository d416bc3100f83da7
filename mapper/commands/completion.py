"""What a shell completes: names of layers, networks, accelerators, methods and objectives.

A completion that fails completes nothing: a shell has no place for errors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from marl_common import plug_ins

Names = Callable[[str], list[str]]


def _quietly(names: Callable[[str], Iterable[str]]) -> Names:
    """Those of the names that begin like the word, none where they cannot be found."""

    @functools.wraps(names)
    def complete(incomplete: str) -> list[str]:
        try:
            return [name for name in names(incomplete) if name.startswith(incomplete)]
        except Exception:
            return []

    return complete


def _listed(names: Names) -> Names:
    """The same where names are joined by commas: the last one is completed."""

    @functools.wraps(names)
    def complete(incomplete: str) -> list[str]:
        head, comma, last = incomplete.rpartition(",")
        return [f"{head}{comma}{name}" for name in names(last)]

    return complete


@_quietly
def layers(incomplete: str) -> Iterable[str]:
    """Names of the zoo's layers: of a network once it is clear which, else the networks."""
    import layers

    network = incomplete.partition(".")[0]
    known = [name for name in layers.networks() if name.startswith(incomplete) or name == network]
    if len(known) > 1:
        return [f"{name}." for name in known]
    return [layer.name for name in known for layer in layers.network(name)]


@_quietly
def networks(incomplete: str) -> Iterable[str]:
    """Names of the zoo's networks."""
    import layers

    return layers.networks()


@_quietly
def accelerators(incomplete: str) -> Iterable[str]:
    """Names of the accelerators that are known."""
    from cost_models import CHAINS, PRESETS

    return [*PRESETS, *CHAINS]


@_quietly
def objectives(incomplete: str) -> Iterable[str]:
    """Names of the objectives."""
    from maestro_env import OBJECTIVES

    return OBJECTIVES


@_quietly
def dataflows(incomplete: str) -> Iterable[str]:
    """Names of dataflows."""
    from maestro_env import DATAFLOWS

    return DATAFLOWS


@_quietly
def methods(incomplete: str) -> Iterable[str]:
    """Names of the searchers that are installed."""
    return sorted(plug_ins("mapper.searchers"))


@_quietly
def cost_models(incomplete: str) -> Iterable[str]:
    """Names of the cost models that are installed."""
    return sorted(plug_ins("mapper.cost_models"))


@_quietly
def export_tools(incomplete: str) -> Iterable[str]:
    """Tools that mappings are exported to."""
    from mapper.export.export_files import TOOLS

    return TOOLS


layer_lists, objective_lists, method_lists = _listed(layers), _listed(objectives), _listed(methods)
