"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cost_models
from mapper.commands import completion
from mapper.results.output import check_writable
from marl_common import LARGEST_SEED, suggest, value_of

if TYPE_CHECKING:
    from cost_models import Accelerator, Chain


PICTURES = (".png", ".pdf", ".svg")
"""Endings of pictures that are drawn."""


class OptionError(ValueError):
    """A command's option that cannot be used as given."""


MOST_SAMPLES = 10**15
MOST_SEEDS = 10_000
"""What options refuse to go beyond."""

LAYER_HELP = (
    "Zoo name (mobilenetv2.2), FILE.yaml:NAME, or in line: "
    "conv:K=64,C=64,Y=58,X=58,R=3,S=3,stride=1, gemm:M=128,N=768,K=768 "
    "(Y, X input extents, padding included)."
)
OBJECTIVE_HELP = (
    "latency, energy, edp, area, power, energy_total, edp_total, or a product "
    "such as 'latency*area'; it is minimised."
)
_LAYER = typer.Option("--layer", "-l", help=LAYER_HELP, autocompletion=completion.layers)
LayerOption = Annotated[str, _LAYER]
OptionalLayer = Annotated[str | None, _LAYER]
ObjectiveOption = Annotated[
    str,
    typer.Option("--objective", "-o", help=OBJECTIVE_HELP, autocompletion=completion.objectives),
]
SPACE_OPTIONS = (
    *("tiles", "filters", "parallel", "orders", "co_search", "dataflow", "full", "levels"),
    *("uneven", "axis_dims"),
)
"""Options of a map space that the command line sets."""
SeedOption = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Same seed, same samples.")]
DEFAULT_STORE = "runs.sqlite"
StoreOption = Annotated[
    str, typer.Option("--store", metavar="PATH|URL", help="SQLite file, or any database URL.")
]
TARGET_HELP = "Arrived is: value <= TARGET times the best any method found."
TargetOption = Annotated[float, typer.Option(help=TARGET_HELP)]


def leave_out(others: Mapping[str, object], beside: str) -> None:
    """Refuse options that nothing would read.

    Args:
        others: What is said, by its name; what is empty or False is not said.
        beside: What they stand beside, and that it says all itself.

    Raises:
        OptionError: One of them is said.
    """
    for name, value in others.items():
        if value:
            raise OptionError(f"{beside}; leave {name} out")


def check_word(flag: str, given: str, known: Iterable[str], what: str = "") -> None:
    """Refuse a word that an option does not know; `what` stands before the known ones.

    Raises:
        OptionError: It is none of them.
    """
    names = list(known)
    if given not in names:
        hint = suggest(given, names)
        raise OptionError(f"{flag}: got {given!r}, expected {what}{', '.join(names)}.{hint}")


def check_file(flag: str, path: Path) -> None:
    """Check that a file can be written, before anything is done for it.

    Raises:
        OptionError: It is a folder.
        OutputError: Its folder cannot be written to.
    """
    if path.is_dir():
        raise OptionError(f"{flag} {path}: is a folder; expected a file's name")
    check_writable(path.parent, flag)


def checked_target(target: float) -> None:
    """Check the ratio to the best value that counts as arrived.

    Raises:
        OptionError: It is below 1, infinite or not a number.
    """
    if not 1 <= target < float("inf"):
        raise OptionError(
            f"--target: got {target:g}, expected a number of at least 1, such as 1.05"
        )


def picture_file(flag: str, path: Path) -> None:
    """Check the file of a picture, before anything is computed for it.

    Raises:
        OptionError: Its ending is no picture's, or its folder cannot be written to.
    """
    if path.suffix.lower() not in PICTURES:
        raise OptionError(f"{flag} {path}: expected a name that ends in {', '.join(PICTURES)}")
    check_file(flag, path)


def chip_of(
    text: str, sets: Sequence[str] = (), overrides: Mapping[str, str | None] | None = None
) -> Accelerator | Chain:
    """The accelerator that a name or file gives, with single fields replaced.

    Args:
        text: As ``--accelerator`` takes it.
        sets: ``PATH=VALUE`` texts of ``--set``.
        overrides: Fields of :class:`Accelerator` as text; None leaves a field alone.

    Raises:
        AcceleratorError: The text names no accelerator, or a field is wrong.
        OptionError: A field is neither a whole number nor ``none``, one is given twice, or one of
            the short form is given for a list of levels.
    """
    from dataclasses import replace

    chip = cost_models.load_chip(text)
    fields: dict[str, Any] = {
        field: _limit(field, value)
        for field, value in (overrides or {}).items()
        if value is not None
    }
    paths = {path: "--" + field.replace("_", "-") for field in fields for path in _paths(field)}
    for path in (text.partition("=")[0] for text in sets):
        if path in paths:
            raise OptionError(f"--set {path}: {paths[path]} gives it already; give it once")
        paths |= dict.fromkeys(_paths(path), f"--set {path}")
    if isinstance(chip, cost_models.Accelerator):
        return cost_models.with_fields(replace(chip, **fields), sets)
    if [level.name for level in chip.memories] == ["L2", "L1"]:
        sets = [*_as_paths(fields), *sets]
        fields = {
            field: value for field, value in fields.items() if field not in cost_models.SHORT_PATHS
        }
    for field in fields:
        flag = "--" + field.replace("_", "-")
        names = ", ".join(level.name for level in chip.memories)
        raise OptionError(
            f"{flag}: the levels of {text} are a list; say which with --set levels.NAME.FIELD="
            f"VALUE, such as --set levels.{chip.memories[-1].name}.bytes=32k; levels: {names}"
        )
    return cost_models.with_fields(chip, sets)


