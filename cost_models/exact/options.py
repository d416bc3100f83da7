"""The options of the exact model, which the simulator shares, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from math import inf
from typing import Any

from cost_models.accelerator import Accelerator
from cost_models.buffers import Flags
from cost_models.chain.chip import Chain
from cost_models.chain.entries import ChainMapping
from cost_models.chain.level_floors import chain_floors
from cost_models.chain.lowered import nest_of
from cost_models.cost_model import CostModelError, ModelCapabilities, RetiredOptionError, Symmetry
from cost_models.energy_tables import CACTI, MAESTRO_DOUBTS, EnergyError, load_energy
from cost_models.exact.figures import AREAS, PROVISIONED_AREA, Setting
from cost_models.exact.floors import figure_floors
from cost_models.exact.limits import explain
from cost_models.exact.nest import Nest, Rules, windows_of
from cost_models.infeasible import Infeasible, ReasonCode
from cost_models.laws import EXACT_LAWS
from cost_models.mapping import Mapping
from cost_models.technology.parts import TechnologyError
from layers import TENSORS, Layer
from marl_common import suggest

HALO_TIMES = ("retain", "none")
"""What is not fetched again, from most to least."""
_CHOICES: dict[str, Any] = {
    "halo_time": HALO_TIMES,
    "halo_space": ("union", "tile"),
    "latency": ("stepwise", "bound"),
    "double_buffer": (True, False),
    "area": AREAS,
    "padding": ("counted", "free"),
    "window": ("touched", "box"),
}
LATER: dict[str, Any] = {"resident": "", "cycle_nj": 0.0}
"""Options that came after others were recorded, with the values that change nothing."""
_DOUBTS = {
    "area_um2": "it is that of the chip that is built, which a mapping changes by its number of "
    "PEs alone: search for it with num_pes chosen, under a latency limit",
    "power_mw": "it is energy over time, so that the slowest mapping has the least: search for it "
    "under a latency limit",
}


@dataclass(eq=False)
class ExactOptions:
    """Options of a model that counts an execution of the loop nest.

    Args:
        halo_time: ``"retain"``: a buffer keeps what it holds, and only what it lacks of its next
            tile is fetched; ``"none"``: every tile that moved is fetched in full.
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
        padding: ``"counted"``: padding is made of elements like any other; ``"free"``: it counts as
            no traffic and takes no time to move (where the layer says how much there is), while
            buffers have room for whole windows all the same.
        window: ``"touched"``: an input tile is the rows and columns that it touches; ``"box"``:
            those between them too, which a stride or a dilation skips.
        resident: Tensors that are whole in L2 (of a list of levels: in the first one inside DRAM)
            before the layer begins and after it ends, such as ``"input+output"``: nothing of them
            crosses DRAM's boundary, and their tiles take no room there (the tensors themselves do,
            see ``max_l2_bytes``).
        cycle_nj: What each cycle costs besides [nJ]: the price of time, where energy is searched.

    Raises:
        CostModelError: An option has a value it does not take.
    """

    halo_time: str = "retain"
    halo_space: str = "union"
    latency: str = "stepwise"
    double_buffer: bool = True
    energy: str = CACTI
    area: str = PROVISIONED_AREA
    padding: str = "counted"
    window: str = "touched"
    resident: str = ""
    cycle_nj: float = 0.0

    name = "exact"

    def __post_init__(self) -> None:
        if self.halo_time == "slide":
            raise RetiredOptionError(
                "halo_time=slide", "0.3", "retain (holds at least as much) or none"
            )
        for option, choices in _CHOICES.items():
            value = getattr(self, option)
            if choices == (True, False) and not isinstance(value, bool):
                raise CostModelError(f"{option}: got {value!r}, expected true or false")
            if value not in choices:
                raise CostModelError(
                    f"{option}: got {value!r}, expected one of {', '.join(choices)}."
                    f"{suggest(str(value), choices)}"
                )
        self.residents = _residents(self.resident)
        price = self.cycle_nj
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < inf:
            raise CostModelError(f"cycle_nj: got {price!r}, expected an energy of at least 0 [nJ]")
        try:
            self.energy_table = load_energy(str(self.energy))
        except EnergyError as error:
            raise CostModelError(str(error)) from error

    @property
    def options(self) -> dict[str, Any]:
        """All options as plain values, as records of a search keep them.

        Defaults are included, but for those of `LATER`: records from before they came still hold.
        """
        given = {option.name: getattr(self, option.name) for option in fields(self)}
        return {name: value for name, value in given.items() if LATER.get(name) != value}

    @property
    def rules(self) -> Rules:
        """How traffic and time are counted."""
        return Rules(
            self.halo_time == "retain", self.halo_space == "tile", self.latency == "stepwise"
        )

    def nest(self, layer: Layer, chip: Chain, mapping: ChainMapping) -> Nest:
        """The loop nest of a mapping under these options.

        Raises:
            MappingError: It is no mapping of the chip.
            CostModelError: A tensor is resident that the outermost level does not hold.
        """
        home = chip.levels[1]
        for tensor, held, here in zip(TENSORS, home.holds, self.residents, strict=True):
            if here and not held:
                raise CostModelError(f"resident: {home.name} of this chip does not hold {tensor}")
        windows = windows_of(layer, self.window == "box", self.is_free(layer))
        nest = nest_of(
            layer, chip, mapping, self.rules, windows=windows, doubled=self.double_buffer
        )
        return replace(nest, resident=self.residents) if any(self.residents) else nest

    def is_free(self, layer: Layer) -> bool:
        """Whether a layer has padding that is no traffic."""
        return self.padding == "free" and any(layer.padding)

    def is_plain(self, layer: Layer, accelerator: Accelerator) -> bool:
        """Whether elements of one size, each tensor in every level, are all there is to count."""
        strided = (layer.stride_y, layer.stride_x) != (1, 1)
        box = self.window == "box" and (strided or layer.dilation_y * layer.dilation_x > 1)
        return not self.is_free(layer) and not box and accelerator.is_plain(self.double_buffer)

    @property
    def capabilities(self) -> ModelCapabilities:
        """What the model says of itself under these options."""
        provisioned = self.area == PROVISIONED_AREA
        return ModelCapabilities(
            Symmetry.NEST,
            EXACT_LAWS,
            mapping_fields=frozenset({"parallel2", "units", "bypass"}),
            repeated="",
            any_depth=True,
            needs={"area_um2": ("L2", "L1")} if provisioned else {},
            doubts=_DOUBTS if provisioned else MAESTRO_DOUBTS,
        )

    def lower_bounds(
        self, layer: Layer, accelerator: Accelerator | Chain, bypass: bool = False
    ) -> dict[str, float]:
        """What no mapping of a layer can beat under this model's prices, by figure.

        Args:
            layer: The layer.
            accelerator: The chip.
            bypass: Whether mappings may have tensors bypass a level.

        Raises:
            CostModelError: The prices do not reach the chip's node.
        """
        free = self.padding == "free"
        if isinstance(accelerator, Chain):
            return chain_floors(layer, accelerator, bypass, free, self.residents)
        return figure_floors(layer, self.setting(accelerator), bypass, free, self.residents)

    def setting(self, accelerator: Accelerator) -> Setting:
        """What the figures need besides the counts.

        Raises:
            CostModelError: The prices do not reach the chip's node.
        """
        try:
            tile, buffers = self.halo_space == "tile", 1 + self.double_buffer
            table, price = self.energy_table, float(self.cycle_nj)
            return _setting(accelerator, buffers, tile, table, self.area, price)
        except TechnologyError as error:
            raise CostModelError(f"cost model {self.name!r}: {error}") from None

    def why(
        self, layer: Layer, accelerator: Accelerator, mapping: Mapping, code: ReasonCode
    ) -> Infeasible:
        """The report of a limit that a mapping breaks; it is written when somebody reads it."""
        return Infeasible.when_asked(code, lambda: explain(self, code, layer, accelerator, mapping))


def _residents(text: str) -> Flags:
    """Which tensors an option such as ``"input+output"`` names."""
    names = text.split("+") if isinstance(text, str) and text else []
    if text != "+".join(names) or set(names) - set(TENSORS) or len(set(names)) < len(names):
        raise CostModelError(
            f"resident: got {text!r}, expected some of {', '.join(TENSORS)}, joined by +"
        )
    a, b, c = (tensor in names for tensor in TENSORS)
    return a, b, c


_setting = lru_cache(maxsize=4096)(Setting)
"""A setting works out a chip's prices once; sweeps ask for it layer by layer."""
