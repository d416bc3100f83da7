"""Features of each choice of a decision, in `seen_records.Seen`."""

from __future__ import annotations

from mapper.pretrained.decisions import FIRST_TILE
from mapper.pretrained.nest_sizes import (
    fill_log,
    fill_sizes,
    log_of,
    set_boxes,
    size_log,
    up,
    utilisation,
    worst_fill,
)
from mapper.pretrained.seen_records import TENSORS, ChoiceRow, D, R, S, Seen, X, Y
from marl_common import address, part


@part
def see_parallel(seen: Seen, choice: ChoiceRow) -> None:
    """Features of a spread's dimension, and whether it may have it."""
    problem, state, out = (
        address(seen.problem),
        address(seen.state),
        address(choice.features.parallel),
    )
    s, dim = seen.step.number, choice.value
    n, left, most = problem.extents[dim], problem.extents[dim], problem.most[s]
    choice.legal = True
    wanted, parts = 1.0, 1.0
    for other in range(s):
        parts *= problem.most[other]
        if state.parallel[other] == dim:
            out.taken = 1.0
            out.taken_beside = problem.below[other] == problem.below[s]
            left = left if problem.pool > 0 else up(left, problem.most[other])
            choice.legal = choice.legal and not problem.rivals[s][other]
        elif state.parallel[other] >= 0:
            wanted *= problem.extents[state.parallel[other]]
    parts = problem.pool if problem.pool > 0 else parts * most
    out.extent = log_of(seen, n)
    for tensor in range(TENSORS):
        out.couples[tensor] = problem.coupling[tensor][dim]
    out.busy = utilisation(n, most)
    out.fills = n >= most
    out.spare = size_log(float(most) / n)
    out.image = dim in (Y, X)
    out.taps = dim in (R, S)
    out.share = min(n, most) / float(most)
    out.covered = min(wanted * n / parts, 2.0)
    out.covered_log = size_log(wanted * n / parts)
    out.busy_left = utilisation(left, most)
    out.left = log_of(seen, left)
    out.fills_left = left >= most


@part
def see_units(seen: Seen, least: bool, choice: ChoiceRow) -> None:
    """Features of units of a spread, and whether fewer would not do and memories hold their tiles.

    Args:
        seen: The work space.
        least: Whether no fewer are legal; then they are, even where their tiles do not fit.
        choice: The units.
    """
    problem, state, out = address(seen.problem), address(seen.state), address(choice.features.units)
    s, size = seen.step.number, choice.value
    most, dim = problem.most[s], state.parallel[s]
    n = problem.extents[dim] if dim >= 0 else 1
    # what the units that are chosen already leave of the dimension
    left = n
    for other in range(s + 1, problem.spreads):
        if state.parallel[other] == dim:
            left = up(left, state.units[other])
    busy = utilisation(left, size)
    out.size = log_of(seen, size)
    out.busy = busy
    out.steps = log_of(seen, up(left, size))
    out.one = size == 1
    out.idle = size > left
    out.over = size_log(float(size) / left)
    out.even = left % size == 0
    if problem.pool > 0:  # it is a size of clusters: `share`, `work`, `spare` and `all` are theirs
        clusters, outer = problem.pool // size, problem.extents[state.parallel[0]]
        inner = up(outer, size) if state.parallel[0] == state.parallel[1] else outer
        used, at_work = clusters * size / float(problem.pool), utilisation(inner, clusters)
        out.spare = size_log(clusters)
        out.share = used
        out.clusters_busy = at_work
        out.work = used * busy * at_work
        out.clusters_steps = size_log(up(outer, clusters))
        out.all = clusters == 1
        out.clusters_idle = clusters > outer
        out.clusters_over = size_log(float(clusters) / outer)
        choice.legal = True
        return
    out.spare = size_log(float(most) / size)
    out.share = size / float(most)
    out.work = size / float(most) * busy
    out.all = size == most
    choice.legal = size == most or (size <= n and up(n, up(n, size)) == size)
    if dim >= 0:
        fill_units(seen, dim, size)
        own, worst = seen.fills[seen.level], worst_fill(seen, seen.level)
        out.fill = min(own, 2.0)
        out.fill_log = fill_log(own)
        out.worst_fill = min(worst, 2.0)
        choice.legal = choice.legal and (worst <= 1.0 or least)


@part
def fill_units(seen: Seen, d: int, size: int) -> None:
    """Fill the memories outside of a spread with the least tiles for so many units of it."""
    level = seen.level
    before = seen.units[level][d]
    seen.units[level][d] = before * size
    set_boxes(seen, d, level, 0)
    fill_sizes(seen, level)
    seen.units[level][d] = before


