"""Attention to the keys at given distances, feature-major, compiled for the CPU.

A query ``t`` sees the keys ``t - o`` of its window for each offset ``o``. Features come first and
time last, so that the keys of neighbouring queries at one offset are neighbours, too: a vector of
queries is multiplied with a vector of keys that begins ``o`` numbers earlier, and no pair is
computed that is not asked for. Nothing is transposed.

The backward pass computes scores anew from each query's largest score and sum, as FlashAttention
does (Dao et al. 2022), and keeps no array of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from marl_common import entry_point, inner_function
from sparse_training.errors import SparseTrainingError
from sparse_training.kernels.exponential import exponential
from sparse_training.kernels.tiles import TileSpan, write
from sparse_training.kernels.vectors import (
    KINDS,
    VECTORS,
    add,
    add_product,
    after,
    divide,
    hide_first,
    larger,
    load,
    numbers_at,
    places_at,
    splat,
    stamp_of,
    store,
    subtract,
    times,
    zeros,
)


class Line(NamedTuple):
    """How one head's features of one window lie in memory while they are worked on.

    Attributes:
        depth: Features.
        context: Steps of time.
        steps: The same, filled up to whole vectors.
        length: Numbers from one feature to the next: a vector of zeros, all steps, and another of
            zeros.
        lanes: Numbers of a vector.
        part: Numbers of a narrow one.
        columns: Numbers from one feature to the next where they come from: all windows' steps.
    """

    depth: int
    context: int
    steps: int
    length: int
    lanes: int
    part: int
    columns: int


@inner_function
def line_of(sizes: Any) -> Line:
    """The lines of a call."""
    _, depth, windows, context, _, lanes, part = sizes
    steps = -(-context // lanes) * lanes
    return Line(depth, context, steps, steps + 2 * lanes, lanes, part, windows * context)


@inner_function
def copy_line(source: Any, start: int, line: Line, scale: Any, target: Any) -> None:
    """Copy ``(depth, context)`` of an array, from `start` on, times `scale`, into a line."""
    lanes = line.lanes
    for feature in range(line.depth):
        to, at = feature * line.length, start + feature * line.columns
        store(target, to, zeros(target))
        for t in range(line.context):
            target[to + lanes + t] = source[at + t] * scale
        for t in range(lanes + line.context, line.length):
            target[to + t] = 0


@inner_function
def near(offsets: Any, count: int, below: int) -> int:
    """How many of the rising offsets are below a number."""
    found = 0
    while found < count and offsets[found] < below:
        found += 1
    return found


@inner_function
def add_scores(
    left: Any, right: Any, at: int, offsets: Any, count: int, line: Line, scores: Any
) -> None:
    """``scores[i]``: products of the queries at a place with the keys at each offset before it.

    Args:
        left: Line of the queries.
        right: Line of the keys.
        at: Place of the first query in a line.
        offsets: Rising.
        count: How many of them.
        line: The lines' shape.
        scores: ``(count, lanes)``.
    """
    lanes, length = line.lanes, line.length
    whole = count - count % 3
    for i in range(0, whole, 3):
        a, b, c = zeros(left), zeros(left), zeros(left)
        for feature in range(line.depth):
            here = feature * length + at
            query = load(left, here)
            a = add_product(a, query, load(right, here - offsets[i]))
            b = add_product(b, query, load(right, here - offsets[i + 1]))
            c = add_product(c, query, load(right, here - offsets[i + 2]))
        store(scores, i * lanes, a)
        store(scores, (i + 1) * lanes, b)
        store(scores, (i + 2) * lanes, c)
    for i in range(whole, count):
        a = zeros(left)
        for feature in range(line.depth):
            here = feature * length + at
            a = add_product(a, load(left, here), load(right, here - offsets[i]))
        store(scores, i * lanes, a)


@inner_function
def hide_before(scores: Any, step: int, offsets: Any, count: int, lanes: int) -> None:
    """-inf where a key would lie before its window; the first query is at a step of time."""
    for i in range(count - 1, -1, -1):
        if offsets[i] <= step:
            return
        store(scores, i * lanes, hide_first(load(scores, i * lanes), offsets[i] - step))


class Weighing(NamedTuple):
    """What values at the offsets are weighed by.

    Attributes:
        weights: A row an offset.
        place: Where they are read in a row.
        apart: Numbers from one row to the next.
        behind: 0: values lie before a query. 1: values lie behind a key, each with a weight of its
            own, so that both are read so many numbers later.
        offsets: Rising.
        seen: How many of them.
    """

    weights: Any
    place: int
    apart: int
    behind: int
    offsets: Any
    seen: int


@inner_function
def mix(how: Weighing, values: Any, here: int) -> Any:
    """Sum of a feature's values, by weight; `here` is where the feature's tile begins."""
    sums = zeros(values)
    for i in range(how.seen):
        far = how.offsets[i]
        ahead = how.behind * far
        weight = load(how.weights, i * how.apart + how.place + ahead)
        sums = add_product(sums, weight, load(values, here - far + 2 * ahead))
    return sums


@inner_function
def mix_four(how: Weighing, values: Any, here: int, length: int) -> Any:
    """The same of four features, `length` numbers apart: a weight is read once for all."""
    a, b, c, d = zeros(values), zeros(values), zeros(values), zeros(values)
    for i in range(how.seen):
        far = how.offsets[i]
        ahead = how.behind * far
        weight = load(how.weights, i * how.apart + how.place + ahead)
        at = here - far + 2 * ahead
        a = add_product(a, weight, load(values, at))
        b = add_product(b, weight, load(values, at + length))
        c = add_product(c, weight, load(values, at + 2 * length))
        d = add_product(d, weight, load(values, at + 3 * length))
    return a, b, c, d


@inner_function
def write_mixes(
    how: Weighing, values: Any, line: Line, window: int, step: int, scale: Any, out: Any, row: int,
    spare: Any,
) -> None:  # fmt: skip
    """Write the mixes of all features of a vector of steps, times a vector, from a row on."""
    width = min(line.lanes, line.context - step)
    first = window * line.context + step
    span = TileSpan(line.columns, first, width, line.lanes, line.part)
    at, whole = line.lanes + step, line.depth - line.depth % 4
    for feature in range(0, whole, 4):
        a, b, c, d = mix_four(how, values, at + feature * line.length, line.length)
        write(times(a, scale), out, row + feature, span, spare)
        write(times(b, scale), out, row + feature + 1, span, spare)
        write(times(c, scale), out, row + feature + 2, span, spare)
        write(times(d, scale), out, row + feature + 3, span, spare)
    for feature in range(whole, line.depth):
        found = mix(how, values, at + feature * line.length)
        write(times(found, scale), out, row + feature, span, spare)


@inner_function
def soften(scores: Any, count: int, lanes: int) -> Any:
    """Scores become the exponentials of what they lie below the largest; largest, and sum."""
    top = load(scores, 0)
    for i in range(1, count):
        top = larger(top, load(scores, i * lanes))
    sums = zeros(scores)
    for i in range(count):
        power = exponential(subtract(load(scores, i * lanes), top))
        store(scores, i * lanes, power)
        sums = add(sums, power)
    return top, sums


@inner_function
def slope_scores(
    scores: Any, others: Any, top: Any, inverse: Any, count: int, step: int, apart: int, lanes: int,
    shares: Any, slopes: Any,
) -> None:  # fmt: skip
    """Shares of the softmax, and the gradients of its scores, for a vector of queries.

    Args:
        scores: ``(count, lanes)``.
        others: ``(count, lanes)`` gradients of the shares.
        top: Largest score of each query.
        inverse: 1 / sum of its exponentials.
        count: Offsets.
        step: Of the first query.
        apart: Numbers from one row of the results to the next.
        lanes: Numbers of a vector.
        shares: ``(count, apart)``.
        slopes: ``(count, apart)``.
    """
    mean = zeros(scores)
    for i in range(count):
        share = times(exponential(subtract(load(scores, i * lanes), top)), inverse)
        store(shares, i * apart + step, share)
        mean = add_product(mean, share, load(others, i * lanes))
    for i in range(count):
        at = i * apart + step
        store(slopes, at, times(load(shares, at), subtract(load(others, i * lanes), mean)))


def _entries(stamp: int) -> tuple[Callable[..., int], Callable[..., int]]:
    """The compiled entry points; `stamp` ties their machine code to all its sources."""

    @entry_point(error_model="numpy")
    def attend(
        factors: Any, sizes: Any, offsets: int, qkv: int, out: int, measures: int, work: int
    ) -> int:
        one, scale = factors
        heads, depth, windows, _, count, lanes, _ = sizes
        line, far = line_of(sizes), places_at(offsets)
        given, result, kept = numbers_at(qkv, one), numbers_at(out, one), numbers_at(measures, one)
        room, layer = depth * line.length, heads * depth * line.columns
        spare = numbers_at(work, one)
        q = after(spare, lanes)
        k, v, scores = after(q, room), after(q, 2 * room), after(q, 3 * room)
        for place in range(heads * windows):
            head, window = place // windows, place % windows
            start = head * depth * line.columns + window * line.context
            copy_line(given, start, line, scale, q)
            copy_line(given, start + layer, line, one, k)
            copy_line(given, start + 2 * layer, line, one, v)
            for step in range(0, line.steps, lanes):
                seen = near(far, count, step + lanes)
                add_scores(q, k, lanes + step, far, seen, line, scores)
                hide_before(scores, step, far, seen, lanes)
                top, sums = soften(scores, seen, lanes)
                inverse = divide(splat(one), sums)
                store(kept, 2 * (place * line.steps + step), top)
                store(kept, 2 * (place * line.steps + step) + lanes, inverse)
                how = Weighing(scores, 0, lanes, 0, far, seen)
                write_mixes(how, v, line, window, step, inverse, result, head * depth, spare)
        return stamp

    @entry_point(error_model="numpy")
    def gradients(
        factors: Any, sizes: Any, offsets: int, qkv: int, above: int, measures: int, out: int,
        work: int,
    ) -> int:  # fmt: skip
        one, scale = factors
        heads, depth, windows, _, count, lanes, _ = sizes
        line, far = line_of(sizes), places_at(offsets)
        given, result, kept = numbers_at(qkv, one), numbers_at(out, one), numbers_at(measures, one)
        gradient, row_length = numbers_at(above, one), line.steps + lanes
        room, rows = depth * line.length, heads * depth
        spare = numbers_at(work, one)
        q = after(spare, lanes)
        k, v, up, scores = (
            after(q, room),
            after(q, 2 * room),
            after(q, 3 * room),
            after(q, 4 * room),
        )
        others = after(scores, count * lanes)
        shares = after(others, count * lanes)
        slopes = after(shares, count * row_length)
        for i in range(count):
            store(shares, i * row_length + line.steps, zeros(shares))
            store(slopes, i * row_length + line.steps, zeros(slopes))
        for place in range(heads * windows):
            head, window = place // windows, place % windows
            start, row = head * depth * line.columns + window * line.context, head * depth
            copy_line(given, start, line, scale, q)
            copy_line(given, start + rows * line.columns, line, one, k)
            copy_line(given, start + 2 * rows * line.columns, line, one, v)
            copy_line(gradient, start, line, one, up)
            for step in range(0, line.steps, lanes):
                seen = near(far, count, step + lanes)
                add_scores(q, k, lanes + step, far, seen, line, scores)
                hide_before(scores, step, far, seen, lanes)
                add_scores(up, v, lanes + step, far, seen, line, others)
                top = load(kept, 2 * (place * line.steps + step))
                inverse = load(kept, 2 * (place * line.steps + step) + lanes)
                slope_scores(
                    scores, others, top, inverse, seen, step, row_length, lanes, shares, slopes
                )
                how = Weighing(slopes, step, row_length, 0, far, seen)
                write_mixes(how, k, line, window, step, splat(scale), result, row, spare)
            for step in range(0, line.steps, lanes):
                seen = near(far, count, line.context - step)
                how = Weighing(slopes, step, row_length, 1, far, seen)
                write_mixes(how, q, line, window, step, splat(one), result, rows + row, spare)
                how = Weighing(shares, step, row_length, 1, far, seen)
                write_mixes(how, up, line, window, step, splat(one), result, 2 * rows + row, spare)
        return stamp

    return attend, gradients


attend, gradients = _entries(stamp_of("offsets", "exponential", "tiles"))
"""Attention and its gradients; they release the interpreter lock."""


class OffsetAttention(torch.autograd.Function):
    """:func:`offset_attention` as a function of torch."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, heads: int, windows: int, offsets: Any) -> Tensor:
        """Attend; keeps each query's largest score and the inverse of its sum."""
        qkv = qkv.contiguous()
        sizes, factors = _sizes(qkv, heads, windows, offsets), _factors(qkv, heads)
        _, depth, _, context, count, lanes, _ = sizes
        steps = -(-context // lanes) * lanes
        out = qkv.new_empty((heads * depth, windows * context))
        measures = qkv.new_empty(heads * windows * 2 * steps)
        work = qkv.new_empty(lanes + 3 * depth * (steps + 2 * lanes) + count * lanes)
        attend(
            factors, sizes, offsets.ctypes.data, qkv.data_ptr(), out.data_ptr(),
            measures.data_ptr(), work.data_ptr(),
        )  # fmt: skip
        ctx.save_for_backward(qkv, measures)
        ctx.heads, ctx.windows, ctx.offsets = heads, windows, offsets
        return out

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient of queries, keys and values."""
        qkv, measures = ctx.saved_tensors
        above, out = given[0].contiguous(), torch.empty_like(qkv)
        sizes = _sizes(qkv, ctx.heads, ctx.windows, ctx.offsets)
        _, depth, _, context, count, lanes, _ = sizes
        steps = -(-context // lanes) * lanes
        room = lanes + 4 * depth * (steps + 2 * lanes) + 2 * count * (steps + 2 * lanes)
        work = qkv.new_empty(room)
        gradients(
            _factors(qkv, ctx.heads), sizes, ctx.offsets.ctypes.data, qkv.data_ptr(),
            above.data_ptr(), measures.data_ptr(), out.data_ptr(), work.data_ptr(),
        )  # fmt: skip
        return out, None, None, None


def offset_attention(qkv: Tensor, heads: int, windows: int, offsets: Sequence[int]) -> Tensor:
    """Attention of each query to the keys of its window at the given distances before it.

    Args:
        qkv: ``(3 H dh, B T)``: queries, keys and values of H heads, B windows side by side;
            float32 or float64, on the CPU.
        heads: H.
        windows: B.
        offsets: Distances, rising; the first is 0, so that each query sees itself. Keys before a
            window are not seen.

    Returns:
        ``(H dh, B T)``: means of the values, by the softmax of ``q k / sqrt(dh)``.

    Raises:
        SparseTrainingError: Another device, type or shape, or other offsets.
    """
    if not qkv.is_cpu or qkv.dtype not in KINDS:
        raise SparseTrainingError(
            f"offset_attention of {qkv.dtype} on {qkv.device}: expected float32 or float64, on the "
            "CPU."
        )
    known = qkv.dim() == 2 and min(heads, windows, *qkv.shape) > 0
    if not known or len(qkv) % (3 * heads) or qkv.shape[1] % windows:
        raise SparseTrainingError(
            f"offset_attention of shape {tuple(qkv.shape)} with {heads} heads and {windows} "
            "windows: expected (3 * heads * size, windows * steps)."
        )
    distances = np.ascontiguousarray(offsets, dtype=np.int32)
    context = qkv.shape[1] // windows
    rising = len(distances) and distances[0] == 0 and bool((np.diff(distances) > 0).all())
    if not rising or distances[-1] >= context:
        raise SparseTrainingError(
            f"offsets {distances.tolist()}: expected 0 and then rising numbers below the "
            f"{context} steps of a window."
        )
    y: Tensor = OffsetAttention.apply(qkv, heads, windows, distances)  # type: ignore[no-untyped-call]
    return y


def _sizes(qkv: Tensor, heads: int, windows: int, offsets: Any) -> tuple[int, ...]:
    """Heads, their features, windows, steps, offsets, numbers of a wide and a narrow vector."""
    depth, context = len(qkv) // (3 * heads), qkv.shape[1] // windows
    return heads, depth, windows, context, len(offsets), *VECTORS[qkv.dtype][:2]


def _factors(qkv: Tensor, heads: int) -> tuple[Any, Any]:
    """1, and what queries are multiplied by."""
    kind = KINDS[qkv.dtype]
    return kind(1), kind(1 / math.sqrt(len(qkv) // (3 * heads)))
