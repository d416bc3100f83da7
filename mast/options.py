"""Options of commands, made from the fields of dataclasses and what their docstrings say."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from mast.config import MastConfig

SETTING = Annotated[
    list[str] | None, typer.Option("--set", help="Any other setting: NAME=VALUE. Repeatable.")
]
FILE = Annotated[
    Path | None, typer.Option("--config", help="YAML with settings by name; options go before it.")
]
FAITHFUL = Annotated[
    bool, typer.Option("--faithful", help="Buffers, operator and optimiser as the paper has them.")
]


@dataclass(frozen=True)
class Given:
    """What a command line says of configurations.

    Attributes:
        values: Settings that are given, by name; several values where a command takes several.
        words: Texts ``NAME=VALUE``.
        file: YAML file.
        faithful: Begin from what the paper has.
    """

    values: Mapping[str, Any]
    words: list[str]
    file: Path | None
    faithful: bool

    def config(self, **more: Any) -> MastConfig:
        """The configuration, with some settings in place of those that are given.

        Raises:
            MastError: A setting is wrong.
        """
        from mast.settings import checked_device, make_config

        values = {**self.values, **more}
        checked_device(values.get("device", "cpu"))
        return make_config(self.words, self.file, faithful=self.faithful, **values)

    def several(self, name: str, default: list[Any]) -> list[Any]:
        """All values of a setting: those given, the file's, or a default."""
        value = self.values.get(name)
        if value is None and self.file is not None:
            from mast.settings import read_settings

            value = read_settings(self.file).get(name)
        return default if value is None else value if isinstance(value, list) else [value]


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def takes_config(
    several: Collection[str] = (), without: Collection[str] = (), **defaults: str
) -> Decorator:
    """Give a command all options of :class:`MastConfig`, as its first parameter ``given``.

    Args:
        several: Settings of which it takes several values.
        without: Settings that it has no option for.
        **defaults: Defaults in its help that are the command's own.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        chosen = [f for f in fields(MastConfig) if "names" in f.metadata and f.name not in without]
        texts, hints = said_of(MastConfig), get_type_hints(MastConfig)
        options = [
            _option(f, hints[f.name], texts[f.name], f.name in several, defaults.get(f.name))
            for f in chosen
        ]
        names = [option.name for option in options]
        options += [_keyword("setting", SETTING, None), _keyword("file", FILE, None)]
        options.append(_keyword("faithful", FAITHFUL, False))
        options.append(_keyword("context", typer.Context))

        @functools.wraps(command)
        def called(context: typer.Context, **words: Any) -> None:
            values = {name: words.pop(name) for name in names}
            for name in names:
                if context.get_parameter_source(name).name == "DEFAULT":  # type: ignore[union-attr]
                    del values[name]
            if values.pop("share", False):
                values["share"] = False  # --own
            setting, file, faithful = (words.pop(n) for n in ("setting", "file", "faithful"))
            command(Given(values, setting or [], file, faithful), **words)

        return _with_parameters(called, command, options, "given")

    return decorated


def takes(kind: type[Any]) -> Decorator:
    """Give a command an option for each field of a dataclass, which is its parameter ``run``."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        texts, hints = said_of(kind), get_type_hints(kind)
        options = [
            _keyword(
                f.name,
                Annotated[
                    hints[f.name], typer.Option(*_names(f), help=texts[f.name], **_limits(f))
                ],
                f.default,
            )
            for f in fields(kind)
        ]

        @functools.wraps(command)
        def called(*given: Any, **words: Any) -> None:
            run = kind(**{f.name: words.pop(f.name) for f in fields(kind)})
            command(*given, run=run, **words)

        return _with_parameters(called, command, options, "run")

    return decorated


def said_of(kind: type[Any]) -> dict[str, str]:
    """What a dataclass's docstring says of each field."""
    _, _, attributes = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")
    found = re.findall(r"^    (\w+): (.+?)(?=^    \w+: |\Z)", attributes, re.DOTALL | re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def _option(field: Field[Any], hint: Any, text: str, several: bool, default: str | None) -> Any:
    if field.name == "share":
        own = typer.Option("--own", help="A network for each agent, instead of one.")
        return _keyword("share", Annotated[bool, own], False)
    kind = hint if hint in (int, float, str) else str
    if several or isinstance(field.default, tuple):
        shown: Any = default or (str(field.default) if field.default else False)
        option = typer.Option(*_names(field), help=text, show_default=shown, **_limits(field))
        return _keyword(field.name, Annotated[list[kind] | None, option], None)  # type: ignore[valid-type]
    option = typer.Option(*_names(field), help=text, **_limits(field))
    return _keyword(field.name, Annotated[kind | None, option], default or field.default)


def _names(field: Field[Any]) -> tuple[str, ...]:
    names: tuple[str, ...] = field.metadata.get("names", ())
    return names


def _limits(field: Field[Any]) -> dict[str, Any]:
    return {key: value for key, value in field.metadata.items() if key != "names"}


def _keyword(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _with_parameters(
    called: Any, command: Callable[..., None], options: list[Any], replaced: str
) -> Callable[..., None]:
    """A function whose signature has options in place of the parameter that they make up."""
    hints = get_type_hints(command, include_extras=True)
    own = list(inspect.signature(command).parameters.values())
    rest = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints.get(p.name, p.annotation))
        for p in own
        if p.name != replaced
    ]
    called.__signature__ = inspect.Signature([*options, *rest])
    called.__annotations__ = {p.name: p.annotation for p in (*options, *rest)}
    del called.__wrapped__
    return called  # type: ignore[no-any-return]
