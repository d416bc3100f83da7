"""Why a mapping is infeasible under the exact model, and concrete changes that would satisfy it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from cost_models.accelerator import UNLIMITED_BW, Accelerator
from cost_models.buffers import BUFFERS, BYTE, TENSORS, Buffer, Flags
from cost_models.chain.clusters import as_chain
from cost_models.exact.nest import ONE
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.lowering import LEVELS
from cost_models.mapping import Bypass, Mapping
from layers import DIMS, Layer, footprint

if TYPE_CHECKING:
    from cost_models.exact.options import ExactOptions

Tiles = tuple[int, ...]
_WINDOWED = tuple(DIMS.index(dim) for dim in "YXRS")
MAX_MACS = 1 << 59
"""Layers from this many MACs on are refused: every count is at most a few times the MACs, so that
below it no 64-bit sum can wrap."""
MAX_BIT_MACS = 1 << 52
"""The same where bits are counted."""


def too_large(layer: Layer, plain: bool = True) -> Infeasible | None:
    """The reason why a layer's counts could leave 64 bits, or None.

    Args:
        layer: The layer.
        plain: Whether elements are counted, not bits.
    """
    most = MAX_MACS if plain else MAX_BIT_MACS
    if layer.macs < most:
        return None
    message = f"layer {layer.name!r}: {layer.macs} MACs; counts stay exact below {most}"
    lever = f"Split the layer into at least {layer.macs // most + 1} equal parts"
    return Infeasible(ReasonCode.TOO_LARGE, message, layer.macs, most, "MACs", (lever,))


def tile_elements(layer: Layer, tiles: Tiles, box: bool = False) -> tuple[int, int, int]:
    """Elements of input, filter and output that a tile of the layer's nest touches."""
    inputs, *others = layer.coupled_dims
    plain = math.prod(tiles[d] for d in inputs if d not in _WINDOWED)
    filters, outputs = (math.prod(tiles[d] for d in dims) for dims in others)
    count = _hull if box else footprint
    y, x, r, s = (tiles[d] for d in _WINDOWED)
    rows = count(y, r, layer.stride_y, layer.dilation_y)
    columns = count(x, s, layer.stride_x, layer.dilation_x)
    return plain * rows * columns, filters, outputs


def _hull(outputs: int, taps: int, stride: int, dilation: int) -> int:
    return stride * (outputs - 1) + dilation * (taps - 1) + 1


class Room(NamedTuple):
    """A capacity of a memory, and who takes of it.

    Args:
        path: The chip's field.
        bits: How much there is in one instance.
        tensors: Positions of the tensors that take of it.
    """

    path: str
    bits: int
    tensors: tuple[int, ...]

    def taken(self, bits: Sequence[int]) -> int:
        """What tensors of so many bits take of it."""
        return sum(bits[t] for t in self.tensors)


def rooms_of(buffer: Buffer, kept: Iterable[bool], short: str = "") -> Iterator[Room]:
    """The capacities of a buffer that tensors take of which are kept there.

    Args:
        buffer: The buffer.
        kept: Whether each tensor is.
        short: A short name for the field of the capacity that tensors share.
    """
    path = f"levels.{buffer.name}.bytes"
    tensors = list(compress(range(len(TENSORS)), kept))
    shared = tuple(t for t in tensors if buffer.tensor_bits[t] is None)
    if shared and buffer.capacity_bits is not None:
        yield Room(short or path, buffer.capacity_bits, shared)
    for t in tensors:
        own = buffer.tensor_bits[t]
        if own is not None:
            yield Room(f"{path}.{TENSORS[t]}", own, (t,))


def tile_bits(
    elements: Sequence[int], widths: Sequence[int], copies: Sequence[int]
) -> tuple[int, ...]:
    """Bits that tiles of so many elements take, by tensor; outputs are held as partial sums."""
    inputs, filters, _, partial = widths
    parts = zip(elements, (inputs, filters, partial), copies, strict=True)
    return tuple(number * width * times for number, width, times in parts)


def bypassed(chip: Accelerator, bypass: tuple[Bypass, Bypass]) -> tuple[Bypass, Bypass]:
    """The tensors that bypass L2, and L1, with those of the chip."""
    l2, l1 = (
        tensors | (frozenset(TENSORS) - set(compress(TENSORS, buffer.holds)))
        for tensors, buffer in zip(bypass, chip.buffers(), strict=True)
    )
    return l2, l1


