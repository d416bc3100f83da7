"""Configurations from the words of a command line."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from mast.config import MastConfig
from mast.errors import MastError, check_name

_BY_OPTION = ("task", "algorithm", "arm", "sparsity", "without")
_TRUTH = {"true": True, "false": False, "on": True, "off": False}


def make_config(settings: Sequence[str] | None, **options: Any) -> MastConfig:
    """A configuration from options, and from texts ``NAME=VALUE`` for all other settings.

    Raises:
        MastError: A text is no setting, or its value is none that the setting may have.
    """
    fields = {f.name: f for f in dataclasses.fields(MastConfig) if f.name not in _BY_OPTION}
    given: set[str] = set()
    for text in settings or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise MastError(f"--set {text!r}: expected NAME=VALUE, such as lam=0.8.")
        check_name("setting", name, fields)
        if name in given:
            raise MastError(f"--set {text!r}: {name} is given twice; expected it once.")
        given.add(name)
        options[name] = _value(name, value, fields[name].default)
    return MastConfig(**options)


def _value(name: str, text: str, default: Any) -> Any:
    try:
        if isinstance(default, bool):
            return _TRUTH[text.lower()]
        return type(default)(text) if default is not None else text
    except (ValueError, KeyError):
        kind = {bool: "on or off", int: "a whole number"}.get(type(default), "a number")
        raise MastError(f"--set {name}={text}: expected {kind}.") from None


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
