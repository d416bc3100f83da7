"""Configurations from files, and from the words of a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, replace
from pathlib import Path
from typing import Any

import yaml

from marl_common import read_yaml
from mast.config import MastConfig
from mast.errors import MastError, check_name
from mast.registries import SETTINGS, check_parts, own_settings

_BY_OPTION = ("task", "algorithm", "arm", "sparsity", "without", "own")
_TRUTH = {"true": True, "false": False, "on": True, "off": False}
FAITHFUL = {
    "optimizer_state": "keep", "step_at_topology": False, "counted": "updates",
    "cw_values": "target",
}  # fmt: skip
"""As the paper and its released code have it; with two buffers and, in RES, Soft Mellowmax."""


def make_config(
    words: Sequence[str] | None = (), file: Path | None = None, *, faithful: bool = False,
    **options: Any,
) -> MastConfig:  # fmt: skip
    """A configuration.

    Args:
        words: ``NAME=VALUE`` for settings that have no option; they go before all others.
        file: YAML with settings by name.
        faithful: Begin from what the paper has.
        **options: Settings by name, which go before those of the file.

    Raises:
        MastError: No such setting or part, or a value that it may not have.
    """
    said = _parsed(words or ())
    values = ({} if file is None else read_settings(file)) | options | said

    def read(name: str, default: Any) -> Any:
        return typed(name, values[name], default, "--set " if name in said else "")

    known = {name: read(name, SETTINGS[name]) for name in values if name in SETTINGS}
    config = MastConfig(**known)
    if faithful:
        config = replace(config, **(_faithful(config) | known))
    if rest := [name for name in values if name not in SETTINGS]:
        own = own_settings(config)
        for name in rest:
            check_name("setting", name, [*SETTINGS, *own])
        given = [(name, read(name, own[name])) for name in sorted(rest)]
        differing = [(name, value) for name, value in given if value != own[name]]
        config = replace(config, own=tuple(differing))
    check_parts(config)
    return config


def _faithful(config: MastConfig) -> dict[str, Any]:
    buffer = {"buffer": "two"} if config.has("dual") else {}
    operator = {"operator": "soft-mellowmax"} if config.has("sm") else {}
    return FAITHFUL | buffer | operator


def _parsed(words: Sequence[str]) -> dict[str, str]:
    """Names and values of texts ``NAME=VALUE``."""
    given: dict[str, str] = {}
    for text in words:
        name, equals, value = text.partition("=")
        if not equals:
            raise MastError(f"--set {text!r}: expected NAME=VALUE, such as lam=0.8.")
        if name in given:
            raise MastError(f"--set {text!r}: {name} is given twice; expected it once.")
        if name in ("", *_BY_OPTION):
            check_name("setting", name, [n for n in SETTINGS if n not in _BY_OPTION])
        given[name] = value
    return given


def read_settings(file: Path) -> dict[str, Any]:
    """Settings by name from a YAML file, those of parts too.

    Raises:
        MastError: It holds something else.
    """
    found = read_yaml(file, MastError)
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise MastError(f"{file}: expected settings by name, such as `gamma: 0.95`.")
    own = found.pop("own", None) or {}
    if not isinstance(own, Mapping):
        raise MastError(f"{file}: own: expected settings by name.")
    return found | dict(own)


def settings_text(config: MastConfig) -> str:
    """The whole configuration as YAML, which :func:`read_settings` reads."""
    return yaml.safe_dump(config.plain(whole=True), sort_keys=False)


def typed(name: str, value: Any, default: Any, said: str = "") -> Any:
    """A value as its setting's type, from a text or a file.

    Args:
        name: The setting.
        value: What was given.
        default: The setting's default, whose type counts.
        said: What messages begin with.

    Raises:
        MastError: It is none.
    """
    if isinstance(default, tuple):
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            raise MastError(f"{said}{name}={value}: expected several values, by commas.")
        one = float if name == "agent_sparsities" else str
        return tuple(_one(said + name, part, one) for part in parts)
    if value is None and (default is None or default is MISSING):
        return None
    return _one(said + name, value, str if default is None or default is MISSING else type(default))


def _one(name: str, value: Any, kind: type) -> Any:
    wrong = isinstance(value, bool) != (kind is bool) and not isinstance(value, str)
    try:
        if kind is bool:
            return _TRUTH[value.lower()] if isinstance(value, str) else bool(value)
        if wrong or isinstance(value, list | dict) or (kind is int and isinstance(value, float)):
            raise ValueError
        return kind(value)
    except (ValueError, KeyError, TypeError):
        what = {bool: "on or off", int: "a whole number", float: "a number"}.get(kind, "a word")
        raise MastError(f"{name}={value}: expected {what}.") from None


def checked_device(device: str) -> str:
    """A device that is there.

    Raises:
        MastError: It is not.
    """
    if device == "cpu":
        return device
    import torch

    check_name("device", device.partition(":")[0], ("cpu", "cuda"))
    if not torch.cuda.is_available():
        raise MastError(f"device {device!r} is not there; use --device cpu.")
    return device