@part
def see_tile(seen: Seen, least: bool, choice: ChoiceRow) -> bool:
    """Features of a tile, and whether the memories hold it with the least of what is still open.

    Args:
        seen: The work space.
        least: Whether no smaller one is legal; then it is, even where it does not fit.
        choice: The tile.

    Returns:
        Whether it fits; where it does not, no larger one will.
    """
    problem, out = address(seen.problem), address(choice.features.tile)
    level, d = seen.level, seen.dim
    inside = seen.box[level - 1][d] if level > 0 else 1
    if choice.value < inside:
        return True
    seen.state.tile[level][d] = choice.value
    set_boxes(seen, d, level, seen.step.place - FIRST_TILE + 1)
    fill_sizes(seen, level)
    worst = worst_fill(seen, level)
    choice.legal = worst <= 1.0 or least
    n, box, outside = problem.extents[d], seen.box[level][d], seen.outside[level][d]
    units, above = seen.units[level][d], seen.units[level + 1][d]
    pieces = up(n, box)
    steps = up(n, box * outside)
    within = up(box, inside * units)
    box_log, steps_log, within_log = log_of(seen, box), log_of(seen, steps), log_of(seen, within)
    outside_log, n_log = log_of(seen, outside), log_of(seen, n)
    own = seen.fills[level]
    out.fill = min(own, 2.0)
    out.fill_log = fill_log(own)
    out.outer_fill = min(seen.fills[level + 1], 2.0)
    out.worst_fill = min(worst, 2.0)
    out.box = box_log
    out.steps = steps_log
    out.padding = box_log + steps_log + outside_log - n_log
    out.one = box == 1
    out.whole = box >= n
    out.even = n % box == 0
    out.outside_busy = utilisation(pieces, outside)
    out.within = within_log
    out.busy = utilisation(up(box, inside), units)
    out.same = box == inside
    out.ratio = box_log - log_of(seen, inside)
    out.above_spreads = above > 1
    out.spreads = units > 1
    # cycles of the busiest unit in this dimension, down to this memory, over the least there can be
    busiest = steps_log + within_log + log_of(seen, inside) + log_of(seen, units)
    out.cycles = busiest + (outside_log - n_log)
    out.steps_one = steps == 1
    out.within_one = within == 1
    out.share = log_of(seen, up(n, outside)) - box_log
    for tensor in range(TENSORS):
        out.held[tensor] = problem.coupling[tensor][d] * (problem.bits[level][tensor] > 0)
    return worst <= 1.0


@part
def see_loop(seen: Seen, choice: ChoiceRow) -> None:
    """Features of a loop of an order, and whether it iterates."""
    problem, out = address(seen.problem), address(choice.features.loop)
    level, d, last = seen.level, choice.value, last_outside(seen)
    steps, units, held = seen.steps[level][d], seen.units[level + 1][d], seen.sizes[level]
    choice.legal = steps > 1
    taken = seen.box[level][d] * steps * units
    out.steps = log_of(seen, steps)
    out.spreads = units > 1
    out.padded = log_of(seen, up(problem.extents[d], taken * seen.outside[level + 1][d]))
    out.within = log_of(seen, up(seen.box[level][d], seen.units[level][d]))
    out.image = d in (Y, X)
    out.box = log_of(seen, seen.box[level][d])
    out.steps_inside = log_of(seen, seen.steps[level - 1][d]) if level > 0 else 0.0
    # which outer loop is innermost among those that iterate decides what stays in between
    out.last = last == d
    total, moved = held[0] + held[1] + held[2], 0.0
    for tensor in range(TENSORS):
        couples = problem.coupling[tensor][d]
        out.couples[tensor] = couples
        out.shares[tensor] = couples * held[tensor] / total
        out.held[tensor] = couples * (problem.bits[level][tensor] > 0)
        out.last_couples[tensor] = problem.coupling[tensor][last] if last >= 0 else 0
        moved += couples * held[tensor]
    # of the elements that the memory holds it moves some
    out.moved_share = moved / total
    out.moved = size_log(moved + 1)
    out.kept = size_log(total - moved + 1)


@part
def last_outside(seen: Seen) -> int:
    """The innermost loop that iterates outside of a memory's own; -1 where none does."""
    for i in range(seen.level + 1, seen.problem.memories):
        for place in range(D - 1, -1, -1):
            if seen.steps[i][seen.state.order[i][place]] > 1:
                return int(seen.state.order[i][place])
    return -1
