"""An exploration: every design mapped, the best ones proven, and what no other design beats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import baselines
from cost_models import Accelerator, Chain, capabilities_of
from maestro_env import figure_bounds
from mapper.explore.design_figures import (
    OBJECTIVES,
    Design,
    FrontPoint,
    figures_of,
    front_rows,
)
from mapper.explore.design_ranges import ExploreError, Value
from mapper.explore.design_run import AIMS, DesignRun, Workload
from mapper.explore.design_space import SweptChip, label_of
from mapper.explore.kept_design import KeptDesign, KeptWorkload
from mapper.explore.mapping_pool import MappingPool, NetworkPoint
from mapper.explore.network_hull import LayerFloor, pareto_rows
from mapper.explore.ranking import ranks, unsettled
from mapper.explore.shape_proof import ShapeProof
from marl_common import engineering
from marl_runs import Experiment, RunSummary, Store

RunAll = Callable[[Sequence[Experiment]], RunSummary]


class NoDesignError(Exception):
    """No design meets a limit: there is no result."""


@dataclass(frozen=True)
class ExplorePlan:
    """What is explored.

    Args:
        network: What the network is called.
        workload: Its shapes.
        objectives: Two or three of `OBJECTIVES`, in the order of the table.
        max_area: Largest area [um^2], or None.
        max_power: Largest power of the network [mW], or None.
        pretrained: The agents.
        seed: The seed of their draws.
        gap: Proofs end where a point is at most this share above its bound.
        timeout: Time of one proof [s]; 0 proves nothing.
        kept: The network where its tensors may stay in L2; None where layers are mapped alone.
    """

    network: str
    workload: Workload
    objectives: tuple[str, ...]
    max_area: float | None = None
    max_power: float | None = None
    pretrained: str = "auto"
    seed: int = 0
    gap: float = 0.01
    timeout: float = 20.0
    kept: KeptWorkload | None = None

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each part of the network that has floors of its own occurs."""
        return self.workload.counts if self.kept is None else (1,)

    @property
    def aims(self) -> tuple[str, ...]:
        """What mappings are proposed for."""
        named = set(self.objectives)
        return tuple(
            aim for aim in AIMS if aim in named or (aim == "edp" and {"latency", "energy"} <= named)
        )

    @property
    def proof_order(self) -> tuple[str, ...]:
        """What is proven of a design, one after the other, until its gap is small enough."""
        return AIMS if "edp" in self.aims else self.aims

    def run_of(self, chip: Accelerator | Chain) -> DesignRun | KeptDesign:
        """The experiment of a design."""
        if self.kept is not None:
            return KeptDesign(self.kept, chip, self.aims)
        return DesignRun(self.workload, chip, self.aims, self.pretrained, self.seed)


