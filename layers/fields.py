"""A layer as named fields: the form that YAML files and inline layers share.

The fields of a GEMM are ``M, N, K`` and ``batch``; of every other kind those of :class:`Layer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common import suggest
from layers.dims import LayerKind
from layers.layer import Layer, LayerError

GEMM_FIELDS = ("M", "N", "K", "batch")
NEST_FIELDS = ("K", "C", "Y", "X", "R", "S")
OPTIONAL_FIELDS: dict[str, Any] = {
    "stride": 1,
    "N": 1,
    "groups": 1,
    "dilation": 1,
    "padding": (0, 0, 0, 0),
}
"""Fields that may be left out, and what they then are."""


def fields_of(kind: LayerKind) -> tuple[str, ...]:
    """The fields that a layer of this kind takes, required ones first."""
    return GEMM_FIELDS if kind is LayerKind.GEMM else (*NEST_FIELDS, *OPTIONAL_FIELDS)


def from_fields(name: str, kind: str, values: Mapping[str, Any]) -> Layer:
    """Build a layer from its named fields.

    Args:
        name: The layer's name.
        kind: Name of a :class:`LayerKind`, in upper or lower case.
        values: The fields of :func:`fields_of`. ``K`` of a DSCONV and ``batch`` are 1 when left
            out; for the others see `OPTIONAL_FIELDS`.

    Raises:
        LayerError: A field is unknown, missing or wrong.
    """
    try:
        known_kind = LayerKind(kind)
    except ValueError:
        kinds = [k.lower() for k in LayerKind]
        raise LayerError(
            f"unknown kind {kind!r}; expected one of {', '.join(kinds)}."
            f"{suggest(str(kind).lower(), kinds)}"
        ) from None
    known = fields_of(known_kind)
    for field in values:
        if field not in known:
            raise LayerError(
                f"unknown field {field!r}; a {known_kind.lower()} takes {', '.join(known)}."
                f"{suggest(str(field), known)}"
            )
    given = dict(values)
    if known_kind is LayerKind.DSCONV:
        given.setdefault("K", 1)
    required = ("M", "N", "K") if known_kind is LayerKind.GEMM else NEST_FIELDS
    missing = [field for field in required if field not in given]
    if missing:
        raise LayerError(
            f"missing {', '.join(missing)}; a {known_kind.lower()} needs {', '.join(required)}"
        )
    if known_kind is LayerKind.GEMM:
        return Layer.gemm(name, **given)
    return Layer(name, known_kind, **given)


def to_fields(layer: Layer) -> dict[str, Any]:
    """The named fields of a layer; ``from_fields`` of them gives the same layer.

    Returns:
        ``name``, ``kind`` and the fields of its kind, as JSON and YAML hold them; those of
        `OPTIONAL_FIELDS` only where they are not what they would be anyway.
    """
    fields: dict[str, Any] = {"name": layer.name, "kind": layer.kind.lower()}
    if layer.kind is LayerKind.GEMM:
        fields |= {"M": layer.Y, "N": layer.K, "K": layer.C}
        return fields if layer.N == 1 else fields | {"batch": layer.N}
    for field in NEST_FIELDS:
        if not (field == "K" and layer.depthwise):
            fields[field] = getattr(layer, field)
    given = {"Y": layer.given_y, "X": layer.given_x, "padding": layer.given_padding}
    fields |= {"Y": layer.given_y, "X": layer.given_x}
    for field, usual in OPTIONAL_FIELDS.items():
        value = given.get(field, getattr(layer, field))
        if value != usual:
            fields[field] = list(value) if isinstance(value, tuple) else value
    return fields
