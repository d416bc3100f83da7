"""``mapper export``: a mapping as another tool's files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.commands import completion
from mapper.commands.options import (
    DEFAULT_STORE,
    OptionalLayer,
    OptionError,
    StoreOption,
)
from mapper.commands.problem_options import NamedChip
from mapper.output import check_writable
from marl_common import takes_records

if TYPE_CHECKING:
    from mapper.export.export_source import ExportSource


@takes_records
def export(
    *,
    source: Annotated[
        Path | None, typer.Argument(help="Folder of `mapper search --out`.", show_default="none")
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="zigzag, timeloop, accelforge, maestro, gemmini, c or python.",
            autocompletion=completion.export_tools,
        ),
    ] = "",
    out: Annotated[Path, typer.Option("--out", help="Folder for the files.")] = Path("export"),
    run: Annotated[str | None, typer.Option(help="A stored search instead: its number.")] = None,
    store: StoreOption = DEFAULT_STORE,
    layer: OptionalLayer = None,
    mapping: Annotated[Path | None, typer.Option(help="With --layer: a mapping as YAML.")] = None,
    chip: NamedChip,
    pad: Annotated[
        bool, typer.Option("--pad", help="Where a tile does not divide, export a larger layer.")
    ] = False,
    openmp: Annotated[
        bool, typer.Option("--openmp", help="With --to c: mark loops over units as parallel.")
    ] = False,
) -> None:
    """Write a mapping as a program, or with its accelerator and layer as another tool's files."""
    from mapper.export.export_files import check_tool, files_for, write_files
    from marl_runs import tell

    check_tool(to)
    found = _source(source, run, store, layer, mapping, chip.accelerator)
    texts = files_for(to, found, pad=pad, openmp=openmp)
    check_writable(out)
    for path in write_files(out, texts):
        tell(f"wrote {path}")


def _source(
    folder: Path | None,
    run: str | None,
    store: str,
    layer: str | None,
    mapping: Path | None,
    accelerator: str,
) -> ExportSource:
    """What is exported.

    Raises:
        OptionError: It is said in no way, or in two.
        ValueError: It cannot be read.
    """
    import layers
    from cost_models import load_chip
    from mapper.export.export_source import ExportSource, of_folder, of_run
    from mapper.result_files import read_any_mapping

    if [folder, run, mapping].count(None) != 2:
        raise OptionError(
            "expected one of: a folder of `mapper search --out`, --run ID, or --layer with "
            "--mapping FILE"
        )
    if folder is not None:
        return of_folder(folder)
    if run is not None:
        return of_run(store, run)
    if layer is None:
        raise OptionError(f"--mapping {mapping} needs --layer, such as --layer mobilenetv2.2")
    assert mapping is not None
    return ExportSource(layers.parse(layer), load_chip(accelerator), read_any_mapping(mapping))
