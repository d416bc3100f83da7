"""A transposed convolution without its inserted zeros: one dense convolution per phase of its step.

Outputs whose places leave the same remainder when divided by the step see the same taps of the
filter, and no inserted zero (Shi et al., "Is the deconvolution layer the same as a convolutional
layer?", 2016), so that these layers together do the true MACs only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from layers.dims import LayerKind
from layers.layer import Layer, LayerError, Pair

Phases = list[tuple[int, int]]


def axis_phases(outputs: int, taps: int, step: int, before: int) -> Phases:
    """Outputs and taps of each phase of one axis, without those that have none.

    Args:
        outputs: Outputs in all.
        taps: Taps of the filter.
        step: Inputs are so far apart: ``step - 1`` zeros lie between neighbours.
        before: Taps of the filter that lie before the first input at the first output.
    """
    found = []
    for phase in range(step):
        of_phase = len(range((phase - before) % step, outputs, step))
        taps_of_phase = len(range(phase, taps, step))
        if of_phase and taps_of_phase:
            found.append((of_phase, taps_of_phase))
    return found


def phases(layer: Layer, upsampling: Pair) -> tuple[Layer, ...]:
    """The dense convolutions that a layer over an upsampled input is.

    Args:
        layer: A TRCONV; Y and X are those of the upsampled input, inserted zeros and padding
            included, and ``padding`` says how many of them are padding.
        upsampling: One input in so many rows and columns; the others are zeros.

    Returns:
        One CONV per phase that does work, called ``NAME.phase00`` and so on; the layer as a CONV
        where nothing is upsampled.

    Raises:
        LayerError: It is no TRCONV, or has a stride, a dilation or groups.
    """
    steps = (upsampling, upsampling) if isinstance(upsampling, int) else upsampling
    plain = (layer.stride, layer.dilation, layer.groups) == (1, 1, 1)
    if layer.kind is not LayerKind.TRCONV or not plain:
        raise LayerError(
            f"layer {layer.name!r}: upsampling={upsampling!r} needs kind TRCONV with stride, "
            f"dilation and groups of 1, got {layer.kind} with {layer.stride}, {layer.dilation} and "
            f"{layer.groups}; the step of a transposed convolution is its upsampling"
        )
    rows = axis_phases(layer.out_y, layer.R, steps[0], layer.R - 1 - layer.padding[0])
    columns = axis_phases(layer.out_x, layer.S, steps[1], layer.S - 1 - layer.padding[2])
    sizes = {"K": layer.K, "C": layer.C, "N": layer.N}
    return tuple(dense_layers(layer.name, LayerKind.CONV, rows, columns, sizes))


def dense_layers(
    name: str, kind: LayerKind, rows: Phases, columns: Phases, sizes: Mapping[str, Any]
) -> Iterator[Layer]:
    """A dense convolution for each phase of the rows and each of the columns.

    Args:
        name: Of the transposed convolution; several phases get numbers.
        kind: Of each layer.
        rows: Outputs and taps of the phases along the rows.
        columns: The same along the columns.
        sizes: Extents that all have.
    """
    many = len(rows) * len(columns) > 1
    for i, (out_y, taps_y) in enumerate(rows):
        for j, (out_x, taps_x) in enumerate(columns):
            own = f"{name}.phase{i}{j}" if many else name
            Y, X = out_y + taps_y - 1, out_x + taps_x - 1
            yield Layer(own, kind, Y=Y, X=X, R=taps_y, S=taps_x, **sizes)