@dataclass
class Exploration:
    """The designs of a plan, and what is known of them.

    Args:
        plan: The plan.
        designs: Those that meet the limit on area.
        too_large: How many others there were.
    """

    plan: ExplorePlan
    designs: list[Design]
    too_large: int = 0
    _front: list[FrontPoint] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, plan: ExplorePlan, swept: Iterable[SweptChip]) -> Exploration:
        """The designs that meet the limit on area, with their physical bounds.

        Raises:
            NoDesignError: There is none.
            ExploreError: The cost model does not know the area of a chip.
        """
        model = plan.workload.model()
        designs = [_design(plan, model, *one) for one in swept]
        most = plan.max_area
        fitting = [d for d in designs if most is None or d.area <= most]
        if designs and not fitting:
            raise NoDesignError(
                no_design_text(designs, "area", min(d.area for d in designs), most or 0)
            )
        return cls(plan, fitting, len(designs) - len(fitting))

    def take_results(self, store: Store) -> MappingPool:
        """What the store holds of the designs and proofs, and from it points and floors of all."""
        pool = MappingPool(self.plan.workload)
        stored = results_of(self.plan, store)
        found: list[tuple[Accelerator | Chain, Any]] = []
        for design in self.designs:
            result = stored.get(self.plan.run_of(design.chip).identity().key)
            if result is None or "latency" not in result:
                design.why = "not done" if result is None else result.get("empty", "not done")
                continue
            design.why = ""
            if self.plan.kept is None:
                found.append((design.chip, result["rows"]))
            else:
                _take_kept(design, result, self.plan.aims)
        if self.plan.kept is not None:
            return pool
        pool.add_all(found)
        self.settle(pool)
        return pool

    def settle(self, pool: MappingPool) -> None:
        """Work out the points of every design from a pool of mappings."""
        self._front = None
        for design in self.designs:
            offers = None if design.why else pool.offers(design.chip)
            design.offers = offers or ()
            design.points = pool.points(offers) if offers else ()

    def figures(self, design: Design, point: NetworkPoint) -> dict[str, float]:
        """All figures of a choice of mappings."""
        return figures_of(design.chip, design.area, point)

    @property
    def front(self) -> list[FrontPoint]:
        """Designs with choices of mappings that no other one beats, by the first objective.

        Raises:
            NoDesignError: No design is within the limit on power, or none can run the network.
        """
        if self._front is None:
            self._front = self._make_front()
        return self._front

    def _make_front(self) -> list[FrontPoint]:
        names = self.plan.objectives
        pairs = [(design, point) for design in self.designs for point in design.points]
        figures = [self.figures(design, point) for design, point in pairs]
        if not pairs:
            raise NoDesignError(self._why_none())
        most = self.plan.max_power
        within = [i for i, f in enumerate(figures) if most is None or f["power"] <= most]
        if not within:
            least = min(f["power"] for f in figures)
            raise NoDesignError(no_design_text(self.designs, "power", least, most or 0))
        values = np.array([[figures[i][name] for name in names] for i in within])
        counts = self.plan.counts
        found = []
        for row in front_rows(values):
            design, point = pairs[within[row]]
            mine = figures[within[row]]
            found.append(FrontPoint(design, point, mine, design.gap(mine, names, counts)))
        return found

    def _why_none(self) -> str:
        """Why no design has a point."""
        first = next((d for d in self.designs if d.why), None)
        why = "" if first is None else f"; {label_of(first.chip)}: {first.why}"
        return f"No design of {len(self.designs):,} can run {self.plan.network}{why}"

    def open_proofs(self) -> list[tuple[Design, str]]:
        """Designs of the front to prove more of, each with what to prove of it next.

        Those whose gap is too large, and those that bounds do not tell from another one.
        """
        found: dict[int, tuple[Design, str]] = {}
        names, counts = self.plan.objectives, self.plan.counts
        for point, is_open in zip(self.front, unsettled(self.front, names, counts), strict=True):
            if point.gap <= self.plan.gap and not is_open:
                continue
            left = [a for a in self.plan.proof_order if a not in point.design.asked]
            if left:
                found.setdefault(id(point.design), (point.design, left[0]))
        return list(found.values())

    @property
    def ranks(self) -> list[tuple[int, bool]]:
        """See :func:`mapper.explore.ranking.ranks`."""
        return ranks(self.front, self.plan.objectives, self.plan.counts)

    @property
    def front_designs(self) -> list[Design]:
        """The designs of the front, each once."""
        return list({id(point.design): point.design for point in self.front}.values())

    def counted(self) -> dict[str, int]:
        """How many designs there are, and what became of them."""
        return {
            "designs": len(self.designs) + self.too_large,
            "designs_on_the_front": len(self.front_designs),
            "points_on_the_front": len(self.front),
            "too_large": self.too_large,
            "without_mapping": sum(not design.points for design in self.designs),
            "proven_off_the_front": self.beaten,
        }

    @property
    def beaten(self) -> int:
        """Designs off the front that no mapping whatever brings onto it, by their bounds."""
        names = [name for name in self.plan.objectives if name != "power"]
        if len(names) != len(self.plan.objectives):
            return 0
        front = np.array([[point.figures[name] for name in names] for point in self.front])
        on = {id(point.design) for point in self.front}
        counts = self.plan.counts
        beaten = 0
        for design in self.designs:
            if design.points and id(design) not in on:
                bounds = design.bounds(counts)
                low = np.array([bounds[name] for name in names])
                beaten += bool((front <= low).all(axis=1).any())
        return beaten


def explore(exploration: Exploration, store: Store, run_all: RunAll) -> RunSummary:
    """Map every design, then prove what the front claims, until every point is settled.

    Args:
        exploration: The designs; it is filled in.
        store: Where experiments are kept.
        run_all: Does experiments, as :func:`marl_runs.run_all` with its options given.

    Returns:
        How the last experiments ended.
    """
    plan = exploration.plan
    summary = run_all([plan.run_of(design.chip) for design in exploration.designs])
    pool = exploration.take_results(store)
    while plan.kept is None and plan.timeout > 0 and not summary.stopped:
        asked = exploration.open_proofs()
        if not asked:
            break
        proofs = [(d, aim, s, p) for d, aim in asked for s, p in _proofs(plan, d, aim)]
        summary = run_all([proof for *_, proof in proofs])
        _take_proofs(proofs, pool, store)
        for design, aim in asked:
            design.asked.add(aim)
            shapes = [s for d, a, s, _ in proofs if d is design and a == aim]
            if len(shapes) == len(plan.workload.layers):
                design.proven.add(aim)
        exploration.settle(pool)
    return summary


