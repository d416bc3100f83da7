"""Options of commands from the fields of records: each is written once, where its value lives."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from marl_common import read_yaml
from mst.errors import MstError, unknown_choice

KEY = "option"


@dataclass(frozen=True)
class OptionText:
    """What a command line says of a field.

    Attributes:
        help: Its help.
        kind: Type of the value; None: that of the field's default.
        low: Least value.
        high: Largest value.
        name: The option, such as ``--lr``; empty: the field's name.
        shown: Default that help shows; None: the field's own.
    """

    help: str
    kind: Any = None
    low: int | None = None
    high: int | None = None
    name: str = ""
    shown: str | None = None


def option(default: Any, help: str, **text: Any) -> Any:
    """A field of a frozen record that is an option of commands, see :class:`OptionText`."""
    return field(default=default, metadata={KEY: OptionText(help, **text)})


def option_fields(record: type) -> Iterator[tuple[str, Any, OptionText]]:
    """Name, default and text of each field of a record that is an option."""
    for one in fields(record):
        if KEY in one.metadata:
            yield one.name, one.default, one.metadata[KEY]


def option_name(field_name: str, text: OptionText) -> str:
    """The name under which commands and configuration files have a field."""
    first = (text.name or field_name).partition("/")[0]
    return first.lstrip("-").replace("-", "_")


def parameter(name: str, default: Any, text: OptionText, given: Any = MISSING) -> inspect.Parameter:
    """What Typer makes an option of.

    Args:
        name: Name of the parameter.
        default: Default of the field.
        text: What is said of it.
        given: What a command gets where the option is left out; the field's default where missing.
    """
    kind = text.kind or type(default)
    shown = text.shown or (str(default) if given is None and default not in ("", None) else None)
    value = default if given is MISSING else given
    limits: dict[str, Any] = {}
    if kind in (int, list[int]):
        limits = {"min": text.low, "max": text.high}
    if kind is bool and given is None:
        kind, shown = bool | None, text.shown
    elif value is None:
        kind = kind | None
    words = [text.name or f"--{name.replace('_', '-')}"]
    info = typer.Option(*words, help=text.help, show_default=shown or value is not None, **limits)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=Annotated[kind, info]
    )


def takes_records(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of each parameter that is a record with `parameters`.

    Such a parameter's class has ``parameters() -> list`` and ``of_options(values) -> record``. The
    command also takes ``--config FILE``: YAML of options, for which the command line's stand.
    """
    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command).parameters
    records = {name: hints[name] for name in own if hasattr(hints[name], "of_options")}
    found: list[inspect.Parameter] = []
    for name, one in own.items():
        if name in records:
            found += records[name].parameters()
        else:
            found.append(one.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
    found.append(_config_parameter())

    @functools.wraps(command)
    def called(**values: Any) -> None:
        values.pop("config")
        kept = {name: values[name] for name in own if name not in records}
        made = {name: record.of_options(values) for name, record in records.items()}
        command(**kept, **made)

    called.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in found}
    del called.__wrapped__
    return called


def _config_parameter() -> inspect.Parameter:
    info = typer.Option(
        "--config", help="YAML file of options by name; those given here go before.",
        is_eager=True, callback=_read_config,
    )  # fmt: skip
    return inspect.Parameter(
        "config", inspect.Parameter.KEYWORD_ONLY, default=None,
        annotation=Annotated[Path | None, info],
    )  # fmt: skip


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    if path is not None:
        known = {
            one.name: bool(getattr(one, "multiple", False))
            for one in context.command.params
            if one.name and one.name not in ("config", "help")
        }
        context.default_map = read_options(path, known)
    return path


def read_options(path: Path, known: Mapping[str, bool]) -> dict[str, Any]:
    """Options of a file by the names that commands know them by.

    Args:
        path: A YAML file: ``layers: 6``, ``lr: 0.001``, ``phases: none``.
        known: Names of the command's options, ``lr-law`` and ``lr_law`` being the same, and
            whether one may be given several times.

    Raises:
        MstError: It cannot be read, or names another option.
    """
    values = read_yaml(path, MstError, "a configuration: `layers: 6`, an option a line")
    if not isinstance(values, Mapping):
        raise MstError(f"{path}: holds no options; expected lines such as `layers: 6`")
    found: dict[str, Any] = {}
    for name, value in values.items():
        key = str(name).replace("-", "_")
        if key not in known:
            raise MstError(f"{path}: {unknown_choice('option', key, sorted(known))}")
        several = value if isinstance(value, list) else [value]
        plain = all(isinstance(one, str | int | float) for one in several)
        if value is not None and (not plain or (len(several) != 1 and not known[key])):
            raise MstError(
                f"{path}: {key}: got {value!r}, expected one value; write `{key}: VALUE`"
            )
        if value is not None:
            words = [one if isinstance(one, bool) else str(one) for one in several]
            found[key] = words if known[key] else words[0]
    return found


class OptionRecord:
    """A frozen dataclass all of whose :func:`option` fields are options of a command."""

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """What a command that has the record takes."""
        return [parameter(*one) for one in option_fields(cls)]

    @classmethod
    def of_options(cls, values: Mapping[str, Any]) -> Any:
        """The record from a command's values."""
        return cls(**{name: values[name] for name, _, _ in option_fields(cls)})
