"""Arms: what is compared, each as settings and a length that follow from a preset's MST run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from marl_common import check_name
from mst.attention import DENSE
from mst.config import GptShape, PretrainConfig
from mst.errors import MstError
from mst.flops import planned
from mst.phases import ULTRA, Phase


@dataclass(frozen=True)
class ArmRun:
    """What an arm trains, and how long.

    Attributes:
        config: Its settings.
        tokens: Its length.
    """

    config: PretrainConfig
    tokens: int


def arm_run(arm: str, config: PretrainConfig, tokens: int, times: float | None = None) -> ArmRun:
    """The run of an arm.

    Args:
        arm: One of `ARMS`.
        config: Settings of MST.
        tokens: Length of the dense run and of MST.
        times: How many times less a short or tiny dense run costs than the dense one; None: as
            many times as MST's counted operations are fewer. Give the measured ratio of times for
            arms of equal time.

    Raises:
        MstError: There is no such arm, or no tiny model fits.
    """
    check_name("arm", arm, ARMS, MstError)
    if not times:
        times = counted_ratio(config, tokens) if arm in BY_RATIO else 1.0
    return ARMS[arm](config, tokens, times)


def counted_ratio(config: PretrainConfig, tokens: int) -> float:
    """How many times fewer operations MST's run needs than the dense one, as counted."""
    updates = config.updates(tokens)
    dense = planned(_dense(config), updates).theory.total
    return dense / planned(config, updates).theory.total


def _dense(config: PretrainConfig) -> PretrainConfig:
    sparse = replace(config.sparse, sparsity=0.0, phases=(), unit="free", mask_head=False)
    return replace(config, sparse=sparse, backend="masked")


def _constant(config: PretrainConfig, growth: str) -> PretrainConfig:
    """S from the first update to the last, dense attention."""
    phases = (Phase(ULTRA, 0.0, 1.0),)
    return replace(
        config, sparse=replace(config.sparse, phases=phases, growth=growth, pattern=DENSE)
    )


def _with_blocks(config: PretrainConfig) -> PretrainConfig:
    return replace(config, sparse=replace(config.sparse, unit="block4"))


def _whole(tokens: float, config: PretrainConfig) -> int:
    """The nearest length of whole updates."""
    each = config.tokens_per_update
    return max(1, round(tokens / each)) * each


def _long(config: PretrainConfig, tokens: int, times: float) -> int:
    """The length at which MST needs so many times the operations; a longer run needs fewer each."""
    aim = times * planned(config, config.updates(tokens)).theory.total
    first = _whole(tokens * times, config)
    reached = planned(config, config.updates(first)).theory.total
    return _whole(first * aim / reached, config)


def _tiny(config: PretrainConfig, tokens: int, times: float) -> ArmRun:
    dense = _dense(config)
    updates = dense.updates(tokens)
    aim = planned(dense, updates).theory.total / times
    return ArmRun(replace(dense, shape=tiny_shape(dense, updates, aim)), tokens)


def tiny_shape(config: PretrainConfig, updates: int, aim: float) -> GptShape:
    """The dense model of so much training work whose perceptrons are nearest to four widths.

    Raises:
        MstError: No model does so little.
    """
    shape = config.shape
    found: list[tuple[float, GptShape]] = []
    for width in range(2 * shape.heads, shape.width + 1, 2 * shape.heads):
        least, one_more = (
            planned(replace(config, shape=replace(shape, width=width, hidden=h)), updates)
            for h in (1, 2)
        )
        each = one_more.theory.total - least.theory.total
        hidden = 1 + round((aim - least.theory.total) / each)
        if hidden >= 1:
            made = replace(shape, width=width, hidden=hidden)
            found.append((abs(hidden / width - 4), made))
    if not found:
        raise MstError(
            f"arm tiny: no model of {shape.heads} heads does with {aim:.3g} operations; take "
            "fewer heads or a smaller --times"
        )
    return min(found, key=lambda pair: pair[0])[1]


Maker = Callable[[PretrainConfig, int, float], ArmRun]

ARMS: dict[str, Maker] = {
    "dense": lambda c, tokens, times: ArmRun(_dense(c), tokens),
    "dense-short": lambda c, tokens, times: ArmRun(_dense(c), _whole(tokens / times, c)),
    "tiny": _tiny,
    "static": lambda c, tokens, times: ArmRun(_constant(c, "static"), tokens),
    "rigl": lambda c, tokens, times: ArmRun(_constant(c, "rigl"), tokens),
    "mst": lambda c, tokens, times: ArmRun(c, tokens),
    "mst-block4": lambda c, tokens, times: ArmRun(_with_blocks(c), tokens),
    "mst-long": lambda c, tokens, times: ArmRun(c, _long(c, tokens, times)),
}
"""Arm -> its run, from MST's settings, the length, and how many times less it may cost."""

BY_RATIO = ("dense-short", "tiny", "mst-long")
"""Arms whose run depends on how many times less it may cost."""
