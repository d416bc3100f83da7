"""Mistakes that :mod:`tests.cost_models.mutations` puts into the exact model's kernel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """A line of the kernel that is wrong.

    Args:
        module: Of :mod:`cost_models.exact`.
        wrong: What the kernel then gets wrong.
        old: Text of the module; it occurs once.
        new: What stands there instead.
        nest: Number of a nest that finds it, or of a mapping.
        two_levels: Whether mappings of two levels find it, and nests do not.
    """

    module: str
    wrong: str
    old: str
    new: str
    nest: int
    two_levels: bool = False


MUTATIONS = (
    Mutation(
        "window",
        "taps of rows are those of columns",
        "return P + PAIRS + pair",
        "return P + 2 * PAIRS - 1 - pair",
        1,
    ),
    Mutation(
        "window",
        "columns are rows",
        "return (d - P) % PAIRS",
        "return (d - P) // PAIRS",
        1,
    ),
    Mutation(
        "states",
        "a ragged tile of a unit is rounded up to a whole one (MAESTRO's cause 7)",
        "add_kind(child, block, node.count[kind])",
        "add_kind(child, cut.tile, node.count[kind])",
        0,
    ),
    Mutation(
        "states",
        "the last, ragged step of a loop is left out",
        "count = ceil_div(node.lead, cut.width)",
        "count = node.lead // cut.width",
        0,
    ),
    Mutation(
        "states",
        "runs of like steps end one too late",
        "found = min(found, size // width)",
        "found = min(found, size // width + 1)",
        0,
    ),
    Mutation(
        "states",
        "the first instance has what all of its row have",
        "child.lead = min(node.lead - at * cut.width, cut.tile)",
        "child.lead = min(node.lead - at * cut.width, cut.width)",
        0,
    ),
    Mutation(
        "states",
        "steps are alike whatever size their tiles have",
        "if alike and like.base < 0 and like.lead == child.lead:",
        "if alike and like.base < 0:",
        1,
    ),
    Mutation(
        "states",
        "instances are forgotten where others have tiles of that size",
        "node.count[kind] += count",
        "node.count[kind] = count",
        3,
    ),
    Mutation(
        "states",
        "lanes take no cycle for a ragged rest",
        "node.turns = ceil_div(node.lead, ",
        "node.turns = max(1, node.lead // ",
        81,
    ),
    Mutation(
        "states",
        "padding is seen near the first unit's tile alone",
        "reach += (dim.cut[other].units - 1) * dim.cut[other].tile",
        "reach += 0",
        29,
    ),
    Mutation(
        "states",
        "of the first unit the ragged rest counts besides the whole tile",
        "whole, rest = min(whole, 1), 0 if whole else rest",
        "whole, rest = min(whole, 1), rest",
        28,
    ),
    Mutation(
        "states",
        "a loop that goes back goes one step too far",
        "shift = move.shift - (run.at + run.count - 1) * dim.cut[k].width",
        "shift = move.shift - (run.at + run.count) * dim.cut[k].width",
        1,
    ),
    Mutation(
        "rows",
        "before a move an instance had what it has after it",
        "inner.before = max(min(held - unit * cut.tile, cut.tile), 0)",
        "inner.before = max(min(block - unit * cut.tile, cut.tile), 0)",
        9,
    ),
    Mutation(
        "rows",
        "instances are alike though they had less before",
        "alike = min(block, held) // cut.tile - unit",
        "alike = block // cut.tile - unit",
        134,
    ),
    Mutation(
        "rows",
        "groups are those of the innermost fan-out alone",
        "inner.group = around.group * cut.units + unit",
        "inner.group = unit",
        246,
    ),
    Mutation(
        "rows",
        "units of a group of their own are listed together",
        "if k == listing.spread and not own:",
        "if k == listing.spread:",
        18,
    ),
    Mutation(
        "window",
        "the stride is forgotten (MAESTRO's cause 6)",
        "max(taps - window.stride, 0)",
        "max(taps - 1, 0)",
        1,
    ),
    Mutation(
        "window",
        "an interval is one row too long",
        "return y_low + t_low, y_high + t_high - 1",
        "return y_low + t_low, y_high + t_high",
        0,
    ),
    Mutation(
        "window",
        "a box ends one stride too late",
        "return low, low + stride * (outputs - 1) +",
        "return low, low + stride * outputs +",
        0,
    ),
    Mutation(
        "window",
        "the class of a row of padding is that of another",
        "first = stride * (number // stride) + dilation * (number % stride)",
        "first = stride * (number // stride) + number % stride",
        32,
    ),
    Mutation(
        "window",
        "taps move the other way",
        "interval(window, number, -shift, old_outputs, -turn, old_taps)",
        "interval(window, number, -shift, old_outputs, turn, old_taps)",
        1,
    ),
    Mutation(
        "rows",
        "units that share no transfer share rows",
        "listing.own = (2 << port) - 1 | work.alone[INPUT][listing.dim]",
        "listing.own = (2 << port) - 1",
        44,
    ),
    Mutation(
        "rows",
        "rows that are still held are those that are not",
        "return found - distinct if moved else distinct",
        "return distinct",
        1,
    ),
    Mutation(
        "rows",
        "rows of neighbours count twice",
        "(y.count - 1) * min(high - low, pitch)",
        "(y.count - 1) * (high - low)",
        79,
    ),
    Mutation(
        "rows",
        "padding at the end counts",
        "                low, high = max(low, start), min(high, stop)\n",
        "                low = max(low, start)\n",
        4,
    ),
    Mutation(
        "rows",
        "a union ends where its last interval does",
        "end = max(end, work.high[i])",
        "end = work.high[i]",
        690,
    ),
    Mutation(
        "sums",
        "a step shares a tile that moved inside it",
        "if alone and (node.runs > 1 or dim.run[node.run].count > 1):",
        "if False:",
        1,
    ),
    Mutation(
        "sums",
        "units outside of a port share what passes it",
        "sharing = ~outer if scope & UNITS else 0",
        "sharing = -1 if scope & UNITS else 0",
        0,
    ),
    Mutation(
        "sums",
        "units share though the chip cannot",
        "sharing &= ~work.alone[tensor][d]",
        "sharing &= -1",
        21,
    ),
    Mutation(
        "sums",
        "repeated steps of outputs count once",
        "add_turn(work, side, move_inside(work, d, cut + 1, run.enter, level), node.times)",
        "add_turn(work, side, move_inside(work, d, cut + 1, run.enter, level), 1)",
        929,
    ),
    Mutation(
        "traffic",
        "reloads are missed where another loop advances, a coupled one wraps (MAESTRO's cause 2)",
        "        work.event[loop.dim] = loop.cut\n",
        "        if (work.nest.coupled[tensor] >> loop.dim) & 1 == 0:\n"
        "            work.event[loop.dim] = loop.cut\n",
        9,
    ),
    Mutation(
        "traffic",
        "sums are never read back (MAESTRO's cause 3)",
        "counts.refill[level][port] = distinct - begun(work, keeper)",
        "counts.refill[level][port] = 0",
        0,
    ),
    Mutation(
        "traffic",
        "outputs are written at every outer step (MAESTRO's cause 3)",
        "        work.event[loop.dim] = loop.cut\n",
        "        work.event[loop.dim] = loop.cut + (tensor == OUTPUT)\n",
        11,
    ),
    Mutation(
        "traffic",
        "sums that came from outside begin anew",
        " - work.counts.refill[keeper][work.keeper[OUTPUT][keeper]]",
        "",
        1,
    ),
    Mutation(
        "traffic",
        "loops are in the order of dimensions",
        "d = work.nest.levels[level].order[place]",
        "d = place",
        2,
    ),
    Mutation(
        "traffic",
        "sums are added on the way where the chip cannot",
        "if across and (port > keeper or work.any_alone[OUTPUT]):",
        "if across and port > keeper:",
        36,
    ),
    Mutation(
        "traffic",
        "outputs pass DRAM's port in the width of partial sums",
        "width = partial if port else work.dram_width * nest.unit",
        "width = partial",
        5,
    ),
    Mutation(
        "step_traffic",
        "lanes take no cycle for the rest of the MACs",
        "return found if work.nest.lanes == 1 else ceil_div(found, work.nest.lanes)",
        "return max(1, found // work.nest.lanes)",
        0,
    ),
    Mutation(
        "step_traffic",
        "inputs are still held though their channels moved",
        "if initial or clock.moved & work.apart[INPUT]:",
        "if initial:",
        3,
    ),
    Mutation(
        "step_traffic",
        "sums read back are read by each unit",
        "span.cases[1].port[j].into += distinct * partial",
        "span.cases[1].port[j].into += written * partial",
        286,
    ),
    Mutation(
        "step_traffic",
        "first tiles are those of the last level alone",
        "port.begun += bits",
        "port.begun = bits",
        1,
    ),
    Mutation(
        "step_traffic",
        "MACs pass no port of their keeper",
        "if port.level < work.keeper[tensor][depth + 1]:",
        "if port.level <= work.keeper[tensor][depth + 1]:",
        0,
    ),
    Mutation(
        "clock",
        "tiles that stay are moved again",
        "inner.moved |= (dim.move[number].shift != 0) << d",
        "inner.moved |= 1 << d",
        9,
    ),
    Mutation(
        "clock",
        "of equals the last one binds",
        "        if into > case.time:\n",
        "        if into >= case.time:\n",
        0,
    ),
    Mutation(
        "clock",
        "sums come back in no step of a reduced loop",
        "fresh = first if run.at == 0 else 0",
        "fresh = first",
        26,
    ),
    Mutation(
        "clock",
        "of like steps in a row one is counted",
        "entered = 1 if dim.windowed else run.count - (1 if run.at == 0 else 0)",
        "entered = 1",
        22,
    ),
    Mutation(
        "clock",
        "first tiles come while others are worked on",
        "counts.latency += begun",
        "counts.latency = max(counts.latency, begun)",
        0,
    ),
    Mutation(
        "clock",
        "sums that come back take no time inside a step",
        "address(first.cases[again & first.again])",
        "address(first.cases[0])",
        0,
    ),
    Mutation(
        "counting",
        "padding is read by MACs from no memory",
        "PADDING if keeper >= memory else 0",
        "PADDING if keeper > memory else 0",
        46,
    ),
    Mutation(
        "counting",
        "entries of one memory have ports between them",
        "if level < nest.depth and limits and not nest.levels[level + 1].joined:",
        "if level < nest.depth and spec.port:",
        1,
    ),
    Mutation(
        "counting",
        "only the outermost level's sums widen what DRAM takes",
        "        if counts.refill[level][0] > 0:\n",
        "        if level == 1 and counts.refill[level][0] > 0:\n",
        1,
    ),
    Mutation(
        "counting",
        "double buffers take the room of one",
        "* width * nest.unit * spec.copies[tensor]",
        "* width * nest.unit",
        0,
        two_levels=True,
    ),
    Mutation(
        "counting",
        "tensors kept nowhere are held by the innermost level",
        "if work.shares_lanes or nest.levels[nest.depth].keeps != everything:",
        "if work.shares_lanes:",
        0,
    ),
    Mutation(
        "kernel",
        "MACs of a tile above the extent are skipped (MAESTRO's cause 8)",
        "    fill_row(work, row)\n",
        "    fill_row(work, row)\n    row.macs *= int(mapping.tiles[0][2] <= chip.extents[2])\n",
        1,
        two_levels=True,
    ),
    Mutation(
        "kernel",
        "a second parallel dimension has all units",
        "return count // mapping.units[level] if second == d else 1",
        "return count if second == d else 1",
        1,
        two_levels=True,
    ),
    Mutation(
        "kernel",
        "L2 holds the tile of one cluster",
        "l2.tile[d] = min(clusters.tile[d] * clusters.units[d], n)",
        "l2.tile[d] = clusters.tile[d]",
        9,
        two_levels=True,
    ),
    Mutation(
        "kernel",
        "what passes L2 is read once where tiles overlap",
        "if work.nest.whole_tiles:",
        "if not work.nest.whole_tiles:",
        257,
        two_levels=True,
    ),
    Mutation(
        "kernel",
        "outputs that pass L2 are not written to DRAM",
        "row.dram_out_w = row.dram_out_w_direct + counts.write[L2][0]",
        "row.dram_out_w = counts.write[L2][0]",
        0,
        two_levels=True,
    ),
)
