"""When the density changes and when weights move: named phases over the updates of a run.

Source: Mixed Sparsity Training (TMLR 2025): warm-up, ultra-sparse, restoration; the cubic law is
Zhu and Gupta's (To prune, or not to prune, 2017, equation 1).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from marl_common import check_name
from mst.attention import DENSE, PATTERNS
from mst.errors import MstError, made_by_name
from sparse_training import LAWS, cosine_drop, density_at

if TYPE_CHECKING:
    from mst.work import Counted

WARM_UP, ULTRA, RESTORATION, FULL = "warm-up", "ultra", "restoration", "dense"
MOST_STEPS = 20_000
"""Topology steps of a phase: each is planned before a run begins."""
NAMES = (WARM_UP, ULTRA, RESTORATION, FULL)
_SLACK = 1e-9


@dataclass(frozen=True)
class Phase:
    """One phase of a run.

    Attributes:
        name: ``warm-up`` (density 1 to 1 - S), ``ultra`` (1 - S), ``restoration`` (1 - S to 1) or
            ``dense`` (1, where nothing moves).
        start: Where it begins, as a share of the updates.
        end: Where it ends.
        law: A name in :data:`sparse_training.LAWS`, or ``module:Class``.
        attention: A name in :data:`mst.attention.PATTERNS`, or ``module:Class``; None: the run's
            pattern in warm-up and ultra-sparse phases, dense in the others.
    """

    name: str
    start: float
    end: float
    law: str = "linear"
    attention: str | None = None

    def __post_init__(self) -> None:
        check_name("phase", self.name, NAMES, MstError)
        made_by_name(f"phase {self.name}", LAWS, self.law)
        if self.attention is not None:
            made_by_name(f"phase {self.name}", PATTERNS, self.attention)
        if not 0 <= self.start < self.end <= 1 + _SLACK:
            raise MstError(
                f"phase {self.name}: got {self.start:g} to {self.end:g} of the run, expected "
                "0 <= start < end <= 1; give it a part of the run"
            )

    def pattern(self, sparse: str) -> str:
        """Its attention, where that of sparse phases is `sparse`."""
        return self.attention or (DENSE if self.name in (RESTORATION, FULL) else sparse)

    def plain(self) -> dict[str, Any]:
        """The phase as JSON values; without an attention where it has none of its own."""
        values = dataclasses.asdict(self)
        return {k: v for k, v in values.items() if k != "attention" or v is not None}

    def density(self, moved: float, sparsity: float) -> float:
        """Density when `moved` of the phase's way (0 to 1) is done."""
        first = 1.0 if self.name in (WARM_UP, FULL) else 1 - sparsity
        last = 1.0 if self.name in (RESTORATION, FULL) else 1 - sparsity
        return density_at(self.law, first, last, moved)


def check_phases(phases: Sequence[Phase]) -> None:
    """Refuse phases that overlap, leave a gap, or do not fill the run.

    Raises:
        MstError: They do.
    """
    if not phases:
        return
    if abs(phases[0].start) > _SLACK:
        raise MstError(
            f"phases: the first, {phases[0].name}, begins at {phases[0].start:g}, expected 0; "
            "phases must add up to 1"
        )
    for one, two in pairwise(phases):
        if two.start < one.end - _SLACK:
            raise MstError(
                f"phases: {two.name} begins at {two.start:g}, before {one.name} ends at "
                f"{one.end:g}: they overlap; begin it at {one.end:g}"
            )
        if two.start > one.end + _SLACK:
            raise MstError(
                f"phases: {one.name} ends at {one.end:g} and {two.name} begins at {two.start:g}; "
                f"phases must add up to 1: begin it at {one.end:g}"
            )
    if abs(phases[-1].end - 1) > _SLACK:
        raise MstError(
            f"phases: the last, {phases[-1].name}, ends at {phases[-1].end:g}, expected 1; "
            "phases must add up to 1"
        )


def parse_phases(text: str, law: str = "linear") -> tuple[Phase, ...]:
    """Phases from ``warm-up:0-.1,ultra:.1-.9,restoration:.9-1:cubic``; ``none`` has none.

    An attention may follow the law, as in ``ultra:.7-.9:linear:dense``.

    Args:
        text: The phases.
        law: Of phases that name none.

    Raises:
        MstError: The text is not of that form, or the phases do not fit together.
    """
    if text == "none":
        return ()
    phases = tuple(_parsed(part, law) for part in text.split(","))
    check_phases(phases)
    return phases


