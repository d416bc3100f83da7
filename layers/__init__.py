"""What is mapped: layers, the model zoo, importers."""

from typing import Any

from layers.dims import DIMS, NEST_DIMS, TENSORS, LayerKind
from layers.fields import from_fields, to_fields
from layers.files import SUFFIXES, read_file, read_gamma_csv, read_yaml
from layers.importing import (
    Imported,
    ImportingError,
    from_huggingface,
    from_onnx,
    from_torch,
)
from layers.layer import MAX_EXTENT, Layer, LayerError, Padding, Pair, footprint
from layers.shapes import distinct
from layers.text import inline, is_file, layers_of, parse
from layers.writing import write_yaml
from layers.zoo import get, network, networks

__all__ = [
    "COUPLING",
    "DIMS",
    "MAX_EXTENT",
    "NEST_DIMS",
    "SUFFIXES",
    "TENSORS",
    "Imported",
    "ImportingError",
    "Layer",
    "LayerError",
    "LayerKind",
    "Padding",
    "Pair",
    "distinct",
    "footprint",
    "from_fields",
    "from_huggingface",
    "from_onnx",
    "from_torch",
    "get",
    "inline",
    "is_file",
    "layers_of",
    "network",
    "networks",
    "parse",
    "read_file",
    "read_gamma_csv",
    "read_yaml",
    "to_fields",
    "write_yaml",
]


def __getattr__(name: str) -> Any:
    if name == "COUPLING":  # arrays, which a list of layers does not need
        from layers.coupling import COUPLING

        return COUPLING
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
