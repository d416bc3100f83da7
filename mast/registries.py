"""All registries of parts, and whether a configuration's parts are there."""

from __future__ import annotations

import dataclasses
from typing import Any

from marl_common import not_known
from mast.agents import AGENTS
from mast.buffers import BUFFERS
from mast.config import MastConfig
from mast.errors import MastError
from mast.mixers import MIXERS
from mast.operators import OPERATORS
from mast.parts import Registry
from mast.returns import RETURNS
from mast.rules import DROPS, GROWTHS

REGISTRIES: dict[str, Registry[Any]] = {
    registry.what: registry
    for registry in (AGENTS, MIXERS, OPERATORS, RETURNS, BUFFERS, GROWTHS, DROPS)
}
SETTINGS = {field.name: field.default for field in dataclasses.fields(MastConfig)}
"""Settings of the configuration itself, with their defaults."""


def own_settings(config: MastConfig) -> dict[str, Any]:
    """Settings that only the configuration's parts have, with their defaults.

    Raises:
        MastError: A part is not known.
    """
    return {
        field.name: field.default
        for what, name in config.part_names().items()
        for field in dataclasses.fields(REGISTRIES[what].find(name))
        if not hasattr(config, field.name)
    }


def check_parts(config: MastConfig) -> None:
    """Make sure that all parts can be made, with the settings that are theirs.

    Raises:
        MastError: A part is not known, or has no such setting.
    """
    own = own_settings(config)
    for name, _ in config.own:
        if name not in own:
            raise MastError(not_known("setting", name, [*SETTINGS, *own]))
    for what, name in config.part_names().items():
        REGISTRIES[what].make(name, config)
