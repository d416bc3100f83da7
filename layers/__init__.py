"""What is mapped: layers, the model zoo, importers."""

from layers.fields import from_fields, to_fields
from layers.files import read_file, read_gamma_csv, read_yaml
from layers.layer import DIMS, Layer, LayerError, LayerKind
from layers.shapes import distinct
from layers.text import inline, is_file, layers_of, parse
from layers.zoo import get, network, networks

__all__ = [
    "DIMS",
    "Layer",
    "LayerError",
    "LayerKind",
    "distinct",
    "from_fields",
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
]
