"""Steps that are alike where padding is free: those that touch padding stand alone.

An axis (or its taps) touches padding only at its ends. So each of its classes of outer steps, and
each of its segments of inner ones, is cut into runs: steps that touch no padding, whatever the
taps (or the axis) do, and between them single steps that may. Where padding counts, and along
other dimensions, runs are the classes and segments themselves.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from common import inner_function
from cost_models.exact.layout import (
    CLASSES,
    COUNT,
    FREE,
    HW_EXTENT,
    MAX_SEGMENTS,
    OUTER,
    OUTER_WIDTH,
    PAD_END,
    PAD_LOW,
    REPEAT,
    SEGMENTS,
    TRUE_STEP,
    TRUE_STRIDE,
    IntTable,
    R,
    S,
    SegTable,
    X,
    Y,
)
from cost_models.exact.padding_rows import inner_count, key_at, last_at, span_at, start_at
from cost_models.exact.tables import INNER_AT, KEY, KINDS, OUTER_AT, RUNS
from cost_models.exact.wide import FIRST, LENGTH, RUN_KEY, RUN_START, Wide


@inner_function
def is_cut(d: int, wide: Wide) -> bool:
    """Whether the classes and segments of a dimension are cut into runs."""
    return wide.n[FREE] != 0 and Y <= d <= S


@inner_function
def may_touch(d: int, low: int, high: int, hw: IntTable, wide: Wide) -> bool:
    """Whether places `low` to `high` touch padding with some of the axis (or of its taps)."""
    pair = d - Y if d <= X else d - R
    stride, step = wide.n[TRUE_STRIDE + pair], wide.n[TRUE_STEP + pair]
    unit, other = stride, step * (hw[HW_EXTENT + R + pair] - 1)
    if d >= R:
        unit, other = step, stride * (hw[HW_EXTENT + Y + pair] - 1)
    return unit * low < wide.n[PAD_LOW + pair] or unit * high + other >= wide.n[PAD_END + pair]


@inner_function
def add_inner_runs(d: int, outer: int, first: int, hw: IntTable, wide: Wide) -> int:
    """Enter the runs of inner steps of an outer one from place `first` on; returns their end."""
    dims, segs = wide.tables.dims, wide.tables.segs
    end = first
    alone = True
    for inner in range(inner_count(d, outer, dims)):
        key = key_at(d, outer, inner, dims, segs)
        low, high = start_at(d, outer, inner, dims), last_at(d, outer, inner, wide)
        touches = may_touch(d, low, high, hw, wide)
        if touches or alone or wide.inner_runs[d - Y, end - 1, RUN_KEY] != key:
            wide.inner_runs[d - Y, end, RUN_START] = inner
            wide.inner_runs[d - Y, end, RUN_KEY] = key
            wide.inner_runs[d - Y, end, LENGTH] = 0
            end += 1
        wide.inner_runs[d - Y, end - 1, LENGTH] += 1
        alone = touches
    return end


@inner_function
def fill_runs(hw: IntTable, wide: Wide) -> None:
    """Fill the tables of runs."""
    dims = wide.tables.dims
    for d in range(Y, S + 1):
        runs = wide.outer_runs[d - Y]
        count = 0
        end = 0
        alone = True
        for outer in range(dims[d, OUTER]):
            kind = dims[d, CLASSES] - 1 if outer == dims[d, OUTER] - 1 else 0
            low = outer * dims[d, OUTER_WIDTH]
            touches = may_touch(d, low, low + span_at(d, outer, dims) - 1, hw, wide)
            if touches or alone or runs[count - 1, RUN_KEY] != kind:
                runs[count, RUN_START] = outer
                runs[count, RUN_KEY] = kind
                runs[count, LENGTH] = 0
                runs[count, FIRST] = end
                end = add_inner_runs(d, outer, end, hw, wide)
                count += 1
                runs[count, FIRST] = end
            runs[count - 1, LENGTH] += 1
            alone = touches
        wide.run_counts[d - Y] = count


@inner_function
def class_count(d: int, dims: IntTable, wide: Wide | None) -> int:
    """How many classes of outer steps a dimension has."""
    if wide is not None and is_cut(d, wide):
        return wide.run_counts[d - Y]
    return dims[d, CLASSES]


@inner_function
def take_class(d: int, number: int, steps: IntTable, wide: Wide | None) -> None:
    """Let a dimension be in a class of outer steps, at its first inner step."""
    steps[KINDS, d] = number
    if wide is not None:
        steps[RUNS, d] = number
        steps[INNER_AT, d] = 0
        if is_cut(d, wide):
            steps[KINDS, d] = wide.outer_runs[d - Y, number, RUN_KEY]
            steps[OUTER_AT, d] = wide.outer_runs[d - Y, number, RUN_START]


@inner_function
def class_of(d: int, steps: IntTable, wide: Wide | None) -> int:
    """The number of the class that a dimension is in; 0 holds the first step."""
    return steps[KINDS, d] if wide is None else steps[RUNS, d]


@inner_function
def class_size(d: int, dims: IntTable, steps: IntTable, wide: Wide | None) -> int:
    """How many outer steps there are in it."""
    if wide is not None and is_cut(d, wide):
        return wide.outer_runs[d - Y, steps[RUNS, d], LENGTH]
    return dims[d, COUNT + steps[KINDS, d]]


@inner_function
def run_count(d: int, dims: IntTable, steps: IntTable, wide: Wide | None) -> int:
    """How many runs of inner steps there are in the class that a dimension is in."""
    if wide is not None and is_cut(d, wide):
        runs = wide.outer_runs[d - Y]
        return runs[steps[RUNS, d] + 1, FIRST] - runs[steps[RUNS, d], FIRST]
    return dims[d, SEGMENTS + steps[KINDS, d]]


@inner_function
def take_run(
    d: int, number: int, segs: SegTable, steps: IntTable, wide: Wide | None
) -> tuple[int, bool]:
    """Let a dimension be in a run of inner steps.

    Returns:
        How many steps there are in it; and whether it begins with a new segment.
    """
    if wide is not None and is_cut(d, wide):
        at = wide.outer_runs[d - Y, steps[RUNS, d], FIRST] + number
        runs = wide.inner_runs[d - Y]
        steps[KEY, d] = runs[at, RUN_KEY]
        steps[INNER_AT, d] = runs[at, RUN_START]
        return runs[at, LENGTH], number == 0 or runs[at - 1, RUN_KEY] != runs[at, RUN_KEY]
    key = MAX_SEGMENTS * steps[KINDS, d] + number
    steps[KEY, d] = key
    return segs[d, key, REPEAT], True


@inner_function
def leave_runs(d: int, steps: IntTable, wide: Wide | None) -> None:
    """Let a dimension be at its first inner step again."""
    steps[KEY, d] = MAX_SEGMENTS * steps[KINDS, d]
    if wide is not None:
        steps[INNER_AT, d] = 0
