"""Where an exported mapping comes from: a stored run, a search's folder, or a mapping file."""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapper.export.loop_nest import ExportError
from marl_common import read_json

if TYPE_CHECKING:
    from cost_models import Accelerator, Chain, ChainMapping, Mapping
    from layers import Layer


@dataclass(frozen=True)
class ExportSource:
    """What is exported.

    Args:
        layer: The layer.
        chip: The chip.
        mapping: The mapping.
        cost_model: Name of the cost model that it was searched under.
        cost_model_options: That model's options.
    """

    layer: Layer
    chip: Accelerator | Chain
    mapping: Mapping | ChainMapping
    cost_model: str = "exact"
    cost_model_options: MappingABC[str, Any] = field(default_factory=dict)


def of_folder(folder: Path) -> ExportSource:
    """The result of ``mapper search --out``.

    Raises:
        ExportError: The folder holds none.
        MappingError: Its mapping cannot be read.
    """
    from cost_models import chip_from, recorded_options
    from mapper.results.result_files import MANIFEST, MAPPING, read_any_mapping
    from mapper.search.problem_spec import layer_of

    manifest = folder / MANIFEST
    if not manifest.is_file():
        raise ExportError(
            f"{folder}: holds no {MANIFEST}; expected a folder of `mapper search --out`, of a "
            "network that of one layer"
        )
    data = read_json(manifest, ExportError)
    try:
        problem: dict[str, Any] = data["problem"]
        layer = layer_of(problem["layer_fields"])
        chip = chip_from(problem["accelerator"])
        model = problem["cost_model"]
    except (KeyError, TypeError) as error:
        raise ExportError(f"{manifest}: {error}; it is damaged") from None
    mapping = read_any_mapping(folder / MAPPING)
    return ExportSource(layer, chip, mapping, model, recorded_options(problem))


def of_run(location: str, run: str) -> ExportSource:
    """The best mapping of a stored search.

    Raises:
        StoreError: There is no such store or run.
        ExportError: The run is no search, or found no mapping.
    """
    from cost_models import mapping_from
    from mapper.search.problem_spec import ProblemSpec
    from marl_runs import Store

    with Store.open(location, create=False) as store:
        stored = store.run(run)
    result = stored.result or {}
    if "problem" not in stored.spec or "best_mapping" not in result:
        raise ExportError(
            f"run {run!r}: {stored.name} holds no mapping; `mapper runs list` shows the searches"
        )
    spec = ProblemSpec.from_dict(stored.spec["problem"])
    mapping = mapping_from(result["best_mapping"])
    return ExportSource(
        spec.layer, spec.accelerator, mapping, spec.cost_model, spec.cost_model_options
    )