def results_of(plan: ExplorePlan, store: Store) -> dict[str, Mapping[str, Any]]:
    """What the store holds of designs, by key."""
    kind = DesignRun.kind if plan.kept is None else KeptDesign.kind
    return {run.key: run.result or {} for run in store.runs(kind=kind)}


def _take_kept(design: Design, result: Mapping[str, Any], aims: Sequence[str]) -> None:
    """Points and floor of a design whose network keeps tensors in L2."""
    sums = np.array(result["points"])
    best = pareto_rows(sums[:, 0], sums[:, 1])
    rows = ((float(latency), float(energy)) for latency, energy in sums[best])
    design.points = [NetworkPoint(latency, energy, ()) for latency, energy in rows]
    design.floors = [LayerFloor(**result["floor"])]
    design.proven = set(aims)


def _proofs(plan: ExplorePlan, design: Design, aim: str) -> list[tuple[int, ShapeProof]]:
    """A proof for every shape that can be proven."""
    model = plan.workload.model()
    found = []
    for shape, offer in enumerate(design.offers):
        problem = plan.workload.problem(shape, design.chip, aim, model)
        if baselines.can_prove(problem) is not None:
            continue
        value = {"latency": offer.latency, "energy": offer.energy}.get(
            aim, offer.latency * offer.energy
        )
        start = tuple(int(n) for n in offer.rows[int(np.argmin(value))])
        alone = replace(
            plan.workload,
            layers=(plan.workload.layers[shape],),
            counts=(1,),
        )
        found.append((shape, ShapeProof(alone, design.chip, aim, plan.timeout, start)))
    return found


def _take_proofs(
    proofs: Sequence[tuple[Design, str, int, ShapeProof]], pool: MappingPool, store: Store
) -> None:
    """Bounds into the designs' floors, mappings into the pool."""
    stored = {run.key: run.result or {} for run in store.runs(kind=ShapeProof.kind)}
    names = {"latency": "latency", "energy": "energy", "edp": "product"}
    for design, aim, shape, proof in proofs:
        result = stored.get(proof.identity().key, {})
        if "bound" not in result:
            continue
        floor = design.floors[shape]
        known = getattr(floor, names[aim])
        raised = {names[aim]: max(known, result["bound"])}
        design.floors[shape] = replace(floor, **raised)
        pool.add(design.chip, shape, result["rows"])


def _design(
    plan: ExplorePlan,
    model: Any,
    chip: Accelerator | Chain,
    fields: tuple[tuple[str, Value], ...],
) -> Design:
    floors = []
    area = 0.0
    for layer in plan.workload.layers:
        bounds = figure_bounds(model, layer, chip)
        latency, energy = bounds["latency_cycles"], bounds.get("energy_nj", 0.0)
        floors.append(LayerFloor(latency, energy, latency * energy))
        area = max(area, bounds.get("area_um2", 0.0))
    if plan.kept is not None:  # nothing is known of the whole, in which layers take less
        floors = [LayerFloor(0.0, 0.0, 0.0)]
    return Design(chip, dict(fields), area, floors)


def check_area(plan: ExplorePlan) -> None:
    """Refuse an area that would be each mapping's own.

    Raises:
        ExploreError: The cost model's area is not the chip's.
    """
    asked = "area" in plan.objectives or plan.max_area is not None
    if asked and "area_um2" not in capabilities_of(plan.workload.model()).needs:
        raise ExploreError(
            f"area: cost model {plan.workload.cost_model!r} gives each mapping an area of its own; "
            "expected one that knows the chip's, such as exact (with area=provisioned)"
        )


def no_design_text(designs: Sequence[Design], name: str, least: float, most: float) -> str:
    """Such as ``No design of 512 meets 0.1 mm²; the smallest has 0.34 mm²``."""
    unit = OBJECTIVES[name]
    word = "smallest" if name == "area" else "least"
    return (
        f"No design of {len(designs):,} meets {engineering(most, unit)} ({name}); "
        f"the {word} has {engineering(least, unit)}"
    )
