"""A layer as named fields: the form that YAML files and inline layers share.

The fields of a GEMM are ``M, N, K`` and ``batch``; of every other kind those of :class:`Layer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from layers.dims import KINDS, LayerKind
from layers.layer import Layer, LayerError
from layers.transposed import phases
from marl_common import one_of

NEST_FIELDS = ("K", "C", "Y", "X", "R", "S")
OPTIONAL_FIELDS: dict[str, Any] = {
    "stride": 1,
    "N": 1,
    "groups": 1,
    "dilation": 1,
    "padding": (0, 0, 0, 0),
}
"""Fields that are written only where they differ from this."""


def from_fields(name: str, kind: str, values: Mapping[str, Any]) -> Layer:
    """Build a layer from its named fields.

    Args:
        name: The layer's name.
        kind: Name of a :class:`LayerKind`, in upper or lower case.
        values: The fields of its kind, see :mod:`layers.schema`.

    Raises:
        LayerError: A field is unknown, missing or wrong, or they describe several layers.
    """
    found = all_from_fields(name, kind, values)
    if len(found) > 1:
        raise LayerError(
            f"layer {name!r}: upsampling={values['upsampling']!r} makes it {len(found)} dense "
            "convolutions, expected one layer; write it into a YAML file, and name its phases"
        )
    return found[0]


def all_from_fields(name: str, kind: str, values: Mapping[str, Any]) -> tuple[Layer, ...]:
    """Build the layers of a file's entry: one, or the phases of a transposed convolution.

    Arguments as :func:`from_fields`.

    Raises:
        LayerError: A field is unknown, missing or wrong.
    """
    from layers.schema import check_fields

    try:
        known_kind = LayerKind(kind)
    except ValueError:
        raise LayerError(
            f"unknown kind {kind!r}; expected {one_of(KINDS, str(kind).lower())}"
        ) from None
    given = check_fields(known_kind, values, f"layer {name!r}")
    if known_kind is LayerKind.GEMM:
        return (Layer.gemm(name, **given),)
    upsampling = given.pop("upsampling", 1)
    layer = Layer(name, known_kind, **given)
    return (layer,) if upsampling in (1, (1, 1)) else phases(layer, upsampling)


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
    given = {"Y": layer.given_y, "X": layer.given_x, "padding": layer.given_padding}
    for field in NEST_FIELDS:
        if not (field == "K" and layer.depthwise):
            fields[field] = given.get(field, getattr(layer, field))
    for field, usual in OPTIONAL_FIELDS.items():
        value = given.get(field, getattr(layer, field))
        if value != usual:
            fields[field] = list(value) if isinstance(value, tuple) else value
    return fields
