"""Readers of layer files: the project's YAML, GAMMA's CSV tables, models of other tools."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from layers import importing
from layers.dims import KINDS, LayerKind
from layers.fields import all_from_fields
from layers.layer import Layer, LayerError
from layers.network_graph import PASSES, GraphNode, NetworkGraph, NodeKind, output_shape
from marl_common import compose_yaml, one_of, read_fields, read_text, suggest, yaml_loader

if TYPE_CHECKING:
    from layers.schema import GraphEnds, NodeFields

SECTIONS = ("layers", "sources", "results")


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

        sources: {image: [1, 3, 224, 224]}
        layers:
          - {name: stem, kind: conv, K: 32, C: 3, Y: 225, X: 225, R: 3, S: 3, stride: 2,
             inputs: [image]}
          - {name: pool, kind: pooling, inputs: [stem], shape: [1, 32, 1, 1]}
          - {name: fc, kind: gemm, M: 1, N: 1000, K: 32, inputs: [pool]}

    What layers read may be left out, and nodes without MACs with it: then it is a list, and no
    graph (see :func:`read_graph`). A ``trconv`` with ``upsampling`` is read as its dense phases,
    see :func:`layers.phases`.

    Raises:
        LayerError: The file cannot be read, or an entry is wrong; names file, line and field.
    """
    return tuple(layer for entry in _yaml_file(Path(path)).entries for layer in entry.layers)


def read_graph(path: str | Path) -> NetworkGraph:
    """Read the network of a file: YAML whose entries say what they read, ONNX or a config.json.

    Raises:
        LayerError: The file cannot be read, is wrong, or has no edges.
    """
    path = Path(path)
    if path.suffix.lower() == ".onnx":
        return importing.from_onnx(path).graph()
    if path.suffix.lower() == ".json":
        return importing.from_huggingface(path).graph()
    if path.suffix.lower() not in (".yaml", ".yml"):
        read_file(path)
        raise LayerError(
            f"{path}: a table of layers says nothing of what each reads; expected a network of the "
            "zoo, ONNX, a config.json, or YAML with inputs"
        )
    return _yaml_graph(path, _yaml_file(path))


class YamlEntry(NamedTuple):
    """An entry of a file: layers (several where it has phases), and the node that it is.

    Args:
        where: File and line.
        name: The entry's name.
        kind: Its kind, as the file says it.
        layers: Its layers; none of a node without MACs.
        node: What it reads and writes; None where the file does not say.
    """

    where: str
    name: str
    kind: str
    layers: tuple[Layer, ...]
    node: NodeFields | None


class YamlFile(NamedTuple):
    """A file of layers.

    Args:
        entries: Its entries, in order.
        ends: Its sources and results.
    """

    entries: list[YamlEntry]
    ends: GraphEnds


def _yaml_file(path: Path) -> YamlFile:
    import yaml

    from layers.schema import GraphEnds

    root = compose_yaml(read_text(path, LayerError, "a YAML file of layers"), str(path), LayerError)
    ends: dict[str, Any] = {}
    if isinstance(root, yaml.MappingNode):
        sections = {key: value for key, _, value in _members(path, root)}
        for key, value in sections.items():
            if key not in SECTIONS:
                raise LayerError(
                    f"{path}: unknown key {key!r}; expected 'layers'.{suggest(key, SECTIONS)}"
                )
            if key != "layers":
                ends[key] = yaml_loader().construct_object(value, deep=True)
            if isinstance(value, yaml.MappingNode):
                _members(path, value)
        root = sections.get("layers")
    if not isinstance(root, yaml.SequenceNode) or not root.value:
        raise LayerError(f"{path}: no layers; expected a list of layers under the key 'layers'")
    entries: list[YamlEntry] = []
    names: set[str] = set()
    for index, node in enumerate(root.value):
        entry = _yaml_entry(path, index, node, yaml)
        for name in (layer.name for layer in entry.layers) if entry.layers else (entry.name,):
            if name in names:
                raise LayerError(f"{entry.where}: name: {name!r} is already taken above")
            names.add(name)
        entries.append(entry)
    if not any(entry.layers for entry in entries):
        raise LayerError(f"{path}: no layers with MACs; expected a kind of {', '.join(KINDS)}")
    return YamlFile(entries, read_fields(GraphEnds, ends, str(path), LayerError, "sections"))


def _members(path: Path, node: Any) -> list[tuple[str, int, Any]]:
    """Key, line and node of each member of a YAML mapping."""
    found: dict[str, tuple[str, int, Any]] = {}
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if name in found:
            raise LayerError(f"{path}, line {line}: {name}: given twice; give it once")
        found[name] = name, line, value
    return list(found.values())


def _yaml_graph(path: Path, file: YamlFile) -> NetworkGraph:
    """The graph of a file.

    Raises:
        LayerError: An entry does not say what it reads, or they make no graph.
    """
    nodes = []
    for entry in file.entries:
        if entry.node is None:
            raise LayerError(
                f"{entry.where}: {entry.name!r} has no inputs: the file is a list of layers "
                "without edges; expected inputs in every entry"
            )
        parts = entry.layers or (None,)
        if len(parts) > 1:
            raise LayerError(
                f"{entry.where}: {entry.name!r} is {len(parts)} layers, one a phase; expected an "
                "entry, and inputs, for each"
            )
        layer, given = parts[0], entry.node
        kind = NodeKind(entry.kind) if layer is None else NodeKind.MAC
        shape = given.shape or (output_shape(layer) if layer is not None else None)
        if shape is None:
            raise LayerError(f"{entry.where}: shape: missing; expected the extents that it writes")
        name = entry.name if layer is None else layer.name
        nodes.append(GraphNode(name, kind, given.inputs, shape, layer, given.bits))
    try:
        return NetworkGraph(tuple(nodes), file.ends.sources, file.ends.results)
    except LayerError as error:
        raise LayerError(f"{path}: {error}") from None


def _yaml_entry(path: Path, index: int, node: Any, yaml: Any) -> YamlEntry:
    """Build the layers of one YAML node, whose marks give the lines for messages."""
    from layers.schema import NodeFields

    where = f"{path}, line {node.start_mark.line + 1}"
    if not isinstance(node, yaml.MappingNode):
        raise LayerError(f"{where}: expected a layer with fields such as kind, K, C, Y, X, R, S")
    loader = yaml_loader()
    values: dict[str, Any] = {}
    for field, line, value in _members(path, node):
        try:
            values[field] = loader.construct_object(value, deep=True)
        except (yaml.YAMLError, ValueError) as error:
            raise LayerError(f"{path}, line {line}: {field}: {error}") from error
    name = str(values.pop("name", f"layer{index}"))
    known = (*KINDS, *PASSES)
    kind = str(values.pop("kind", ""))
    if kind.lower() not in known:
        what = f"unknown kind {kind!r}" if kind else "kind: missing"
        raise LayerError(f"{where}: {what}; expected {one_of(known, kind.lower())}")
    own = {key: values.pop(key) for key in NodeFields.model_fields if key in values}
    try:
        if kind in PASSES and values:
            raise LayerError(
                f"layer {name!r}: unknown field {next(iter(values))!r}; expected inputs, shape and "
                f"bits of a {kind}"
            )
        said = own or kind in PASSES
        given = read_fields(NodeFields, own, f"layer {name!r}", LayerError) if said else None
        layers = () if kind in PASSES else all_from_fields(name, kind, values)
    except LayerError as error:
        raise LayerError(f"{where}: {error}") from None
    return YamlEntry(where, name, kind, layers, given)


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
