"""``mapper export``: a mapping as another tool's files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import layers
from mapper.commands import completion
from mapper.commands.options import OptionError, leave_out
from mapper.commands.problem_options import MaybeLayer, NamedChip
from mapper.commands.stay_options import RESULT
from mapper.commands.work_options import StoreOption
from mapper.results.output import check_writable
from marl_common import option, takes_records
from marl_runs import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapper.export.export_source import ExportSource


@dataclass(frozen=True)
class ExportTarget:
    """What is written, and where.

    Attributes:
        to: zigzag, timeloop, accelforge, maestro, gemmini, c or python.
        out: Folder for the files.
    """

    to: str = option("", autocompletion=completion.export_tools)
    out: Path = option(Path("export"))


@dataclass(frozen=True)
class RunOption:
    """A stored search.

    Attributes:
        run: A stored search instead: its number.
    """

    run: str | None = option(None)


@dataclass(frozen=True)
class StoredSearch(StoreOption, RunOption):
    """A stored search, and where it is kept."""


@dataclass(frozen=True)
class LayerMapping(MaybeLayer):
    """A layer with its mapping.

    Attributes:
        mapping: With --layer: a mapping as YAML.
    """

    mapping: Path | None = option(None, kind=Path)


@dataclass(frozen=True)
class ExportForm:
    """How a mapping is written.

    Attributes:
        pad: Where a tile does not divide, export a larger layer.
        openmp: With --to c: mark loops over units as parallel.
    """

    pad: bool = option(False, "", "--pad")
    openmp: bool = option(False, "", "--openmp")


@takes_records
def export(
    *,
    source: Annotated[
        Path | None, typer.Argument(help="Folder of `mapper search --out`.", show_default="none")
    ] = None,
    target: ExportTarget,
    stored: StoredSearch,
    given: LayerMapping,
    chip: NamedChip,
    form: ExportForm,
) -> None:
    """Write a mapping as a program, or with its accelerator and layer as another tool's files."""
    from mapper.export.export_files import check_tool, files_for, write_files

    check_tool(target.to)
    if source is not None and (source / RESULT).is_file():
        others = [stored.run, given.layer, given.mapping, None if chip == NamedChip() else chip]
        _export_groups(source, target, form, others)
        return
    found = _source(source, stored, given, chip)
    texts = files_for(target.to, found, pad=form.pad, openmp=form.openmp)
    check_writable(target.out)
    for path in write_files(target.out, texts):
        tell(f"wrote {path}")


def _export_groups(
    folder: Path, target: ExportTarget, form: ExportForm, others: Sequence[object]
) -> None:
    """Write the fused groups of a network, each into a folder; a line for each that cannot be.

    Raises:
        OptionError: Something else is said besides, or another tool's files are asked for.
        ExportError: No group can be written.
    """
    from mapper.export.export_files import write_files
    from mapper.export.fused_accelforge import fused_files
    from mapper.export.fused_source import group_nests, groups_of_answer
    from mapper.export.loop_nest import ExportError

    if others.count(None) != len(others):
        raise OptionError(f"{folder} is a network's answer; expected no other source beside it")
    groups = groups_of_answer(folder / RESULT)
    if target.to != "accelforge" or form.openmp:
        raise OptionError(f"--to: {folder} has fused layers, expected --to accelforge alone")
    texts, refused = dict[str, dict[str, str]](), list[str]()
    for source in groups:
        try:
            texts[f"group_{source.number}"] = fused_files(group_nests(source, pad=form.pad))
        except ExportError as error:
            refused.append(str(error))
    if not texts:
        more = f" ({len(refused) - 1} more groups are refused)" if refused[1:] else ""
        raise ExportError(f"{refused[0]}{more}")
    check_writable(target.out)
    for why in refused:
        tell(f"left out: {why}")
    for name, files in texts.items():
        for path in write_files(target.out / name, files):
            tell(f"wrote {path}")


def _source(
    folder: Path | None, stored: StoredSearch, given: LayerMapping, chip: NamedChip
) -> ExportSource:
    """What is exported.

    Raises:
        OptionError: It is said in no way, or in two.
        ValueError: It cannot be read.
    """
    from cost_models import load_chip
    from mapper.export.export_source import ExportSource, of_folder, of_run
    from mapper.results.result_files import chip_of_mapping, read_any_mapping

    if [folder, stored.run, given.mapping].count(None) != 2:
        raise OptionError(
            "expected one of: a folder of `mapper search --out`, --run ID, or --layer with "
            "--mapping FILE"
        )
    if given.mapping is None:
        others = {"--layer": given.layer, "--accelerator": chip != NamedChip()}
        leave_out(others, f"{folder or f'--run {stored.run}'}: has its layer and chip")
    if folder is not None:
        return of_folder(folder)
    if stored.run is not None:
        return of_run(stored.store, stored.run)
    assert given.mapping is not None
    if given.layer is None:
        raise OptionError(f"--mapping {given.mapping} needs --layer, such as --layer mobilenetv2.2")
    mapping = read_any_mapping(given.mapping)
    loaded = chip_of_mapping(load_chip(chip.accelerator), mapping)
    return ExportSource(layers.parse(given.layer), loaded, mapping)
