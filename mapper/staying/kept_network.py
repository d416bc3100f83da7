"""A network searched with tensors that may stay, by proofs that a store keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cost_models import Accelerator, Chain
from layers import NetworkGraph, to_fields
from mapper.staying.filter_sets import RepeatedProblem
from mapper.staying.network_optimum import NetworkProblem
from mapper.staying.network_result import FusedStep, NetworkResult, NodeResult
from mapper.staying.rooms import TensorRoom, can_stay, home_of
from mapper.staying.shape_facts import ENERGY, LATENCY
from mapper.staying.stay_proof import StayProof, StaySetting
from marl_runs import Reporter, Store, run_all

OBJECTIVES = {"latency": LATENCY, "energy": ENERGY, "edp": None}
"""Objectives of a network, and what is summed; the product of two sums for the last."""
USUAL_GAP = 0.01


class KeepError(ValueError):
    """A network, a chip or an option with which no tensor can stay."""


@dataclass(frozen=True)
class KeptNetwork:
    """A network's best schedule beside the best one with all tensors in DRAM.

    Args:
        network: Its name.
        graph: The network.
        objective: Of `OBJECTIVES`.
        setting: The chip, and options of model and space.
        rooms: What may stay.
        keep: With tensors that stay.
        none: With all of them in DRAM.
        tiles: With layers that are fused besides; None where that was not asked for.
        inputs: How often the network runs; all figures are a run's mean.
        counted: Whether nodes without MACs cost what they move.
        unfused: Why no layers are fused, in a line; empty where some are, or may not be.
    """

    network: str
    graph: NetworkGraph
    objective: str
    setting: StaySetting
    rooms: tuple[TensorRoom, ...]
    keep: NetworkResult
    none: NetworkResult
    tiles: NetworkResult | None = None
    inputs: int = 1
    counted: bool = False
    unfused: str = ""

    @property
    def chip(self) -> Accelerator | Chain:
        """The chip."""
        return self.setting.chip

    @property
    def best(self) -> NetworkResult:
        """The schedule with all that was allowed."""
        return self.keep if self.tiles is None else self.tiles

    @property
    def staying(self) -> tuple[TensorRoom, ...]:
        """What stays."""
        names = {name for step in self.best.steps for name in step.stays}
        return tuple(room for room in self.rooms if room.tensors[0] in names)

    @property
    def note(self) -> str:
        """What the chip says of the answer, in a line; empty where that is nothing."""
        if any(step.fused for step in self.best.steps):
            return ""
        return "; ".join(line for line in (self._stay_note, self.unfused) if line)

    @property
    def _stay_note(self) -> str:
        home = home_of(self.chip)
        if not self.rooms:
            return "nothing can stay: " + (
                f"no tensor that a later node reads is small enough for {home.name} and not wanted "
                "in DRAM"
                if can_stay(home)
                else f"{home.name} does not hold all tensors in one capacity"
            )
        if home.capacity_bits is None:
            return (
                f"{home.name} has no capacity: every tensor may stay, and an access is priced at "
                "what the tiles alone take"
            )
        return "" if self.staying else "nothing stays: there is no more to gain than the gap"

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: totals of both, what stays, and every node."""
        return {
            "network": self.network,
            "objective": self.objective,
            "accelerator": self.chip.to_dict(),
            "cost_model_options": dict(self.setting.options),
            "passes": "counted" if self.counted else "free",
            **({} if self.inputs == 1 else {"inputs": self.inputs}),
            "keep": self.keep.totals(),
            "none": self.none.totals(),
            **({} if self.tiles is None else {"tiles": self.tiles.totals()}),
            "note": self.note,
            "stays": [
                {"tensors": list(room.tensors), "from": room.first, "to": room.last,
                 "bytes": room.bits / 8}
                for room in self.staying
            ],
            "nodes": [_step(step) for step in self.best.steps],
        }  # fmt: skip


def _step(step: NodeResult) -> dict[str, Any]:
    mapping = step.known.mapping if step.known else None
    return {
        "node": step.node.name,
        "kind": str(step.node.kind),
        "resident": sorted(step.resident),
        "taken_bytes": step.taken,
        "latency_cycles": step.latency,
        "energy_nj": step.energy,
        "dram_bytes": step.dram,
        "mapping": None if mapping is None else mapping.to_dict(),
        **({} if step.fused is None else {"fused": _fused(step.fused)}),
    }


def _fused(step: FusedStep) -> dict[str, Any]:
    """How a layer is fused; its own mapping above is that of its first part."""
    return {
        "group": step.group,
        "tile": list(step.tile),
        "tiles": step.tiles,
        **({"keys": step.keys} if step.keys else {}),
        "halo": list(step.halo),
        "filter_stays": step.filter_stays,
        "parts": [
            {
                "layer": to_fields(part.layer.renamed("")),
                "count": part.times,
                "mapping": None if known.mapping is None else known.mapping.to_dict(),
            }
            for part, known in step.parts
        ],
    }


