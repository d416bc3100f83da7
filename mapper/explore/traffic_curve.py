"""The least DRAM traffic of a network over the capacity of L2: what no mapping is below.

Traffic depends on what L2 holds and on the order of its tiles. So the chip of the curve has one PE,
whose L1 has no capacity, and its only price is 1 nJ a byte over DRAM's boundary: the least energy
of a network is its least traffic, and is proven as any other energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cost_models import Accelerator, Chain
from layers import NetworkGraph
from mapper.explore.design_ranges import ExploreError
from mapper.fusing.fused_network import FusedProblem
from mapper.staying.kept_network import keep_network
from mapper.staying.network_optimum import NetworkProblem, RunProofs
from mapper.staying.network_result import NetworkResult, UnmappableError
from mapper.staying.stay_proof import StaySetting
from marl_runs import colour, new_figure, save_figure

BYTE_PJ = 1000.0
"""Price of a byte, of which the sum is in nJ."""
OPTIONS, SPACE = {"double_buffer": False}, {"filters": "free", "levels": 1}
"""L2 holds no tile twice; all tiles of L2 and all their orders."""
SCHEDULES = {"none": "all in DRAM", "keep": "tensors stay", "tiles": "layers fused"}
SIZE_IN = (6.4, 4.4)


@dataclass(frozen=True)
class CurvePoint:
    """The least traffic at a capacity.

    Args:
        capacity: Bytes of L2.
        least: Of each of `SCHEDULES`, the schedule of least traffic and its bound [B]; none where a
            layer has no mapping.
    """

    capacity: int
    least: dict[str, NetworkResult]

    def row(self) -> dict[str, Any]:
        """As a row: bytes that are reached, and what none is below."""
        found: dict[str, Any] = {"l2_bytes": self.capacity}
        for name in SCHEDULES:
            one = self.least.get(name)
            found[f"{name}_bytes"] = None if one is None else round(one.value)
            found[f"{name}_bound_bytes"] = None if one is None else one.bound
        return found


def bounding_chip(chip: Accelerator | Chain, capacity: int) -> Accelerator:
    """The chip whose energy is the traffic of any chip with as much L2 and elements as wide.

    Raises:
        ExploreError: The chip is a list of levels.
    """
    if isinstance(chip, Chain):
        raise ExploreError(
            "--bound: expected a chip of two levels, L2 and L1, but the accelerator is a list of "
            "levels"
        )
    free = {"read_pj": 0.0, "write_pj": 0.0, "leakage_uw": 0.0}
    return Accelerator.from_dict(
        {
            "num_pes": 1,
            "bits": dict(chip.widths._asdict()),
            "levels": {
                "DRAM": {"read_pj": BYTE_PJ, "write_pj": BYTE_PJ},
                "L2": {"bytes": capacity, **free},
                "L1": dict(free),
            },
            "mac": {"pj": 0.0},
        }
    )


def traffic_curve(
    graph: NetworkGraph,
    chip: Accelerator | Chain,
    capacities: Sequence[int],
    run: RunProofs,
    gap: float,
) -> list[CurvePoint]:
    """The least traffic at each capacity.

    Args:
        graph: The network.
        chip: Its bits are those of the elements; nothing else of it matters.
        capacities: Bytes of L2.
        run: Does proofs.
        gap: Stop where a schedule is at most this share above its bound.

    Raises:
        ExploreError: See :func:`bounding_chip`.
        NetworkStoppedError: Proofs were stopped.
    """
    points = []
    for capacity in capacities:
        setting = StaySetting(bounding_chip(chip, capacity), OPTIONS, SPACE)
        least = {}
        try:
            problem = NetworkProblem(graph, setting, run, gap=gap)
            found = keep_network("", problem, "energy", fused=FusedProblem)
            least = {name: getattr(found, name) for name in SCHEDULES}
        except UnmappableError:
            pass
        points.append(CurvePoint(capacity, least))
    return points


def draw_curve(path: Path, network: str, points: Sequence[CurvePoint]) -> None:
    """Draw what no mapping is below, and what is reached; whole or not at all."""
    figure = new_figure(*SIZE_IN)
    axis = figure.subplots()
    for number, (name, words) in enumerate(SCHEDULES.items()):
        some = [(point.capacity, point.least[name]) for point in points if name in point.least]
        at = [capacity for capacity, _ in some]
        axis.plot(at, [one.bound for _, one in some], color=colour(number), label=words)
        axis.plot(at, [one.value for _, one in some], ".", color=colour(number))
    axis.set(xscale="log", yscale="log", xlabel="L2 [B]", ylabel="over DRAM [B]")
    axis.set_title(f"{network}: bounds (lines), and what is reached (points)", fontsize=11)
    axis.grid(alpha=0.25, which="both", linewidth=0.5)
    axis.legend(fontsize=9)
    save_figure(figure, path, beside=False)
