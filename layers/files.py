"""Readers of layer files: the project's YAML, GAMMA's CSV tables, models of other tools."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import compose_yaml, read_text, suggest, yaml_loader
from layers import importing
from layers.dims import LayerKind
from layers.fields import all_from_fields
from layers.layer import Layer, LayerError


def read_file(path: str | Path) -> tuple[Layer, ...]:
    """Read all layers of a file, chosen by its suffix: YAML, CSV, ONNX, a transformer's JSON.

    Raises:
        LayerError: The file cannot be read, or a row is wrong; names file, line and field.
    """
    path = Path(path)
    reader = SUFFIXES.get(path.suffix.lower())
    if reader is None:
        raise LayerError(f"{path}: expected a file that ends in {', '.join(SUFFIXES)}")
    return reader(path)


def read_yaml(path: str | Path) -> tuple[Layer, ...]:
    """Read the project's YAML: a list of layers, by itself or under the key ``layers``.

    ::

        layers:
          - {name: stem, kind: conv, K: 32, C: 3, Y: 225, X: 225, R: 3, S: 3, stride: 2}
          - {name: fc, kind: gemm, M: 1, N: 1000, K: 1280}

    A ``trconv`` with ``upsampling`` is read as its dense phases, see :func:`layers.phases`.

    Raises:
        LayerError: The file cannot be read, or an entry is wrong; names file, line and field.
    """
    import yaml

    path = Path(path)
    root = compose_yaml(read_text(path, LayerError, "a YAML file of layers"), str(path), LayerError)
    if isinstance(root, yaml.MappingNode):
        entries = {str(key.value): value for key, value in root.value}
        for key in entries:
            if key != "layers":
                raise LayerError(
                    f"{path}: unknown key {key!r}; expected 'layers'.{suggest(key, ['layers'])}"
                )
        root = entries.get("layers")
    if not isinstance(root, yaml.SequenceNode) or not root.value:
        raise LayerError(f"{path}: no layers; expected a list of layers under the key 'layers'")
    layers: dict[str, Layer] = {}
    for index, node in enumerate(root.value):
        line = node.start_mark.line + 1
        for layer in _yaml_layers(path, index, node, yaml):
            if layer.name in layers:
                raise LayerError(
                    f"{path}, line {line}: name: {layer.name!r} is already taken above"
                )
            layers[layer.name] = layer
    return tuple(layers.values())


def _yaml_layers(path: Path, index: int, node: Any, yaml: Any) -> tuple[Layer, ...]:
    """Build the layers of one YAML node, whose marks give the lines for messages."""
    where = f"{path}, line {node.start_mark.line + 1}"
    if not isinstance(node, yaml.MappingNode):
        raise LayerError(f"{where}: expected a layer with fields such as kind, K, C, Y, X, R, S")
    loader = yaml_loader()
    values: dict[str, Any] = {}
    for key, value in node.value:
        field, line = str(key.value), key.start_mark.line + 1
        if field in values:
            raise LayerError(f"{path}, line {line}: {field}: given twice; give it once")
        try:
            values[field] = loader.construct_object(value, deep=True)
        except (yaml.YAMLError, ValueError) as error:
            raise LayerError(f"{path}, line {line}: {field}: {error}") from error
    name = str(values.pop("name", f"layer{index}"))
    if "kind" not in values:
        raise LayerError(f"{where}: kind: missing; expected one of {', '.join(LayerKind).lower()}")
    kind = str(values.pop("kind"))
    try:
        return all_from_fields(name, kind, values)
    except LayerError as error:
        raise LayerError(f"{where}: {error}") from None


GAMMA_COLUMNS = ("K", "C", "Y", "X", "R", "S", "T")


def read_gamma_csv(path: str | Path) -> tuple[Layer, ...]:
    """Read one of GAMMA's tables: the columns ``K,C,Y,X,R,S,T``.

    A header may give them in another order; without one they stand in this order. ``T`` is 0 for a
    fully connected layer (only K and C are read), 1 for CONV, 2 for DSCONV and 3 for GEMM (K, C and
    Y hold its M, N and K), as in ``get_CONVtypeShape`` of GAMMA's ``gamma.py``. GAMMA's inputs are
    unpadded and its strides 1; they are read as they stand. Layers are called by the file's stem
    and their 0-based index: ``mobilenet_v2.3``.

    Raises:
        LayerError: The file cannot be read, or a row is wrong; names file, line and field.
    """
    path = Path(path)
    layers: list[Layer] = []
    columns: tuple[str, ...] | None = None
    for line, row in enumerate(_csv_rows(path), start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        where = f"{path}, line {line}"
        if columns is None:
            columns, header = _csv_columns(where, cells)
            if header:
                continue
        if len(cells) != len(columns):
            raise LayerError(
                f"{where}: got {len(cells)} columns, expected {len(columns)}: {','.join(columns)}"
            )
        numbers = {
            field: _csv_number(where, field, cell)
            for field, cell in zip(columns, cells, strict=True)
        }
        try:
            layers.append(_gamma_layer(f"{path.stem}.{len(layers)}", numbers))
        except LayerError as error:
            raise LayerError(f"{where}: {error}") from None
    if not layers:
        raise LayerError(f"{path}: no layers; expected rows of {','.join(GAMMA_COLUMNS)}")
    return tuple(layers)


def _csv_rows(path: Path) -> list[list[str]]:
    lines = read_text(path, LayerError, "a CSV file of layers").splitlines()
    try:
        return list(csv.reader(lines))
    except csv.Error as error:
        raise LayerError(f"{path}: not valid CSV: {error}") from None


def _csv_columns(where: str, cells: list[str]) -> tuple[tuple[str, ...], bool]:
    """The columns in order, and whether these cells, a table's first, are its header."""
    if any(cell.lstrip("-").isdecimal() for cell in cells):
        return GAMMA_COLUMNS, False
    for cell in cells:
        if cell not in GAMMA_COLUMNS:
            raise LayerError(
                f"{where}: unknown column {cell!r}; expected {','.join(GAMMA_COLUMNS)} in any "
                f"order.{suggest(cell.upper(), GAMMA_COLUMNS)}"
            )
        if cells.count(cell) > 1:
            raise LayerError(f"{where}: column {cell!r} is there twice; give it once")
    missing = [column for column in GAMMA_COLUMNS if column not in cells]
    if missing:
        raise LayerError(f"{where}: the columns {', '.join(missing)} are missing")
    return tuple(cells), True


def _gamma_layer(name: str, numbers: dict[str, int]) -> Layer:
    K, C, Y, X, R, S, kind = (numbers[column] for column in GAMMA_COLUMNS)
    if kind == 0:
        return Layer(name, LayerKind.CONV, K, C, 1, 1, 1, 1)
    if kind == 1:
        return Layer(name, LayerKind.CONV, K, C, Y, X, R, S)
    if kind == 2:
        return Layer(name, LayerKind.DSCONV, K, C, Y, X, R, S)
    if kind == 3:
        return Layer.gemm(name, M=K, N=C, K=Y)
    raise LayerError(f"T={kind} is unknown; expected 0 (FC), 1 (CONV), 2 (DSCONV) or 3 (GEMM)")


def _csv_number(where: str, field: str, cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        raise LayerError(f"{where}: {field}: got {cell!r}, expected a whole number") from None


SUFFIXES: dict[str, Callable[[str | Path], tuple[Layer, ...]]] = {
    ".yaml": read_yaml,
    ".yml": read_yaml,
    ".csv": read_gamma_csv,
    ".onnx": lambda path: tuple(importing.from_onnx(path).layers),
    ".json": lambda path: tuple(importing.from_huggingface(path).layers),
}
"""The reader of each kind of file."""
