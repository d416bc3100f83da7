"""One parameter of a map space, and the values that tiles, clusters and PE counts may take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

TileRule = Literal["balanced", "divisors", "any"]
ParameterKind = Literal[
    "priority",
    "order",
    "parallel",
    "tile",
    "cluster_size",
    "num_pes",
    "parallel2",
    "units",
    "bypass",
    "keeps",
]

TILE_RULES: tuple[TileRule, ...] = ("balanced", "divisors", "any")
NUM_PES_STEPS = 64
"""`num_pes` is searched in steps of 1/64 of the array, beside balanced values and powers of two."""


class MapSpaceError(ValueError):
    """An option of the space that is not known, or a mapping that is not in the space."""


@dataclass(frozen=True)
class Parameter:
    """One column of an action.

    Args:
        name: Unique name, such as ``"outer_tile_K"`` or ``"PEBuffer.tile_K"``.
        choices: What the column's values 0, 1, ... stand for: loop priorities (0 is outermost),
            loop orders, dimensions, tile extents, PEs or other units, tensors.
        level: Its level, 0 the outermost (of two: clusters, then PEs of a cluster); None for the
            whole array.
        kind: What the parameter chooses.
        dim: The dimension of a priority or tile; empty otherwise.
    """

    name: str
    choices: tuple[int, ...] | tuple[str, ...]
    level: int | None
    kind: ParameterKind
    dim: str = ""

    @property
    def ordinal(self) -> bool:
        """Whether neighbouring choices are alike (not so for a dimension or a whole order)."""
        return self.kind not in ("order", "parallel", "parallel2", "bypass", "keeps")

    def __len__(self) -> int:
        return len(self.choices)


def narrowed(parameter: Parameter, keep: Iterable[int | str]) -> Parameter:
    """A parameter with some of its choices only.

    Raises:
        MapSpaceError: None is kept, or one is not among the choices.
    """
    keep = tuple(keep)
    unknown = [choice for choice in keep if choice not in parameter.choices]
    if unknown or not keep:
        shown = ", ".join(str(choice) for choice in parameter.choices[:40])
        more = ", ..." if len(parameter.choices) > 40 else ""
        raise MapSpaceError(
            f"space.only.{parameter.name}: got {list(keep)!r}, expected some of {shown}{more}"
        )
    kept = tuple(choice for choice in parameter.choices if choice in keep)
    # `choices` are all int or all str, and so are those kept; mypy sees a mixture.
    return replace(parameter, choices=kept)  # type: ignore[arg-type]


def not_offered(parameter: Parameter, value: int | str) -> str:
    """What a message says of a value that is none of a parameter's choices."""
    offered = [str(choice) for choice in parameter.choices]
    if len(offered) > 6 and parameter.ordinal:
        nearest = sorted(map(int, parameter.choices), key=lambda c: abs(c - int(value)))[:4]
        offered = [*map(str, sorted(nearest)), "... (the nearest)"]
    return (
        f"{parameter.name}={value!r} is not in the space; expected one of {', '.join(offered[:12])}"
    )


def balanced(extent: int) -> tuple[int, ...]:
    """The distinct ``ceil(extent / k)``, ascending: each is the smallest tile of its step count."""
    return tuple(sorted({-(-extent // k) for k in _quotient_points(extent)}))


def divisors(extent: int) -> tuple[int, ...]:
    """The divisors of `extent`, ascending."""
    small = [k for k in range(1, int(extent**0.5) + 1) if extent % k == 0]
    return tuple(sorted({*small, *(extent // k for k in small)}))


@lru_cache(maxsize=64)
def tile_choices(extent: int, rule: TileRule) -> tuple[int, ...]:
    """The tiles of one dimension under a rule of `TILE_RULES`, ascending; the extent is the last.

    ``balanced`` reaches the optimum wherever a cost does not grow with smaller tiles at the same
    number of steps; ``divisors`` leaves no ragged last tile; ``any`` is every whole number.
    """
    if rule == "balanced":
        return balanced(extent)
    if rule == "divisors":
        return divisors(extent)
    return tuple(range(1, extent + 1))


def cluster_choices(num_pes: int) -> tuple[int, ...]:
    """Cluster sizes, ascending: the distinct ``num_pes // k``, and the powers of two.

    ``num_pes // k`` is the largest cluster of which `k` fit on the array, so every pair of cluster
    size and cluster count that is not beaten in one at the same value of the other is reached.
    """
    largest = {num_pes // k for k in _quotient_points(num_pes)} - {0}
    return tuple(sorted(largest | _powers_of_two(num_pes)))


def num_pes_choices(num_pes: int) -> tuple[int, ...]:
    """PE counts of the co-search, ascending, up to the accelerator's."""
    step = max(1, num_pes // NUM_PES_STEPS)
    linear = set(range(step, num_pes + 1, step))
    return tuple(sorted(linear | set(balanced(num_pes)) | _powers_of_two(num_pes)))


def _quotient_points(number: int) -> set[int]:
    """Values of `k` that give every distinct ``number // k`` and ``ceil(number / k)``."""
    root = int(number**0.5) + 1
    points = set(range(1, root + 1))
    for quotient in range(1, root + 1):
        # the largest k with number // k >= quotient, and the smallest with ceil(number/k) <= it
        points |= {max(1, number // quotient), -(-number // quotient)}
    return points


def _powers_of_two(limit: int) -> set[int]:
    return {1 << bit for bit in range(limit.bit_length())}
