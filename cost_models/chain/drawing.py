"""A chain, and a nest on it, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cost_models.chain.chip import Axis, Chain, ChainLevel
from cost_models.chain.loops import Loop
from layers import DIMS, TENSORS
from marl_common import engineering


def hierarchy(chip: Chain) -> str:
    """The levels of a chip from DRAM to the MACs: capacities, ports and fan-outs, a line each.

    Args:
        chip: The chip.

    Returns:
        Lines of at most 100 characters where names are short.
    """
    counts = [count for _, count in chip.instances()]
    pairs = zip(chip.levels, counts, strict=True)
    names = [f"{level.name} x{count:,}" if count > 1 else level.name for level, count in pairs]
    width = max(map(len, names))
    lines = []
    for name, level in zip(names, chip.levels, strict=True):
        lines.append(f"{name:<{width}}  {_memory(level)}".rstrip())
        lines += [f"{'|':>3}  {text}" for text in (*_ports(level), *_fanout(level))]
    bits = ", ".join(f"{name} {width}" for name, width in chip.widths._asdict().items())
    macs = chip.peak_macs_per_cycle
    lines.append(f"{f'MAC x{macs:,}' if macs > 1 else 'MAC':<{width}}  bits: {bits}")
    return "\n".join(lines)


def _memory(level: ChainLevel) -> str:
    if level.name == "DRAM":
        return level.kind
    if not level.is_memory:
        return "holds nothing"
    return "   ".join([_capacity(level), " ".join(_held(level)), _twice(level)])


def _capacity(level: ChainLevel) -> str:
    own = [
        f"{tensor} {engineering(bytes_, 'B')}"
        for tensor, bytes_ in zip(TENSORS, level.tensor_bytes, strict=True)
        if bytes_ is not None
    ]
    if any(level.buffer.sharing):
        shared = level.shared_bytes
        own.insert(0, "any size" if shared is None else engineering(shared, "B"))
    return ", ".join(own)


def _held(level: ChainLevel) -> list[str]:
    return [tensor for tensor, held in zip(TENSORS, level.holds, strict=True) if held]


def _twice(level: ChainLevel) -> str:
    pairs = zip(TENSORS, level.double_buffer, strict=True)
    twice = [tensor for tensor, doubled in pairs if doubled and tensor in _held(level)]
    if len(twice) == len(_held(level)):
        return "held twice"
    return f"{', '.join(twice)} held twice" if twice else "held once"


def _ports(level: ChainLevel) -> Iterator[str]:
    if level.shared_bw:
        yield f"read and write {level.read_bw} bits/cycle"
    elif level.read_bw is not None or level.write_bw is not None:
        read, write = ("any" if bw is None else str(bw) for bw in (level.read_bw, level.write_bw))
        yield f"read {read}, write {write} bits/cycle"


def _fanout(level: ChainLevel) -> Iterator[str]:
    for number, axis in enumerate(level.fanout.axes):
        yield f"axis {number}: {_axis(axis, level.fanout.any)}"


def _axis(axis: Axis, takes_any: bool) -> str:
    if takes_any:
        return f"{axis.units} that take any work"
    said = [f"{axis.units} over {'any dimension' if axis.dims == DIMS else axis.dims}"]
    if not axis.multicast:
        said.append("each reads for itself")
    if not axis.reduce:
        said.append("sums are not added on the way")
    return ", ".join(said)


def nest_of_loops(rows: Iterable[Loop]) -> str:
    """The loops of a mapping, outermost first, with the level whose tile each moves.

    Args:
        rows: Of :meth:`ChainMapping.loops`.
    """
    return indented([(row.level, _loop(row)) for row in rows])


def indented(rows: Sequence[tuple[str, str]]) -> str:
    """Memories and the loops beside them, each further in than the one before."""
    width = max((len(memory) for memory, _ in rows), default=0)
    return "\n".join(
        f"{memory:<{width}} | {'  ' * min(depth, 20)}{text}"
        for depth, (memory, text) in enumerate(rows)
    )


def _loop(row: Loop) -> str:
    last = f", {row.last} at the end" if row.last != row.iterations else ""
    if row.spatial:
        used = row.iterations
        of = f" of {row.units}" if used < row.units else ""
        return f"parallel {row.dim} on {used}{of} units{last}:  # axis {row.axis}, tile {row.step}"
    return f"for {row.dim} in 0..{row.iterations}{last}:  # step {row.step}"
