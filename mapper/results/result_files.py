"""A found mapping on disk: ``mapping.yaml``, ``mapping.m`` and ``manifest.json`` in one folder."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import yaml

import layers
from cost_models import (
    Accelerator,
    Chain,
    ChainMapping,
    DataflowError,
    Mapping,
    MappingError,
    mapping_from,
    print_network,
)
from mapper.search.found import Found
from marl_common import errors_named, read_yaml
from marl_runs import json_text, plain

MAPPING, DATAFLOW, MANIFEST = "mapping.yaml", "mapping.m", "manifest.json"
MANIFEST_VERSION = 1
"""Version of the manifest's own form."""


def write_result(folder: Path, found: Found) -> None:
    """Write the files of a search that found a mapping; nothing where it found none.

    Each file is whole or not there, and the manifest comes last; `DATAFLOW` is left out where
    MAESTRO has no words for the mapping or the layer.

    Raises:
        OSError: The folder cannot be written to.
    """
    if found.best is None:
        return
    mapping, layer = found.best[0], found.problem.layer
    files = {
        MAPPING: yaml.safe_dump(mapping.to_dict(), sort_keys=False, default_flow_style=None),
        MANIFEST: json_text(search_manifest(found)) + "\n",
    }
    folder.mkdir(parents=True, exist_ok=True)
    directives = _directives(layer, mapping)
    if directives is None:
        (folder / DATAFLOW).unlink(missing_ok=True)  # an earlier result's
    else:
        files = {DATAFLOW: directives, **files}
    staging = Path(tempfile.mkdtemp(prefix=".mapper-", dir=folder))
    try:
        for name, text in files.items():
            with errors_named(folder / name, staging / name):
                (staging / name).write_text(text, encoding="utf-8")
        for name in files:
            os.replace(staging / name, folder / name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def maestro_network(layer: layers.Layer, mapping: Mapping) -> str:
    """A layer with its mapping as a network of MAESTRO, which has a layer for each matrix.

    Raises:
        DataflowError: MAESTRO's language has no words for the layer.
        MappingError: It has none for the mapping.
    """
    name = re.sub(r"\W+", "_", layer.name).strip("_") or "layer"
    flow, names = mapping.dataflow(layer), [name]
    if layer.kind is layers.LayerKind.GEMM and layer.N > 1:
        if any(directive.dim == "N" for directive in flow.directives):
            raise MappingError(
                "mapping: it works on several matrices at a time, and MAESTRO has a layer for "
                "each; expected N outermost, one at a time and on no units"
            )
        names = [f"{name}_{matrix}" for matrix in range(layer.N)]
    return print_network([(layer.renamed(each), flow) for each in names], name=name)


def _directives(layer: layers.Layer, mapping: Mapping | ChainMapping) -> str | None:
    """The mapping as MAESTRO's language has it; None where it has no words for it."""
    try:
        return maestro_network(layer, mapping) if isinstance(mapping, Mapping) else None
    except (DataflowError, MappingError):
        return None


def search_manifest(found: Found) -> dict[str, Any]:
    """Command, seed, versions, problem and result of one search, as plain values."""
    problem, run = found.problem, found.run
    best = problem.best_action
    manifest: dict[str, Any] = plain(
        {
            "manifest_version": MANIFEST_VERSION,
            "command": found.made.command,
            "versions": found.made.versions,
            "git_revision": found.made.git_revision,
            "seed": run.seed,
            "budget": run.budget,
            "method": run.method,
            "method_options": found.config,
            "problem": {**problem.describe(), "layer_fields": layers.to_fields(problem.layer)},
            "samples": problem.samples,
            "interrupted": found.interrupted,
            "best_value": problem.best_value,
            "best_value_unit": problem.objective.unit,
            "best_action": None if best is None else best.tolist(),
            "improvements": [list(step) for step in problem.improvements],
        }
    )
    return manifest


def read_any_mapping(path: Path) -> Mapping | ChainMapping:
    """Read a mapping's YAML, of two levels or with an entry for each of any number.

    Raises:
        MappingError: The file cannot be read or holds no mapping; names the file.
    """
    data = read_yaml(path, MappingError, "a mapping as YAML")
    if data is None:
        raise MappingError(
            f"{path}: empty; expected orders, parallel, tiles, cluster_size, or levels"
        )
    try:
        return mapping_from(data)
    except MappingError as error:
        raise MappingError(f"{path}: {error}") from None


def chip_of_mapping(chip: Accelerator | Chain, mapping: object) -> Accelerator | Chain:
    """The chip as a mapping takes it: L2 and L1 as a list, where that has an entry for each."""
    if not isinstance(mapping, ChainMapping) or isinstance(chip, Chain):
        return chip
    of_two = {entry.level for entry in mapping.entries} <= {"L2", "L1"}
    return chip.to_levels() if of_two else chip
