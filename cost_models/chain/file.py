"""The file of a chip of any depth: its fields as pydantic models, reading, and writing back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from cost_models.accelerator import AcceleratorError
from cost_models.accelerator_file import (
    PORT,
    Bits,
    DramFields,
    FileSection,
    L1Fields,
    Limit,
    Mac,
    Network,
    Switch,
    Whole,
    chip_fields,
    chip_values,
    level_fields,
    mac_fields,
    memory_values,
    wires_fields,
)
from cost_models.buffers import Wires
from cost_models.chain.chip import MOST_AXES, Axis, Chain, ChainLevel, Fanout
from layers import DIMS
from marl_common import NotNegative, Positive, expected, read_fields

Flag = Annotated[bool, Field(strict=True)]
Switches = Annotated[
    Flag | list[Flag], expected("true or false, or a list of them, one for each axis")
]


class FanoutFields(FileSection):
    """How many units of the next level one instance of this one feeds."""

    units: Whole | None = Field(None, description="units, along one axis")
    axes: list[Whole] | None = Field(None, description="units along each axis, instead of units")
    dims: Annotated[
        str | list[str], expected(f"dimensions out of {DIMS}, or a list of them, one for each axis")
    ] = Field(DIMS, description="dimensions that a mapping may spread, of all axes or of each")
    multicast: Switches = Field(True, description="whether units that want an element share a read")
    reduce: Switches = Field(True, description="whether sums of units are added on their way out")
    network: Network = Network()


class ListedLevel(L1Fields):
    """A level inside DRAM; one with `holds: []` is a fan-out alone."""

    name: str = Field(description="what the level is called")
    read_bw: Limit = Field(None, description="from one instance to all below it [bits/cycle]")
    write_bw: Limit = Field(None, description="from all below it to one instance [bits/cycle]")
    shared_bw: Switch = Field(False, description="whether both directions share read_bw")
    port_um2_per_bit: NotNegative = PORT
    fanout: FanoutFields | None = Field(None, description="units that one instance feeds")


class ListedDram(DramFields):
    """DRAM, the first level: it holds everything."""

    name: Literal["DRAM"]
    shared_bw: Switch = Field(False, description="whether both directions share read_bw")


class AnyLanes(FileSection):
    """MACs of an instance of the last level that take any work."""

    units: Whole = Field(description="MACs, each with operands of its own")
    any: Annotated[Literal[True], expected("true; lanes that dimensions bind are a fanout")] = True


class LanesFields(FileSection):
    """The last entry of a list whose MACs take any work."""

    lanes: AnyLanes


class ChainFields(FileSection):
    """An accelerator of any depth: a list of levels from DRAM inwards."""

    name: str = Field("", description="what the chip is called")
    node_nm: Positive | None = Field(None, description="technology node [nm]")
    clock_mhz: Positive | None = Field(None, description="clock [MHz]")
    bits: Bits = Bits()
    levels: list[Any] = Field(description="the levels from DRAM inwards, a name each")
    mac: Mac = Mac()
    sources: dict[str, str] = Field({}, description="where each field's figure comes from")
    notes: str = Field("", description="what a reader should know")


class ChainFile(ChainFields):
    """The same with the levels' fields, for the schema: reading names a level's faults itself."""

    levels: list[ListedDram | ListedLevel | LanesFields]


_SHORT = ("num_pes", "l1_bytes", "l2_bytes", "noc_bw", "offchip_bw", "simd_lanes", "array")


def from_fields(data: Any, where: str) -> Chain:
    """The chip that fields describe; as :meth:`Chain.from_dict`."""
    if isinstance(data, Mapping):
        both = [name for name in _SHORT if name in data]
        if both:
            raise AcceleratorError(
                f"{where}: {both[0]} beside a list of levels, which says all of it (fan-outs give "
                "the units, levels the capacities and bandwidths); leave it out"
            )
    given = read_fields(ChainFields, data, where, AcceleratorError)
    try:
        return Chain(_levels(given.levels, where), **chip_values(given))
    except AcceleratorError as error:
        text = str(error).removeprefix("accelerator.").removeprefix(f"{where}: ")
        raise AcceleratorError(f"{where}: {text}") from None


def _levels(entries: list[Any], where: str) -> tuple[ChainLevel, ...]:
    found: list[ChainLevel] = []
    for place, entry in enumerate(entries):
        named = isinstance(entry, Mapping) and str(entry.get("name", ""))[:32]
        path = f"{where}: levels.{named}" if named else f"{where}: levels[{place}]"
        if isinstance(entry, Mapping) and "lanes" in entry:
            lanes = read_fields(LanesFields, entry, path, AcceleratorError).lanes
            if place != len(entries) - 1 or not found or found[-1].fanout.axes:
                raise AcceleratorError(
                    f"{path}: lanes end the list, below a level without a fanout; put them last"
                )
            found[-1] = replace(found[-1], fanout=Fanout((Axis(lanes.units),), any=True))
        elif isinstance(entry, Mapping) and entry.get("name") == "DRAM":
            dram = read_fields(ListedDram, entry, path, AcceleratorError)
            found.append(ChainLevel(**memory_values(dram), name="DRAM", shared_bw=dram.shared_bw))
        else:
            found.append(_level(read_fields(ListedLevel, entry, path, AcceleratorError), path))
    return tuple(found)


def _level(given: ListedLevel, path: str) -> ChainLevel:
    shared = given.bytes if isinstance(given.bytes, int) else getattr(given.bytes, "shared", None)
    return ChainLevel(
        **memory_values(given),
        name=given.name,
        shared_bytes=shared,
        shared_bw=given.shared_bw,
        fanout=Fanout() if given.fanout is None else _fanout(given.fanout, f"{path}.fanout"),
        network=Wires() if given.fanout is None else Wires(**given.fanout.network.model_dump()),
    )


def _fanout(given: FanoutFields, path: str) -> Fanout:
    if (given.units is None) == (given.axes is None):
        raise AcceleratorError(f"{path}: expected either units, or axes with the units of each")
    units = [given.units] if given.axes is None else given.axes
    if not 1 <= len(units) <= MOST_AXES:
        raise AcceleratorError(f"{path}.axes: got {len(units)} axes, expected 1 to {MOST_AXES}")
    flags = {
        name: _each(getattr(given, name), len(units), f"{path}.{name}")
        for name in ("dims", "multicast", "reduce")
    }
    axes = tuple(
        Axis(count or 1, *rest) for count, *rest in zip(units, *flags.values(), strict=True)
    )
    return Fanout(axes)


def _each(value: Any, axes: int, path: str) -> list[Any]:
    if not isinstance(value, list):
        return [value] * axes
    if len(value) != axes:
        raise AcceleratorError(f"{path}: got {len(value)} entries, expected {axes}, one an axis")
    return value


def to_fields(chip: Chain) -> dict[str, Any]:
    """The fields of a chip's file; ``from_fields`` of them gives the same chip."""
    levels: list[dict[str, Any]] = [_level_dict(level) for level in chip.levels]
    if chip.levels[-1].fanout.any:
        del levels[-1]["fanout"]
        levels.append({"lanes": {"units": chip.lanes, "any": True}})
    return chip_fields(chip, {}) | {"levels": levels} | mac_fields(chip)


def _level_dict(level: ChainLevel) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": level.name} | level_fields(level, level.shared_bytes)
    if level.shared_bytes is not None:
        fields.setdefault("bytes", level.shared_bytes)
    if level.shared_bw:
        fields["shared_bw"] = True
    if level.fanout.axes:
        fields["fanout"] = _fanout_dict(level.fanout)
        if network := wires_fields(level.network):
            fields["fanout"]["network"] = network
    return fields


def _fanout_dict(fanout: Fanout) -> dict[str, Any]:
    fields: dict[str, Any] = {"axes": [axis.units for axis in fanout.axes]}
    if len(fanout.axes) == 1:
        fields = {"units": fanout.axes[0].units}
    for name in ("dims", "multicast", "reduce"):
        values = [getattr(axis, name) for axis in fanout.axes]
        if any(value != Axis._field_defaults[name] for value in values):
            fields[name] = values[0] if len(set(values)) == 1 else values
    return fields
