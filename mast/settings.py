"""Configurations from files, and from the words of a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from marl_common import check_name, coerced, settings_of, typed
from mast.config import MastConfig
from mast.errors import MastError
from mast.registries import SETTINGS, check_parts, own_settings

FAITHFUL: dict[str, Any] = {
    "optimizer_state": "keep", "step_at_topology": False, "counted": "updates",
    "cw_values": "target",
}  # fmt: skip
"""As the paper and its released code have it; with two buffers and, in RES, Soft Mellowmax."""


def make_config(settings: Mapping[str, Any], *, faithful: bool = False) -> MastConfig:
    """A configuration.

    Args:
        settings: Settings by name, as texts or values; ``own`` may hold those that only a part has.
        faithful: Begin from what the paper has.

    Raises:
        MastError: No such setting or part, or a value that it may not have.
    """
    own = settings.get("own") or {}
    if not isinstance(own, Mapping):
        raise MastError("own: expected settings by name.")
    values = {name: value for name, value in settings.items() if name != "own"} | dict(own)
    known = {name: values.pop(name) for name in list(values) if name in settings_of(MastConfig)}
    known = coerced(MastConfig, known, MastError)
    config = MastConfig(**known)
    if faithful:
        buffer = {"buffer": "two"} if config.has("dual") else {}
        operator = {"operator": "soft-mellowmax"} if config.has("sm") else {}
        config = replace(config, **(FAITHFUL | buffer | operator | known))
    if values:
        usual = own_settings(config)
        for name in values:
            check_name("setting", name, [*SETTINGS, *usual], MastError)
        given = {n: typed(n, v, usual[n], MastError) for n, v in sorted(values.items())}
        config = replace(config, own=tuple((n, v) for n, v in given.items() if v != usual[n]))
    check_parts(config)
    return config


def parsed(words: Sequence[str]) -> dict[str, str]:
    """Names and values of texts ``NAME=VALUE``.

    Raises:
        MastError: A text is none, or names what another one does.
    """
    given: dict[str, str] = {}
    for text in words:
        name, equals, value = text.partition("=")
        if not equals:
            raise MastError(f"--set {text!r}: expected NAME=VALUE, such as lam=0.8.")
        if name in given:
            raise MastError(f"--set {text!r}: {name} is given twice; expected it once.")
        given[name] = value
    return given


def settings_text(config: MastConfig) -> str:
    """The whole configuration as YAML, which ``--config`` reads."""
    return yaml.safe_dump(config.plain(whole=True), sort_keys=False)
