"""``mapper diff``: what differs between two mappings, and what each difference costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import cost_models
import layers
from mapper.commands.options import (
    ObjectiveOption,
    OptionalLayer,
    OptionError,
    leave_out,
)
from mapper.commands.problem_options import NamedChip
from marl_common import AsJson, takes_records
from marl_runs import print_json, tell

if TYPE_CHECKING:
    from cost_models import CostModel
    from mapper.export.export_source import ExportSource

Source = Annotated[
    Path, typer.Argument(help="Folder of `mapper search --out`, or with --layer a mapping as YAML.")
]


@takes_records
def diff(
    *,
    first: Source,
    second: Source,
    layer: OptionalLayer = None,
    chip: NamedChip,
    objective: ObjectiveOption = "edp",
    as_json: AsJson = False,
) -> None:
    """Print what differs between two mappings of a layer, and what each difference costs.

    Each row is a part of the mapping's file, and what the first mapping costs with this part of the
    second alone, by the cost model of the folders' searches. Exit code 1: one of the two does not
    fit the chip.
    """
    from mapper.explaining.mapping_changes import changes_between

    if first.is_dir() and second.is_dir():
        others = {"--layer": layer, "--accelerator": chip != NamedChip()}
        leave_out(others, f"{first}, {second}: have their layer and chip")
    sources = [_source(path, layer, chip.accelerator) for path in (first, second)]
    one, other = sources
    if (one.layer.shape, one.chip) != (other.layer.shape, other.chip):
        raise OptionError(
            f"{second}: is of another layer or chip than {first}; expected two mappings of one"
        )
    searched = [
        source for path, source in zip((first, second), sources, strict=True) if path.is_dir()
    ]
    model = _model_of(searched, second)
    found = changes_between(one.layer, one.chip, (one.mapping, other.mapping), objective, model)
    if as_json:
        from mapper.show.cost import cost_values

        print_json(
            {
                "objective": objective,
                "values": found.values,
                "costs": [cost_values(cost) for cost in found.costs],
                "changes": [asdict(change) for change in found.changes],
            }
        )
    else:
        from mapper.show.change_table import print_changes

        print_changes((str(first), str(second)), found, objective)
    if not all(cost.feasible for cost in found.costs):
        raise typer.Exit(1)


def _model_of(searched: Sequence[ExportSource], second: Path) -> CostModel | None:
    """The cost model of the folders' searches; None where there is no folder.

    Raises:
        OptionError: They have two.
    """
    models = [(source.cost_model, source.cost_model_options) for source in searched]
    if not models:
        return None
    name, options = models[0]
    if models[-1] != models[0]:
        raise OptionError(
            f"{second}: was searched under another cost model, or other options of it; expected "
            f"the same, or --layer with {second}/mapping.yaml"
        )
    try:
        return cost_models.load(name, **options)
    except cost_models.RetiredOptionError as error:
        tell(f"warning: {error}; priced by {name}'s defaults")
        return cost_models.load(name)


def _source(path: Path, layer: str | None, accelerator: str) -> ExportSource:
    """A mapping with its layer and chip.

    Raises:
        OptionError: A mapping's file stands without a layer.
        ValueError: It cannot be read.
    """
    from mapper.export.export_source import ExportSource, of_folder
    from mapper.results.result_files import chip_of_mapping, read_any_mapping

    if path.is_dir():
        return of_folder(path)
    mapping = read_any_mapping(path)
    if layer is None:
        raise OptionError(f"{path}: a mapping as YAML needs --layer, such as --layer mobilenetv2.2")
    chip = chip_of_mapping(cost_models.load_chip(accelerator), mapping)
    return ExportSource(layers.parse(layer), chip, mapping)
