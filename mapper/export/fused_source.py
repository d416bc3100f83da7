"""Fused groups of a network's answer, as far as another tool can say them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from cost_models import Accelerator, Chain
from layers import LayerKind
from mapper.export.fused_accelforge import FusedNests
from mapper.export.loop_nest import ExportError, LoopNest, loop_nest
from mapper.staying.network_result import FusedStep, NodeResult

NO_WORDS = "AccelForge's files have no words for"


@dataclass(frozen=True)
class GroupSource:
    """A fused group.

    Args:
        number: In its network's answer.
        chip: The chip.
        steps: Its layers.
    """

    number: int
    chip: Accelerator | Chain
    steps: tuple[NodeResult, ...]

    @property
    def levels(self) -> Chain:
        """The chip as a list of levels."""
        return self.chip if isinstance(self.chip, Chain) else self.chip.to_levels()

    @property
    def fused(self) -> list[FusedStep]:
        """How each layer is fused."""
        return [step.fused for step in self.steps if step.fused is not None]

    @property
    def where(self) -> str:
        """Such as ``group 0 (conv1 to conv2)``."""
        first, last = self.steps[0].node.name, self.steps[-1].node.name
        return f"group {self.number} ({first} to {last})"


def groups_of_answer(path: Path) -> list[GroupSource]:
    """The fused groups of ``network.json``, each mapping and figure of which is checked.

    Raises:
        ExportError: It has none.
        AnswerError: It is not what its mappings cost.
        ValueError: The network, the chip or an option cannot be.
    """
    import layers
    from mapper.fusing.answer_file import AnswerError, read_answer
    from mapper.fusing.network_answer import NetworkAnswer

    answer = read_answer(path)
    try:
        checked = NetworkAnswer(answer, layers.graph_of(answer.network), "exact")
        steps = checked.evaluated().steps
    except AnswerError as error:
        raise AnswerError(f"{path}: {error}") from None
    found = groups_of_steps(checked.setting.chip, steps)
    if not found:
        raise ExportError(
            f"{path}: no layers are fused; expected an answer of `mapper search --network N "
            "--fuse tiles` that fuses some"
        )
    return found


def groups_of_steps(chip: Accelerator | Chain, steps: Sequence[NodeResult]) -> list[GroupSource]:
    """The fused groups of a network's nodes."""
    fused = [step for step in steps if step.fused is not None]
    groups = groupby(fused, lambda step: step.fused.group if step.fused else -1)
    return [GroupSource(number, chip, tuple(own)) for number, own in groups]


def group_nests(source: GroupSource, *, pad: bool = False) -> FusedNests:
    """A group as whole factors.

    Args:
        source: The group.
        pad: Where fused tiles at an edge, or tiles of a layer, are smaller, export larger layers.

    Raises:
        ExportError: AccelForge has no words for the group.
    """
    _check(source)
    first, last = source.fused[0], source.steps[-1].node.layer
    assert last is not None
    extents = last.out_y, last.N if last.kind is LayerKind.GEMM else last.out_x
    nests = tuple(_nest(source, place, pad) for place in range(len(source.steps)))
    for nest in nests:
        for level, spread, tensor in nest.unshared():
            raise ExportError(
                f"{source.where}: {NO_WORDS} units of {level} along {spread.dim} that do not share "
                f"{tensor} in one layer and do in another"
            )
    return FusedNests(
        source.levels,
        nests,
        (-(-extents[0] // first.tile[0]), -(-extents[1] // first.tile[1])),
        tuple(step.resident for step in source.steps),
        frozenset(place for place, one in enumerate(source.fused) if one.filter_stays),
    )


def _check(source: GroupSource) -> None:
    """Refuse what no fused mapping of AccelForge says."""
    first = source.fused[0]
    if first.keys:
        raise ExportError(
            f"{source.where}: {NO_WORDS} tiles of {first.keys} keys with a running maximum and sum"
        )
    for halo, axis in zip(first.halo, ("rows", "columns"), strict=True):
        if halo == "kept":
            raise ExportError(
                f"{source.where}: {NO_WORDS} {axis} that are kept for the next fused tile; one "
                "loop would step through each layer's own dimension"
            )
    layers = [step.node.layer for step in source.steps if step.node.layer is not None]
    for before, after in pairwise(layers):
        written = before.C if before.depthwise else before.K
        if (written, before.groups) != (after.C, after.groups):
            raise ExportError(
                f"{source.where}: {NO_WORDS} channels that {before.name} writes in "
                f"{before.groups} groups and {after.name} reads in {after.groups}"
            )
    home, *inner = source.levels.inner
    inner = [one for one in inner if one.is_memory]
    if any(home.tensor_bytes) or any(one.buffer.total_bits is None for one in inner):
        raise ExportError(
            f"{source.where}: {NO_WORDS} a memory whose price is another in each layer; expected "
            f"capacities of all levels, and one for all tensors in {home.name}"
        )


def _nest(source: GroupSource, place: int, pad: bool) -> LoopNest:
    """A layer's part in a fused tile; the largest one where others are at an edge."""
    name, parts = source.steps[place].node.name, source.fused[place].parts
    if len(parts) > 1 and not pad:
        raise ExportError(
            f"{source.where}: {name} has {len(parts)} shapes of fused tiles, and {NO_WORDS} "
            "smaller ones at an edge; add --pad to export a larger group of the largest alone, or "
            "give tiles that divide"
        )
    part, known = max(parts, key=lambda one: (one[0].layer.macs, -sum(one[0].layer.padding)))
    mapping = known.mapping
    assert mapping is not None
    try:
        return loop_nest(part.layer, source.chip, mapping, pad=pad)
    except ExportError as error:
        raise ExportError(f"{source.where}: {name}: {error}") from None