def _paths(field: str) -> tuple[str, ...]:
    """A field's path, and those that say the same."""
    return field, *cost_models.SHORT_PATHS.get(field, ())


def _as_paths(fields: dict[str, int | None]) -> Iterator[str]:
    """``PATH=VALUE`` texts of fields of the short form; bandwidths are bits there."""
    for field, value in fields.items():
        for path in cost_models.SHORT_PATHS.get(field, ()):
            bits = value if value is None or field.endswith("bytes") else 8 * value
            yield f"{path}={'null' if bits is None else bits}"


def _limit(field: str, value: str) -> int | None:
    if value.lower() in ("none", "unlimited"):
        return None
    try:
        return int(value)
    except ValueError:
        flag = "--" + field.replace("_", "-")
        raise OptionError(
            f"{flag}: got {value!r}, expected a whole number or none (unlimited)"
        ) from None


def space_of(
    space: Sequence[str] | None, dataflow: str | None, cost_model: str | None = None
) -> dict[str, Any]:
    """Options of a map space.

    Args:
        space: ``NAME=VALUE`` texts, ``full``, or the name of one of the paper's spaces.
        dataflow: The option ``dataflow``, where it has a flag of its own.
        cost_model: What the space will be searched under, if anything is.

    Raises:
        OptionError: One is unknown or comes twice.
        MapSpaceError: There is no such dataflow, or a paper's space is not for the cost model.
    """
    from maestro_env import PAPER_SPACES, check_cost_model, dataflow_named

    given = [f"{text}=true" if text in ("full", "uneven") else text for text in space or []]
    named = [text for text in given if text in PAPER_SPACES]
    if len(named) > 1:
        raise OptionError(f"--space: {' and '.join(named)} are two spaces; give one of them")
    if named and cost_model is not None:
        check_cost_model(named[0], cost_model.partition(":")[0])
    others = [text for text in given if text not in named]
    options = pairs_of("--space", others, SPACE_OPTIONS)
    if named:
        options = dict(PAPER_SPACES[named[0]]) | options
    if dataflow is None:
        return options
    if "dataflow" in options:
        raise OptionError("--dataflow: --space dataflow=... is there too; give one of them")
    return options | {"dataflow": dataflow_named(dataflow).name}


def with_pairs(words: Mapping[str, Any], pairs: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a method that have a word of their own, and those of ``--option``.

    Raises:
        OptionError: One is given both ways; a word that is False is not given.
    """
    for name in (name for name in pairs if words.get(name, False) is not False):
        flag = "--" + name.replace("_", "-")
        raise OptionError(f"--option {name}: {flag} gives it already; give it once")
    return {**words, **pairs}


def cost_model_with(cost_model: str, given: Sequence[str] | None) -> str:
    """A cost model's name with further options, as ``NAME:OPTION=VALUE:...``.

    Raises:
        OptionError: A text is no ``NAME=VALUE``.
        CostModelError: The model does not take one, or it comes twice.
    """
    for text in given or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise OptionError(
                f"--cost-model-option: got {text!r}, expected NAME=VALUE such as "
                "double_buffer=false"
            )
        cost_model += f":{name.replace('-', '_')}={value}"
    if given:
        cost_models.load(cost_model)
    return cost_model


def pairs_of(
    flag: str, texts: Sequence[str] | None, known: Iterable[str] | None = None
) -> dict[str, Any]:
    """``NAME=VALUE`` texts as a dict; a value is read as a number, or else as YAML.

    Args:
        flag: The option's name, for messages.
        texts: What was given.
        known: The names there are; None leaves the check to whoever takes the pairs.

    Raises:
        OptionError: A text has no ``=``, or a name is unknown or comes twice.
    """
    names = None if known is None else list(known)
    pairs: dict[str, Any] = {}
    for text in texts or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        if not equals or not name or not value:
            raise OptionError(f"{flag}: got {text!r}, expected NAME=VALUE")
        if names is not None and name not in names:
            hint = suggest(name, names)
            raise OptionError(
                f"{flag}: unknown name {name!r}; expected one of {', '.join(names)}.{hint}"
            )
        if name in pairs:
            raise OptionError(f"{flag}: {name} is given twice; give it once")
        pairs[name] = value_of(value)
    return pairs


def cores() -> int:
    """Processors that this process may use: how many workers there are where nothing is said."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
