"""The options of the exact model, which the simulator shares, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from common import suggest
from cost_models.accelerator import Accelerator
from cost_models.bounds import EXACT_LAWS
from cost_models.cost_model import CostModelError, ModelCapabilities, Symmetry
from cost_models.energy_tables import CACTI, EnergyError, load_energy
from cost_models.exact.figures import AREAS, MAESTRO_AREA, PROVISIONED_AREA, Setting
from cost_models.exact.floors import figure_floors
from cost_models.exact.limits import explain
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.physical import MAESTRO_DOUBTS, EnergyTable
from cost_models.technology import TechnologyError
from layers import Layer

HALO_TIMES = ("retain", "slide", "none")
"""What is not fetched again, from most to least."""
OPTIONS = ("halo_time", "halo_space", "latency", "double_buffer", "energy", "area")
"""Names of the options that change figures."""
_DOUBTS = {
    "area_um2": "it is that of the chip that is built, which a mapping changes by its number of "
    "PEs alone: search for it with num_pes chosen, under a latency limit",
    "power_mw": "it is energy over time, so that the slowest mapping has the least: search for it "
    "under a latency limit",
}


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
        energy: ``"cacti"``: the energies of the chip that is built, by capacity, width and node;
            or a table of one price a level: ``"maestro"``, ``"eyeriss"`` or a YAML file, see
            :func:`cost_models.energy_tables.load_energy`.
        area: ``"provisioned"``: PEs and buffers of the chip that is built, and power as energy over
            time; ``"maestro"``: MAESTRO's formulas for both, at the mapping's buffer sizes.

    Raises:
        CostModelError: An option has a value it does not take.
    """

    name = "exact"

    def __init__(
        self,
        halo_time: str = "retain",
        halo_space: str = "union",
        latency: str = "stepwise",
        double_buffer: bool = True,
        energy: str = CACTI,
        area: str = PROVISIONED_AREA,
    ) -> None:
        self.halo_time = _chosen("halo_time", halo_time, HALO_TIMES)
        self.halo_space = _chosen("halo_space", halo_space, ("union", "tile"))
        self.latency = _chosen("latency", latency, ("stepwise", "bound"))
        if not isinstance(double_buffer, bool):
            raise CostModelError(f"double_buffer: got {double_buffer!r}, expected true or false")
        self.double_buffer = double_buffer
        self.energy = energy
        try:
            self.energy_table: EnergyTable | None = load_energy(str(energy))
        except EnergyError as error:
            raise CostModelError(str(error)) from error
        self.area = _chosen("area", area, AREAS)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"

    @property
    def options(self) -> dict[str, Any]:
        """All options as plain values, defaults included, as records of a search keep them."""
        return {name: getattr(self, name) for name in OPTIONS}

    @property
    def buffers(self) -> int:
        """Copies of each tile that a buffer holds."""
        return 2 if self.double_buffer else 1

    def hardware(self, accelerator: Accelerator) -> Accelerator:
        """What the counts are made for: elements, of capacities and bandwidths that all share."""
        return accelerator.in_elements(self.double_buffer)

    @property
    def capabilities(self) -> ModelCapabilities:
        """What the model says of itself under these options."""
        if self.area == MAESTRO_AREA:
            return ModelCapabilities(Symmetry.NEST, EXACT_LAWS, repeated="", doubts=MAESTRO_DOUBTS)
        return ModelCapabilities(
            Symmetry.NEST,
            EXACT_LAWS,
            repeated="",
            needs={"area_um2": ("L2", "L1")},
            doubts=_DOUBTS,
        )

    def lower_bounds(self, layer: Layer, accelerator: Accelerator) -> dict[str, float]:
        """What no mapping of a layer can beat under this model's prices, by figure.

        Raises:
            CostModelError: The prices do not reach the chip's node.
        """
        return figure_floors(layer, self.setting(accelerator))

    def setting(self, accelerator: Accelerator) -> Setting:
        """What the figures need besides the counts.

        Raises:
            CostModelError: The prices do not reach the chip's node.
        """
        setting = Setting(
            accelerator, self.buffers, self.halo_space == "tile", self.energy_table, self.area
        )
        try:
            setting.check()
        except TechnologyError as error:
            raise CostModelError(f"cost model {self.name!r}: {error}") from None
        return setting

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
        chip = self.hardware(accelerator)
        return explain(
            code, layer, chip, (outer, inner), outer_dim, cluster_size, num_pes, self.buffers
        )


def _chosen(option: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        hint = suggest(str(value), choices)
        raise CostModelError(
            f"{option}: got {value!r}, expected one of {', '.join(choices)}.{hint}"
        )
    return str(value)
