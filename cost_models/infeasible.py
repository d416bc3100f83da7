"""Why a mapping has no cost: the limit it breaks, by how much, and what would satisfy it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import IntEnum

from marl_common import Computed


class ReasonCode(IntEnum):
    """Reason codes of `CostBatch.reason`; 0 is feasible.

    Codes up to 9 are limits of the accelerator, from 10 on rules of a dataflow language or cost
    model, from 20 on physical laws that a model's own figures break.
    """

    FEASIBLE = 0
    L1_CAPACITY = 1
    L2_CAPACITY = 2
    PE_COUNT = 3
    CAPACITY = 4
    """That of a level of a chip of any depth."""
    LIMIT = 9
    """A limit that the problem sets, such as the highest latency."""
    REFUSED = 10
    """The MAESTRO program exits with an error on this mapping."""
    DIES = 11
    """The MAESTRO program dies (division by zero, or an integer overflow)."""
    NOT_A_PARTITION = 12
    """The directives visit some MACs twice or never."""
    TOO_LARGE = 13
    """A count would leave the model's integer range."""
    OVERFLOWS = 14
    """A counter of the MAESTRO program, 32 bits wide, overflows on this mapping."""
    FEWER_MACS = 20
    FASTER_THAN_PEAK = 21
    FASTER_THAN_NOC = 22
    FASTER_THAN_OFFCHIP = 23
    TRAFFIC_BELOW_INPUT = 24
    TRAFFIC_BELOW_FILTER = 25
    TRAFFIC_BELOW_OUTPUT = 26
    NO_WORK = 27
    """The model skips every step of the mapping: no cycle and no MAC is counted."""
    BELOW_BOUND = 28
    """A figure below its physical lower bound."""
    NEGATIVE = 29
    NOT_FINITE = 30
    OVER_UTILISED = 31
    """More PEs at work than there are."""
    MORE_MACS = 32


@dataclass(frozen=True)
class Infeasible(Computed):
    """A typed reason, as a report a person can act on.

    Args:
        code: Which rule.
        message: One sentence: what, with its value, and what was expected.
        demand: What the mapping needs or claims, in `unit`; None where the rule has no number.
        bound: What is allowed, in `unit`.
        unit: Unit of `demand` and `bound`, such as ``"B"``, ``"cycles"``, ``"MACs"``, ``"PEs"``.
        levers: Concrete changes, each of which would satisfy the rule.
    """

    code: ReasonCode
    message: str
    demand: float | None = field(default_factory=type(None))
    bound: float | None = field(default_factory=type(None))
    unit: str = field(default_factory=str)
    levers: tuple[str, ...] = field(default_factory=tuple)

    @classmethod
    def when_asked(cls, code: ReasonCode, explain: Callable[[], Infeasible]) -> Infeasible:
        """A report whose code is known, and whose rest is `explain()`, called when it is read."""
        return cls.later(lambda _: vars(explain()), code=code)

    def with_levers(self, find: Callable[[], tuple[str, ...]]) -> Infeasible:
        """The same report, with levers that are looked for when somebody asks for them."""
        known = {item.name: getattr(self, item.name) for item in fields(self)}
        del known["levers"]
        return type(self).later(lambda _: {"levers": find()}, **known)

    @property
    def gap(self) -> float | None:
        """How far `demand` is from `bound`, in `unit`; None where the rule has no number."""
        if self.demand is None or self.bound is None:
            return None
        return abs(self.demand - self.bound)

    def __str__(self) -> str:
        fix = f" {' or '.join(self.levers)}." if self.levers else ""
        return f"Infeasible: {self.message}.{fix}"


class MappingError(ValueError):
    """A mapping, dataflow or accelerator that is malformed (as opposed to infeasible)."""


class InfeasibleError(MappingError):
    """A layer that no mapping runs on a chip, or a dataflow that a mapping cannot express.

    Args:
        infeasible: The typed reason.
        layer: Name of the layer; empty where the reason is about a dataflow alone.
        chip: What tables call the chip; likewise.
    """

    def __init__(self, infeasible: Infeasible, layer: str = "", chip: str = "") -> None:
        super().__init__(str(infeasible))
        self.infeasible, self.layer, self.chip = infeasible, layer, chip

    @property
    def limit(self) -> float | None:
        """What is allowed, in the reason's unit; None where the rule has no number."""
        return self.infeasible.bound

    @property
    def levers(self) -> tuple[str, ...]:
        """Concrete changes, each of which would satisfy the rule."""
        return self.infeasible.levers
