"""Input rows (or columns) that a range of outputs and a range of taps touch together.

Output `y` and tap `t` touch row ``stride * y + dilation * t``. The two have no common divisor, so
rows fall into ``stride * dilation`` residue classes, and of each class a range of outputs and a
range of taps touch one interval: outputs ``dilation * a + y0`` and taps ``stride * b + t0`` give
the row of quotient ``a + b``. Where tiles count as boxes there is one class, of all rows from the
first to the last.
"""

from __future__ import annotations

from cost_models.exact.records import PAIRS, P, Window
from marl_common import part


@part
def ceil_div(a: int, b: int) -> int:
    """Quotient by a positive number, rounded up."""
    return -(-a // b)


@part
def output_dim(pair: int) -> int:
    """The dimension of the outputs of rows (pair 0) or of columns (pair 1)."""
    return P + pair


@part
def tap_dim(pair: int) -> int:
    """The dimension of a pair's taps."""
    return P + PAIRS + pair


@part
def pair_of(d: int) -> int:
    """The pair that a dimension belongs to, or -1."""
    return (d - P) % PAIRS if P <= d < P + 2 * PAIRS else -1


@part
def touched(window: Window, outputs: int, taps: int) -> int:
    """Rows that a range of outputs and a range of taps touch; padding counts."""
    if outputs <= 0 or taps <= 0:
        return 0
    if window.box:
        return window.stride * (outputs - 1) + window.dilation * (taps - 1) + 1
    over = max(outputs - window.dilation, 0) * max(taps - window.stride, 0)
    return outputs * taps - over


@part
def classes_of(window: Window) -> int:
    """Residue classes of rows."""
    return 1 if window.box else window.stride * window.dilation


@part
def interval(
    window: Window, number: int, y: int, outputs: int, t: int, taps: int
) -> tuple[int, int]:
    """Quotients of the rows of one residue class; empty where there are none.

    Args:
        window: How rows follow from outputs and taps.
        number: The class.
        y: The first output.
        outputs: How many.
        t: The first tap.
        taps: How many.
    """
    if outputs <= 0 or taps <= 0:
        return 0, 0
    stride, dilation = window.stride, window.dilation
    if window.box:
        low = stride * y + dilation * t
        return low, low + stride * (outputs - 1) + dilation * (taps - 1) + 1
    if stride == 1 and dilation == 1:
        return y + t, y + outputs + t + taps - 1
    y_class, t_class = number // stride, number % stride
    y_low, y_high = ceil_div(y - y_class, dilation), ceil_div(y + outputs - y_class, dilation)
    t_low, t_high = ceil_div(t - t_class, stride), ceil_div(t + taps - t_class, stride)
    if y_high <= y_low or t_high <= t_low:
        return 0, 0
    return y_low + t_low, y_high + t_high - 1


@part
def real_interval(window: Window, number: int) -> tuple[int, int]:
    """Quotients of the rows of one residue class that are no padding."""
    if window.box:
        return window.low, window.high
    stride, dilation = window.stride, window.dilation
    first = stride * (number // stride) + dilation * (number % stride)
    every = stride * dilation
    return ceil_div(window.low - first, every), ceil_div(window.high - first, every)


@part
def overlap(
    window: Window, outputs: int, taps: int, old_outputs: int, old_taps: int, shift: int, turn: int
) -> int:
    """Rows that a range of outputs and one of taps share with those before they moved.

    Args:
        window: How rows follow from outputs and taps.
        outputs: How many.
        taps: How many.
        old_outputs: How many before.
        old_taps: How many before.
        shift: Outputs by which their start moved.
        turn: Taps by which theirs moved.
    """
    found = 0
    for number in range(classes_of(window)):
        low, high = interval(window, number, 0, outputs, 0, taps)
        before, end = interval(window, number, -shift, old_outputs, -turn, old_taps)
        if high > low and end > before:
            found += max(min(high, end) - max(low, before), 0)
    return found