def _parsed(part: str, usual: str) -> Phase:
    name, _, rest = part.strip().partition(":")
    span, _, rest = rest.partition(":")
    law, _, attention = rest.partition(":")
    if attention and law and law not in LAWS:
        end, _, attention = attention.partition(":")  # module:Class
        law = f"{law}:{end}"
    start, _, end = span.partition("-")
    try:
        first, last = float(start), float(end)
    except ValueError:
        raise MstError(
            f"phases: got {part!r}, expected NAME:START-END, NAME:START-END:LAW or "
            "NAME:START-END:LAW:ATTENTION, such as warm-up:0-.1:linear"
        ) from None
    return Phase(name, first, last, law or usual, attention or None)


def phases_text(phases: Sequence[Phase]) -> str:
    """The text from which :func:`parse_phases` makes these phases."""
    parts = [
        f"{p.name}:{p.start!r}-{p.end!r}:{p.law}" + (f":{p.attention}" if p.attention else "")
        for p in phases
    ]
    return ",".join(parts) or "none"


@dataclass(frozen=True)
class TopologyMoment:
    """A topology step of a run.

    Attributes:
        update: It comes with this update, counted from 0, and is in force from the next one on.
        density: Density after it.
        drop: Share of the kept weights that is dropped at least.
        phase: Name of the phase.
    """

    update: int
    density: float
    drop: float
    phase: str


@dataclass(frozen=True)
class Span:
    """Updates in a row with the same density and phase.

    Attributes:
        updates: How many; the last one may come with a topology step.
        density: Density in force.
        phase: The phase; None in a dense run.
        topology: Whether the last one comes with a topology step.
    """

    updates: int
    density: float
    phase: Phase | None
    topology: bool


@dataclass(frozen=True)
class PhaseSchedule:
    """Phases laid out over so many updates.

    Attributes:
        phases: The phases; none: dense throughout.
        sparsity: S of the ultra-sparse phase.
        updates: Updates of the run.
        every: Updates between two topology steps.
        moves: Topology steps, at least, of a phase whose density changes.
        drop: z, the share that is dropped at the beginning of a phase.
    """

    phases: tuple[Phase, ...]
    sparsity: float
    updates: int
    every: int
    moves: int
    drop: float

    def span(self, phase: Phase) -> tuple[int, int]:
        """First update of a phase, and the one after its last."""
        return round(phase.start * self.updates), round(phase.end * self.updates)

    def phase_at(self, update: int) -> Phase | None:
        """The phase of an update; None where there are none."""
        for phase in self.phases:
            if update < self.span(phase)[1]:
                return phase
        return None

    def moments(self) -> list[TopologyMoment]:
        """Every topology step.

        f(t) = z/2 (1 + cos(pi t / T)) begins anew in each phase of T updates.
        """
        moving = (phase for phase in self.phases if phase.name != FULL)
        return [moment for phase in moving for moment in self._moments(phase)]

    def _moments(self, phase: Phase) -> list[TopologyMoment]:
        first, after = self.span(phase)
        length = after - first
        every = self.every
        if phase.name != ULTRA:
            every = max(1, min(every, length // self.moves))
        times = range(0, length, every)
        if len(times) > MOST_STEPS:
            raise MstError(
                f"phase {phase.name}: has {len(times):,} topology steps in {length:,} updates, "
                f"expected at most {MOST_STEPS:,}; raise --every, or lower --tokens"
            )
        return [
            TopologyMoment(
                first + t,
                phase.density((i + 1) / len(times), self.sparsity),
                cosine_drop(self.drop, t, length),
                phase.name,
            )
            for i, t in enumerate(times)
        ]

    @property
    def first_density(self) -> float:
        """Density before the first topology step."""
        return self.phases[0].density(0.0, self.sparsity) if self.phases else 1.0

    def spans(self) -> list[Span]:
        """The whole run, cut wherever the phase changes or a topology step comes."""
        steps = {moment.update: moment for moment in self.moments()}
        ends = {update + 1 for update in steps} | {self.span(phase)[1] for phase in self.phases}
        spans, begin, density = [], 0, self.first_density
        for end in sorted(ends | {self.updates}):
            moment = steps.get(end - 1)
            if end > begin:
                phase = self.phase_at(begin)
                spans.append(Span(end - begin, density, phase, moment is not None))
            density = density if moment is None else moment.density
            begin = end
        return spans

    def flops(self, work: Callable[[float, Phase | None, bool], Counted], zero: Counted) -> Counted:
        """Operations of the whole run.

        Args:
            work: Operations of an update, from the density in force, its phase, and whether a
                topology step comes with it.
            zero: No operations.
        """
        return sum((work(*key) * count for key, count in _alike(self).items()), zero)


@lru_cache(maxsize=32)
def _alike(schedule: PhaseSchedule) -> Counter[tuple[float, Phase | None, bool]]:
    """Updates of a run by density, phase, and whether a topology step comes with them."""
    alike: Counter[tuple[float, Phase | None, bool]] = Counter()
    for span in schedule.spans():
        alike[span.density, span.phase, False] += span.updates - span.topology
        alike[span.density, span.phase, True] += span.topology
    return +alike