def explain(
    options: ExactOptions, code: ReasonCode, layer: Layer, chip: Accelerator, mapping: Mapping
) -> Infeasible:
    """The report of a mapping that breaks a limit.

    Args:
        options: How it is counted.
        code: The limit that the kernel found broken.
        layer: The layer.
        chip: The chip.
        mapping: The mapping.
    """
    num_pes = mapping.num_pes or chip.num_pes
    if code is ReasonCode.REFUSED:
        return _refused(layer, chip, mapping, options.residents)
    if code is ReasonCode.PE_COUNT:
        return _fan_out(layer, chip, mapping, num_pes)
    if code is ReasonCode.TOO_LARGE:
        return Infeasible(
            code,
            f"layer {layer.name!r}: along a dimension the mapping has more different steps than "
            "the model takes: free padding or dilation reaches nearly all of its tiles",
            levers=(
                "Take larger tiles along rows and columns",
                "load the model with padding='counted'",
            ),
        )
    level = 1 if code is ReasonCode.L1_CAPACITY else 0
    l2, clusters, l1 = options.nest(layer, *as_chain(chip, mapping, layer)).levels
    entry, held, units = (l1, l1.tile, ONE) if level else (l2, clusters.tile, clusters.units)
    buffer = chip.buffers()[level]

    def needs(tiles: Tiles, room: Room) -> int:
        parts = zip(tiles, units, layer.extents, strict=True)
        spanned = tuple(min(tile * count, extent) for tile, count, extent in parts)
        elements = tile_elements(layer, spanned, options.window == "box")
        return room.taken(tile_bits(elements, chip.widths, entry.copies))

    short = f"--{buffer.name.lower()}-bytes" if chip.short else ""
    pairs = zip(entry.keeps, options.residents, strict=True)  # what is whole in L2 has room apart
    rooms = rooms_of(buffer, [kept and (level == 1 or not whole) for kept, whole in pairs], short)
    room = next(one for one in rooms if needs(held, one) > one.bits)
    demand, limit = needs(held, room), room.bits
    levers = tile_levers(held, lambda tiles: needs(tiles, room), limit, LEVELS[level])
    levers.append(_raised(room.path, -(-demand // BYTE)))
    halved = set(entry.copies) != {1} and -(-demand // 2) <= limit
    return no_room(code, f"layer {layer.name!r}: {BUFFERS[level]}", demand, room, levers, halved)


def no_room(
    code: ReasonCode, what: str, demand: int, room: Room, levers: list[str], halved: bool
) -> Infeasible:
    """The report of tiles that a capacity has no room for.

    Args:
        code: The limit.
        what: Whose memory it is.
        demand: What the tiles take [bits].
        room: The capacity.
        levers: Changes that would help.
        halved: Whether holding each tile once would help, too.
    """
    needed, limit = -(-demand // BYTE), room.bits // BYTE
    named = ", ".join(TENSORS[t] for t in room.tensors)
    whose = "" if room.path.startswith("--") else f" for {named}"
    message = f"{what} needs {needed} B{whose}, limit {limit} B (+{needed - limit} B)"
    once = ["load the model with double_buffer=False"] * halved
    return Infeasible(code, message, needed, limit, "B", (*levers, *once))


def kept_wrong(chip: Accelerator, mapping: Mapping, residents: Flags) -> tuple[str, str] | None:
    """What is wrong with what a mapping keeps where, and what would mend it; None: nothing."""
    passed = bypassed(chip, mapping.bypass)
    for tensor in TENSORS:
        if all(tensor in part for part in passed):
            fix = f"Keep {tensor} in {' or '.join(BUFFERS)}: leave it out of mapping.bypass"
            return f"{tensor} is kept nowhere", fix
    for level, (name, part) in enumerate(zip(BUFFERS, passed, strict=True)):
        if len(part) == len(TENSORS):
            fix = f"Leave a tensor that {name} holds out of mapping.bypass[{level}]"
            return f"no tensor is kept in {name}", fix
    for tensor in compress(TENSORS, residents):
        if tensor in passed[0]:
            fix = f"Leave {tensor} out of mapping.bypass[0], or out of resident"
            return f"{tensor} is resident in L2 and passes it", fix
    return None


def _refused(layer: Layer, chip: Accelerator, mapping: Mapping, residents: Flags) -> Infeasible:
    """The report of a mapping that leaves a tensor nowhere to be, or a level without one."""
    what, fix = kept_wrong(chip, mapping, residents) or ("", "")
    held = " and ".join(
        f"{', '.join(compress(TENSORS, buffer.holds))} in {buffer.name}"
        for buffer in chip.buffers()
    )
    return Infeasible(
        ReasonCode.REFUSED,
        f"layer {layer.name!r}: mapping.bypass: {what}, as the chip holds {held}; expected every "
        "tensor in a level, and one in every level",
        levers=(fix,),
    )


def _fan_out(layer: Layer, chip: Accelerator, mapping: Mapping, num_pes: int) -> Infeasible:
    """The report of a mapping that spreads more than there are units."""
    cluster_size = mapping.cluster_size
    if cluster_size > num_pes:
        needed, limit, things = cluster_size, num_pes, "PEs"
        what = f"a cluster needs {needed} PEs, limit {limit} PEs"
        chosen = "--num-pes" if num_pes == chip.num_pes else "the mapping's num_pes"
        levers = [f"Reduce the cluster size {needed} -> {limit}", _raised(chosen, needed)]
    else:
        level, needed, limit = next(
            (level, units, count)
            for level, count in enumerate((num_pes // cluster_size, cluster_size))
            if (units := mapping.units[level] or 0) > count
        )
        things = ("clusters", "PEs of a cluster")[level]
        what = f"mapping.units[{level}] takes {needed} {things}, limit {limit}"
        levers = [f"Reduce units[{level}] {needed} -> {limit}"]
    message = f"layer {layer.name!r}: {what} (+{needed - limit})"
    return Infeasible(ReasonCode.PE_COUNT, message, needed, limit, things, tuple(levers))


def _raised(what: str, demand: int) -> str:
    if demand > UNLIMITED_BW and what.startswith("--l"):
        return f"leave {what.removeprefix('--').replace('-', '_')} unlimited (null)"
    return f"raise {what} to {demand}"


def with_tile(tiles: Tiles, d: int, tile: int) -> Tiles:
    """Tiles with another one along a dimension."""
    return (*tiles[:d], tile, *tiles[d + 1 :])


def tile_levers(tiles: Tiles, need: Callable[[Tiles], int], limit: int, name: str) -> list[str]:
    """Changes of tiles that bring `need` down to `limit`.

    Args:
        tiles: The tiles, in the order of `DIMS`.
        need: What given tiles need.
        limit: What there is.
        name: What the tiles are called.

    Returns:
        One change a dimension that is enough by itself; where none is, one change of several.
    """
    levers = []
    for d, tile in enumerate(tiles):
        # mypy infers no type for a lambda with a default.
        smaller = _largest(lambda t, d=d: need(with_tile(tiles, d, t)) <= limit, tile)  # type: ignore[misc]
        if smaller > 0:
            levers.append(f"Reduce {name} tile {DIMS[d]} {tile} -> {smaller}")
    if levers:
        return levers
    changed = tiles
    while need(changed) > limit:
        d = max(range(len(DIMS)), key=lambda d: changed[d])
        if changed[d] == 1:
            return []
        # B023: the lambda is called here, before d and changed are set anew.
        enough = _largest(lambda t: need(with_tile(changed, d, t)) <= limit, changed[d])  # noqa: B023
        changed = with_tile(changed, d, max(enough, changed[d] // 2) if enough else changed[d] // 2)
    pairs = enumerate(zip(tiles, changed, strict=True))
    parts = [f"{DIMS[d]} {a} -> {b}" for d, (a, b) in pairs if a != b]
    return [f"Reduce {name} tiles {', '.join(parts)}"]


def _largest(fits: Callable[[int], bool], below: int) -> int:
    """The largest tile under `below` that fits (a smaller tile always fits as well), or 0."""
    return bisect_left(range(1, below), True, key=lambda tile: not fits(tile))