def check_space(space: Mapping[str, Any]) -> None:
    """Refuse a space in which a mapping may have no equal where a tensor is in L2.

    Raises:
        KeepError: It has mappings that let tensors bypass L2, or that hold it in parts, or that
            spread several dimensions over an axis.
    """
    for option in ("full", "uneven"):
        if space.get(option):
            raise KeepError(
                f"--fuse: in a space that is {option} tensors bypass L2, or parts of it; "
                f"expected a space without {option}"
            )
    if "axis_dims" in space:
        raise KeepError("--fuse: one dimension an axis alone; leave axis_dims out of the space")


def check_inputs(chip: Accelerator | Chain, inputs: int, option: str) -> None:
    """Refuse runs in which filters cannot stay.

    Raises:
        KeepError: It is less than one run; or there are more, and layers may be fused or the chip
            is a list of levels.
    """
    if inputs < 1:
        raise KeepError(f"--inputs: got {inputs}, expected runs of the network, at least 1")
    if inputs > 1 and option != "--fuse keep":
        raise KeepError(f"--inputs {inputs}: filters stay with --fuse keep, not with {option}")
    if inputs > 1 and isinstance(chip, Chain):
        raise KeepError(
            f"--inputs {inputs}: expected a chip of two levels, L2 and L1, but the accelerator is "
            "a list of levels"
        )


def check_keep(
    chip: Accelerator | Chain,
    cost_model: str,
    options: Mapping[str, Any],
    objective: str,
    option: str = "--fuse keep",
) -> Accelerator | Chain:
    """The chip, if tensors can stay on it.

    Raises:
        KeepError: The model is not `exact`, an option of it says what is found here, or the
            objective is none of a network's.
    """
    if cost_model != "exact":
        raise KeepError(
            f"{option}: cost model {cost_model!r} does not price what moves between layers, "
            "expected exact"
        )
    for name in ("resident", "cycle_nj"):
        if name in options:
            raise KeepError(
                f"{option}: the cost model's option {name} is of a layer by itself, expected none; "
                "leave it out"
            )
    if objective not in OBJECTIVES:
        raise KeepError(
            f"{option}: got the objective {objective!r}, expected one of "
            f"{', '.join(OBJECTIVES)}, which are sums of layers or a product of sums"
        )
    return chip


def keep_network(
    name: str,
    problem: NetworkProblem,
    objective: str,
    *,
    fused: type[NetworkProblem] | None = None,
    inputs: int = 1,
) -> KeptNetwork:
    """Search a network with tensors that may stay, and without.

    Args:
        name: What it is called.
        problem: The network on its chip, and the gap at which to stop.
        objective: Of `OBJECTIVES`.
        fused: The problem with layers that may be fused besides, if that is asked for.
        inputs: How often the network runs, in which filters may stay on a chip of two levels.

    Raises:
        KeepError: Layers may be fused, and L2 has no capacity.
        UnmappableError: A layer has no mapping.
        NetworkStoppedError: Proofs were stopped.
    """
    home = home_of(problem.setting.chip)
    if fused is not None and can_stay(home) and home.capacity_bits is None:
        raise KeepError(
            f"--fuse tiles: {home.name} has no capacity, so that every tensor may stay whole; "
            "expected --fuse keep"
        )
    terms = problem.graph, problem.setting, problem.run, problem.counted, problem.gap
    if inputs > 1:
        problem = RepeatedProblem(*terms, inputs=inputs)
    weights = OBJECTIVES[objective]

    def best(problem: NetworkProblem, stay: bool = True) -> NetworkResult:
        return problem.product(stay) if weights is None else problem.sum(weights, stay)

    none = best(problem, stay=False)
    keep = best(problem) if problem.rooms else none
    fusing = fused(*terms, problem.facts) if fused else None
    tiles = best(fusing) if fusing else None
    if tiles is not None and keep.value <= tiles.value:  # within the gap of both
        tiles = replace(keep, bound=min(keep.value, tiles.bound), prices=tiles.prices)
    return KeptNetwork(
        name, problem.graph, objective, problem.setting, problem.rooms, keep, none, tiles, inputs,
        problem.counted, fusing.why_alone if fusing else "",
    )  # fmt: skip


def stored_proofs(
    store: Store, workers: int, reporter: Reporter | None
) -> Callable[[Sequence[StayProof]], Sequence[Any]]:
    """Proofs by a store, which keeps them; None for those that were stopped.

    Args:
        store: The store.
        workers: Processes; few proofs are done in this one.
        reporter: See :func:`marl_runs.run_all`.
    """

    def run(proofs: Sequence[StayProof]) -> Sequence[Any]:
        outcome = run_all(
            proofs, store, workers=workers if len(proofs) > workers else 1, reporter=reporter
        )
        results = []
        for proof in proofs:
            stored = store.runs(key=proof.identity().key)
            if stored and stored[0].standing == "failed":
                error = (stored[0].error or "failed").partition("\n")[0]
                raise KeepError(f"{proof.name}: {error}")
            done = stored and stored[0].standing == "finished" and stored[0].result
            results.append(stored[0].result if done else None)
        if outcome.stopped:
            return [None] * len(proofs)
        return results

    return run
