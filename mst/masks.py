"""What masks look like: densities, and how many weights each input and output keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from marl_common import FloatArray, IntArray
from mst.errors import MstError
from sparse_training import Structure


def mask_rows(masks: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """One row a layer, from the state of a Sparsifier.

    Raises:
        MstError: The run was dense throughout.
    """
    if masks is None:
        raise MstError("the run is dense: it has no masks; expected a run of a sparse arm")
    rows = []
    for name, shape in masks["shapes"].items():
        bits = np.asarray(masks["bits"][name], dtype=np.uint8)
        structure = Structure.of_bits((shape[0], shape[1]), masks["unit"], bits)
        mask = structure.mask
        rows.append(
            {
                "layer": name,
                "outputs": shape[0],
                "inputs": shape[1],
                "density": structure.density,
                **_spread("weights of an output", mask.sum(axis=1)),
                **_spread("weights of an input", mask.sum(axis=0)),
            }
        )
    return rows


def evolution(tokens: IntArray, densities: FloatArray) -> list[dict[str, Any]]:
    """The density along a run, a row a point."""
    pairs = zip(tokens.tolist(), densities.tolist(), strict=True)
    return [{"tokens": at, "density": density} for at, density in pairs]


def _spread(what: str, degrees: IntArray) -> dict[str, str]:
    return {what: f"{degrees.min()} / {degrees.mean():.1f} / {degrees.max()}"}
