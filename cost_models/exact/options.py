"""The options of the exact model, which the simulator shares, and what follows from them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from common import suggest
from cost_models.accelerator import Accelerator
from cost_models.bounds import EXACT_LAWS, energy_bound
from cost_models.energy import EnergyError, load_energy
from cost_models.exact.figures import Setting
from cost_models.exact.limits import explain
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.model import CostModelError, ModelCapabilities, Symmetry
from cost_models.physical import EnergyTable
from layers import Layer

HALO_TIMES = ("retain", "slide", "none")
"""What is not fetched again, from most to least."""


class ExactOptions:
    """Options of a model that counts an execution of the loop nest.

    Args:
        halo_time: ``"retain"``: a buffer keeps what it holds, and only what it lacks of its next
            tile is fetched; ``"slide"``: input elements that are still held when the window moves
            on along Y or X alone are not fetched again; ``"none"``: every tile is fetched in full.
        halo_space: ``"union"``: an element that several PEs share is read from L2 once;
            ``"tile"``: every distinct tile is read in full.
        latency: ``"stepwise"``: the sum over steps of the slowest of compute and traffic;
            ``"bound"``: the slowest of their totals, a true lower bound of it, and faster to find.
        double_buffer: Whether L1 and L2 hold every tile twice.
        energy: ``"maestro"``, ``"eyeriss"`` or a YAML file; see
            :func:`cost_models.energy.load_energy`.

    Raises:
        CostModelError: An option has a value it does not take.
    """

    name = "exact"
    capabilities = ModelCapabilities(Symmetry.NEST, EXACT_LAWS)

    def __init__(
        self,
        halo_time: str = "retain",
        halo_space: str = "union",
        latency: str = "stepwise",
        double_buffer: bool = True,
        energy: str = "maestro",
    ) -> None:
        self.halo_time = _chosen("halo_time", halo_time, HALO_TIMES)
        self.halo_space = _chosen("halo_space", halo_space, ("union", "tile"))
        self.latency = _chosen("latency", latency, ("stepwise", "bound"))
        if not isinstance(double_buffer, bool):
            raise CostModelError(f"double_buffer: got {double_buffer!r}, expected true or false")
        self.double_buffer = double_buffer
        self.energy = energy
        try:
            self.energy_table: EnergyTable = load_energy(str(energy))
        except EnergyError as error:
            raise CostModelError(str(error)) from error

    @property
    def options(self) -> dict[str, Any]:
        """Every option by name, as :func:`cost_models.load` takes them."""
        names = list(inspect.signature(ExactOptions.__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(halo_time={self.halo_time!r}, "
            f"halo_space={self.halo_space!r}, latency={self.latency!r}, "
            f"double_buffer={self.double_buffer}, energy={self.energy!r})"
        )

    @property
    def buffers(self) -> int:
        """Copies of each tile that a buffer holds."""
        return 2 if self.double_buffer else 1

    def lower_bounds(self, layer: Layer, accelerator: Accelerator) -> dict[str, float]:
        """Energy that no mapping of a layer can beat under this model's table, by figure [nJ]."""
        bound = energy_bound(layer, self.energy_table)
        return {"energy_nj": bound, "energy_total_nj": bound}

    def setting(self, accelerator: Accelerator) -> Setting:
        """What the figures need besides the counts."""
        return Setting(
            accelerator.simd_lanes,
            accelerator.noc_bw,
            self.buffers,
            self.halo_space == "tile",
            self.energy_table,
        )

    def why(
        self,
        layer: Layer,
        accelerator: Accelerator,
        tiles: Sequence[Sequence[int]],
        outer_dim: int,
        cluster_size: int,
        num_pes: int,
        code: ReasonCode,
    ) -> Infeasible:
        """The report of a broken limit; arguments as :func:`~cost_models.exact.limits.explain`."""
        outer = tuple(min(t, n) for t, n in zip(tiles[0], layer.extents, strict=True))
        inner = tuple(min(t, n) for t, n in zip(tiles[1], outer, strict=True))
        return explain(
            code, layer, accelerator, (outer, inner), outer_dim, cluster_size, num_pes, self.buffers
        )


def _chosen(option: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        hint = suggest(str(value), choices)
        raise CostModelError(
            f"{option}: got {value!r}, expected one of {', '.join(choices)}.{hint}"
        )
    return str(value)
