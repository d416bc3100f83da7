"""Options of commands, made of the dataclasses whose values they are."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

import typer

from marl_common.settings import OptionText, settings_of
from marl_common.spelling import not_known

CONTEXT = "parser_context"
KEYWORD = inspect.Parameter.KEYWORD_ONLY
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone on standard output.")]


class SettingsFileError(ValueError):
    """A configuration file that says what a command does not take."""


@dataclass(frozen=True)
class Given:
    """What a command line, or the file of ``--config``, says of a configuration.

    A command whose parameter is a subclass has an option for each setting of `parts`.

    Attributes:
        given: Settings that are given, by what commands call them.
        rest: What the file says beside the command's options; refused unless `takes_rest`.
    """

    parts: ClassVar[Sequence[type]] = ()
    only: ClassVar[Sequence[str]] = ()
    """Settings to have; none: all."""
    without: ClassVar[Sequence[str]] = ()
    several: ClassVar[Sequence[str]] = ()
    """Settings of which the command takes several values."""
    shown: ClassVar[Mapping[str, str]] = {}
    """Defaults in help that are not the fields' own."""
    said: ClassVar[Mapping[str, str]] = {}
    """Help that is not the fields' own."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Defaults of the command's own, which are always among those given."""
    takes_rest: ClassVar[bool] = False

    given: Mapping[str, Any] = field(default_factory=dict)
    rest: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def settings(cls) -> Iterator[tuple[type, str, str, Any, OptionText]]:
        """Part, field, what commands call it, default and setting, for each setting to have."""
        for part in cls.parts:
            for name, (default, setting) in settings_of(part).items():
                if name not in cls.without and (not cls.only or name in cls.only):
                    yield part, name, setting.key or name, default, setting


def takes_records(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of each parameter that is a dataclass.

    Of an :class:`Given` it gets what was given; the command then has ``--config FILE``, too.
    """
    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command).parameters
    records = {name: hints[name] for name in own if dataclasses.is_dataclass(hints[name])}
    options: list[inspect.Parameter] = []
    for name, one in own.items():
        if name in records:
            options += _parameters(records[name])
        else:
            options.append(one.replace(annotation=hints[name], kind=KEYWORD))
    options.append(inspect.Parameter(CONTEXT, KEYWORD, annotation=typer.Context))
    asked = [record for record in records.values() if issubclass(record, Given)]
    if any(not record.only for record in asked):
        options.append(_config_file(any(record.takes_rest for record in asked)))

    @functools.wraps(command)
    def called(**values: Any) -> None:
        context = values.pop(CONTEXT)
        made = {name: _record(record, values, context) for name, record in records.items()}
        command(**{name: made.get(name, values.get(name)) for name in own})

    called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in options}
    del called.__wrapped__
    return called


def _parameters(record: type) -> list[inspect.Parameter]:
    options = [_parameter(name, *known) for name, known in settings_of(record).items()]
    if issubclass(record, Given):
        for _, name, key, default, setting in record.settings():
            setting = replace(
                setting,
                shown=record.shown.get(name, setting.shown),
                help=record.said.get(name, setting.help),
            )
            several, own = name in record.several, record.defaults.get(name, default)
            options.append(_parameter(key, own, setting, several))
    return options


def _parameter(
    name: str, default: Any, setting: OptionText, several: bool = False
) -> inspect.Parameter:
    """What Typer makes an option of."""
    many, kind = several or isinstance(default, tuple), setting.kind
    shown: Any = setting.shown or True
    if many:
        kind, default = list[kind], None  # type: ignore[valid-type]
        shown = setting.shown or False
    elif setting.shown is not None:
        default = None
    ends: Any = {"min": setting.low, "max": setting.high} if setting.kind is int else {}
    words = setting.names or (f"--{name.replace('_', '-')}",)
    if kind is bool and not setting.names:
        words = (f"{words[0]}/--no-{words[0][2:]}",)
    looks: Any = {**ends, **setting.looks}
    info = typer.Option(*words, help=setting.help, show_default=shown, **looks)
    hint = kind | None if default is None else kind
    return inspect.Parameter(name, KEYWORD, default=default, annotation=Annotated[hint, info])


def _record(record: type, values: Mapping[str, Any], context: typer.Context) -> Any:
    """A record of a command's values."""
    held = {
        name: tuple(values[name] or default) if isinstance(default, tuple) else values[name]
        for name, (default, _) in settings_of(record).items()
    }
    if issubclass(record, Given):
        given = {}
        for _, name, key, _, _ in record.settings():
            source = context.get_parameter_source(key)
            said = name in record.defaults or source.name != "DEFAULT"  # type: ignore[union-attr]
            if said and values[key] is not None:
                given[key] = values[key]
        held |= {"given": given, "rest": context.meta.get("rest", {})}
    return record(**held)


def _config_file(takes_rest: bool) -> inspect.Parameter:
    def read(context: typer.Context, path: Path | None) -> Path | None:
        if path is not None:
            context.default_map, rest = _read(path, context)
            context.meta["rest"] = rest
            if rest and not takes_rest:
                known = sorted(one.name for one in context.command.params if one.name)
                raise SettingsFileError(f"{path}: {not_known('option', next(iter(rest)), known)}")
        return path

    info = typer.Option(
        "--config", help="YAML file of options by name; those given here go before.",
        is_eager=True, callback=read,
    )  # fmt: skip
    return inspect.Parameter(
        "config", KEYWORD, default=None, annotation=Annotated[Path | None, info]
    )


def _read(path: Path, context: typer.Context) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of a file by the names that commands know them by, and what is none.

    Raises:
        SettingsFileError: It cannot be read, or gives an option no value that it can have.
    """
    from marl_common.reading import read_yaml

    found = read_yaml(path, SettingsFileError, "settings by name: `layers: 6`, one a line")
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise SettingsFileError(f"{path}: expected settings by name, such as `layers: 6`")
    options = context.command.params
    known = {one.name: one for one in options if one.name not in ("config", "help")}
    values: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in found.items():
        key = name.replace("-", "_")
        if key not in known:
            rest[key] = value
        elif value is not None:
            values[key] = _words(f"{path}: {key}", value, known[key], context)
    return values, rest


def _words(where: str, value: Any, option: Any, context: typer.Context) -> Any:
    """A value of a file as a command line would give it."""
    parts = value if isinstance(value, list) else [value]
    plain = all(isinstance(part, str | int | float) for part in parts)
    if not plain or not (option.multiple or len(parts) == 1):
        raise SettingsFileError(f"{where}: got {value!r}, expected one value")
    words: Any = [part if isinstance(part, bool) else str(part) for part in parts]
    if option.multiple:
        words = [part for word in words for part in str(word).split(",") if part]
    given = words if option.multiple else words[0]
    try:
        option.process_value(context, given)
    except typer.BadParameter as problem:
        raise SettingsFileError(f"{where}: got {value!r}; {problem.message}") from None
    return given
