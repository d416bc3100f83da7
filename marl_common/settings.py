"""Settings: fields of dataclasses that commands have options for, each written in one place.

A field made by :func:`option` says what help says of it and which values it may have. Commands make
options of it (:func:`marl_common.takes_records`), files are read by it (:func:`coerced`), and
:func:`check_settings` in ``__post_init__`` refuses what no command would have taken.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from marl_common.spelling import not_known


@dataclass(frozen=True)
class OptionText:
    """What is known of a field that is an option.

    Attributes:
        help: What help says; empty: what the docstring of its class says.
        names: Names of the option, such as ``--lr``; none: the field's name.
        low: Least value.
        high: Largest value.
        above: Number that the value must exceed.
        below: Number that it must not reach.
        known: Names that it may have; none: any text.
        shown: Default that help shows, where a command works out its own.
        kind: Type of the value; None: that of the default.
        looks: What Typer knows besides, such as ``metavar`` and ``autocompletion``.
    """

    help: str = ""
    names: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    known: tuple[str, ...] = ()
    shown: str | None = None
    kind: Any = None
    looks: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def key(self) -> str:
        """What commands and configuration files call it; empty: as the field is called."""
        first = self.names[0].partition("/")[0] if self.names else ""
        return first.lstrip("-").replace("-", "_")

    @property
    def expected(self) -> str:
        """What a message says was expected."""
        if self.kind is bool:
            return "on or off"
        if self.kind not in (int, float):
            return "a word"
        text = "a whole number" if self.kind is int else "a number"
        if self.low is not None:
            ends = self.high is not None or self.below is not None
            text += f" from {self.low:g}" if ends else f" of at least {self.low:g}"
        text += f" above {self.above:g}" if self.above is not None else ""
        text += f" to {self.high:,}" if self.high is not None else ""
        return text + (f" below {self.below:g}" if self.below is not None else "")


def option(default: Any, help: str = "", *names: str, **limits: Any) -> Any:
    """A field of a frozen dataclass that is an option, see :class:`OptionText`.

    Args:
        default: Its default.
        help: What help says; empty: what the docstring of its class says.
        names: Names of the option; none: the field's name.
        limits: Attributes of :class:`OptionText`; all others are ``looks``.
    """
    kind = limits.pop("kind", None) or (str if default in (None, ()) else type(default))
    kind = Path if issubclass(kind, Path) else kind
    looks = {name: limits.pop(name) for name in [*limits] if name not in OptionText.__match_args__}
    setting = OptionText(help, names, kind=kind, looks=looks, **limits)
    return field(default=default, metadata={"setting": setting})


@lru_cache(maxsize=64)
def settings_of(record: type) -> dict[str, tuple[Any, OptionText]]:
    """Field -> default and setting, for each field that is an option."""
    said: dict[str, str] = {}
    for base in reversed(record.__mro__):
        said |= _described(base.__doc__ or "")
    return {
        one.name: (one.default, replace(setting, help=setting.help or said[one.name]))
        for one in fields(record)
        if (setting := one.metadata.get("setting")) is not None
    }


def _described(docstring: str) -> dict[str, str]:
    """What a docstring says of each attribute."""
    _, _, attributes = inspect.cleandoc(docstring).partition("Attributes:\n")
    found = re.findall(
        r"^    (\w+): (.+?)(?=^    \w+: |^\w|\Z)", attributes, re.DOTALL | re.MULTILINE
    )
    return {name: " ".join(text.split()) for name, text in found}


def check_settings(record: Any, error: Callable[[str], ValueError]) -> None:
    """Refuse a record with a value that one of its settings may not have.

    Raises:
        error: There is one; names it, its value, what was expected, and the nearest known name.
    """
    kind: type = type(record)
    values = {name: getattr(record, name) for name in settings_of(kind)}
    coerced(kind, values, error)


def coerced(
    record: type, values: Mapping[str, Any], error: Callable[[str], ValueError]
) -> dict[str, Any]:
    """Values of settings, from texts, files or code, as their fields have them.

    Args:
        record: The class of the settings.
        values: Some of them by name.
        error: Raised where one does not fit.

    Raises:
        error: See :func:`check_settings`; also where there is no such setting.
    """
    known = settings_of(record)
    found = {}
    for name, value in values.items():
        check_name("setting", name, known, error)
        found[name] = _one(name, value, *known[name], error)
    return found


def typed(name: str, value: Any, default: Any, error: Callable[[str], ValueError]) -> Any:
    """A value as what it stands in for has it, from a text or a file.

    Args:
        name: What messages begin with.
        value: What was given.
        default: What it stands in for; a word where that says no type.
        error: Raised where it is of another type.
    """
    first = default[0] if isinstance(default, tuple) and default else default
    kind = type(first) if type(first) in (bool, int, float) else str
    if value is None and kind is str:
        return None
    return _one(name, value, default, OptionText(kind=kind), error)


def _one(
    name: str, value: Any, default: Any, setting: OptionText, error: Callable[[str], ValueError]
) -> Any:
    if value is None and default is None:
        return None
    if isinstance(default, tuple):
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            raise error(f"{name}={value}: expected several values, by commas.")
        return tuple(_one(name, part, MISSING, setting, error) for part in parts)
    value = _valid(name, value, setting, error)
    if setting.known:
        check_name(name, value, setting.known, error)
    return value


def _valid(name: str, value: Any, setting: OptionText, error: Callable[[str], ValueError]) -> Any:
    whole = setting.kind is int and isinstance(value, float)
    try:
        if whole or (isinstance(value, bool) and setting.kind is not bool):
            raise ValueError
        return _adapter(setting).validate_python(value)
    except ValueError:  # pydantic's, too
        raise error(f"{name}={value}: expected {setting.expected}.") from None


@lru_cache(maxsize=512)
def _adapter(setting: OptionText) -> Any:
    from pydantic import Field, TypeAdapter

    limits = {"ge": setting.low, "le": setting.high, "gt": setting.above, "lt": setting.below}
    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    if setting.kind is float:
        given["allow_inf_nan"] = False
    kind: Any = Annotated[setting.kind, Field(**given)]
    return TypeAdapter(kind)


def check_name(
    what: str, given: object, known: Iterable[str], error: Callable[[str], ValueError]
) -> None:
    """Refuse a name that is none of those known.

    Args:
        what: Kind of thing that was named, e.g. ``"world"``.
        given: The name as given.
        known: Every name that would have been right.
        error: Raised where it is none of them; names the nearest one.
    """
    names = list(known)
    if given not in names:
        raise error(not_known(what, given, names))


def at_least(name: str, value: int, low: int, error: Callable[[str], ValueError]) -> int:
    """Return a whole number that is large enough.

    Raises:
        error: It is smaller than `low`.
    """
    if value < low:
        raise error(f"{name}={value}: expected a whole number of at least {low}.")
    return int(value)
