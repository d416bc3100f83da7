"""The file of an accelerator: its fields as pydantic models, its schema, reading and writing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter

from cost_models.accelerator import SHORT_FIELDS, UNLIMITED_BW, Accelerator, AcceleratorError
from cost_models.buffers import (
    BYTES,
    DRAM_KINDS,
    LEVELS,
    MAC_KINDS,
    SRAM_KINDS,
    TENSORS,
    Chip,
    Level,
    Widths,
    Wires,
)
from marl_common import HIDDEN, NotNegative, Positive, expected, read_fields

if TYPE_CHECKING:
    from cost_models.chain.file import ChainFields

Whole = Annotated[
    int,
    Field(ge=1, le=UNLIMITED_BW, strict=True),
    expected("a whole number of at least 1, at most 2^30"),
]
LIMIT = "a whole number of at least 1, at most 2^30, or null (unlimited)"
Limit = Annotated[Whole | None, expected(LIMIT)]
Switch = Annotated[bool, Field(strict=True), expected("true or false")]


PLAIN, TENSORWISE = f"{HIDDEN}plain", f"{HIDDEN}tensorwise"


def _form(value: Any) -> str:
    """Whether a value holds for all tensors, or gives one for each."""
    return TENSORWISE if isinstance(value, dict | BaseModel) else PLAIN


def one_of(kinds: tuple[str, ...]) -> Any:
    """One of some texts, or none."""
    return Annotated[Literal[kinds] | None, expected(f"one of {', '.join(kinds)} or null")]


class FileSection(BaseModel):
    """Named fields of a file: others are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Bits(FileSection):
    """Bits of one element of each tensor."""

    input: Whole = Field(8, description="an input's bits")
    filter: Whole = Field(8, description="a weight's bits")
    output: Whole = Field(8, description="a finished output's bits")
    psum: Whole | None = Field(
        None, description="a partial sum's bits, at least those of an output; null: as an output"
    )


class TensorBytes(FileSection):
    """A capacity for each tensor that does not share one [B]."""

    shared: Limit = Field(None, description="bytes that the other tensors share")
    input: Limit = Field(None, description="bytes for inputs alone")
    filter: Limit = Field(None, description="bytes for weights alone")
    output: Limit = Field(None, description="bytes for outputs and partial sums alone")


class Twice(FileSection):
    """Whether each tensor's tile is held twice."""

    input: Switch = True
    filter: Switch = True
    output: Switch = True


Bytes = Annotated[
    Annotated[int | None, Field(ge=1, le=UNLIMITED_BW, strict=True), expected(LIMIT), Tag(PLAIN)]
    | Annotated[TensorBytes, Tag(TENSORWISE)],
    Discriminator(_form),
]
Doubled = Annotated[
    Annotated[Switch, expected("true, false, or one for each tensor"), Tag(PLAIN)]
    | Annotated[Twice, Tag(TENSORWISE)],
    Discriminator(_form),
]
Tensor = Annotated[Literal["input", "filter", "output"], expected(f"one of {', '.join(TENSORS)}")]


class _NotNegatives(FileSection):
    read_pj: NotNegative | None = Field(None, description="energy of reading one byte [pJ]")
    write_pj: NotNegative | None = Field(None, description="energy of writing one byte [pJ]")


PORT = Field(0.0, description="area on the chip for a bit a cycle of its ports [um^2]")


class DramFields(_NotNegatives):
    """DRAM: it holds everything."""

    kind: one_of(DRAM_KINDS) = Field(  # type: ignore[valid-type]
        None, description="kind of DRAM, which prices a byte"
    )
    read_bw: Limit = Field(None, description="DRAM to L2 [bits/cycle]")
    write_bw: Limit = Field(None, description="L2 to DRAM [bits/cycle]")
    port_um2_per_bit: NotNegative = PORT


class L1Fields(_NotNegatives):
    """The buffer of one PE."""

    bytes: Bytes = Field(None, description="capacity [B], shared or by tensor; null: unlimited")
    holds: Annotated[
        tuple[Tensor, ...], expected(f"a list of tensors out of {', '.join(TENSORS)}")
    ] = Field(TENSORS, description="tensors that the level holds; the others pass it by")
    double_buffer: Doubled = Field(
        True, description="whether tiles are held twice (where the cost model double-buffers)"
    )
    kind: one_of(SRAM_KINDS) = Field(  # type: ignore[valid-type]
        None, description="transistors, which price a byte and leak; null: LSTP"
    )
    leakage_uw: NotNegative | None = Field(None, description="leakage of one such buffer [uW]")
    area_um2: NotNegative | None = Field(None, description="area of one such buffer [um^2]")


class Network(FileSection):
    """What it takes to reach the units that a level feeds."""

    pj_per_bit: NotNegative = Field(0.0, description="energy of a bit delivered to a unit [pJ]")
    pj_per_bit_mm: NotNegative = Field(0.0, description="the same for each mm of the way [pJ]")
    um2_per_bit: NotNegative = Field(
        0.0, description="area at each unit for a bit of the level's ports [um^2]"
    )


class L2Fields(L1Fields):
    """The buffer that all PEs share."""

    read_bw: Limit = Field(None, description="L2 to the PEs [bits/cycle]")
    write_bw: Limit = Field(None, description="PEs to L2 [bits/cycle]")
    port_um2_per_bit: NotNegative = PORT
    network: Network = Network()


class LevelFields(FileSection):
    """The memory levels, from the outermost one."""

    DRAM: DramFields = DramFields()
    L2: L2Fields = L2Fields()
    L1: L1Fields = L1Fields()


class Mac(FileSection):
    """One multiply-accumulate unit."""

    kind: one_of(MAC_KINDS) = Field(  # type: ignore[valid-type]
        None, description="rows of the table that price it; null: aladdin"
    )
    pj: NotNegative | None = Field(None, description="energy of one multiply-accumulate [pJ]")
    area_um2: NotNegative | None = Field(None, description="area of the unit [um^2]")


class AcceleratorFields(FileSection):
    """An accelerator: the short form is num_pes to simd_lanes; a field left out is unlimited."""

    name: str = Field("", description="what the chip is called")
    num_pes: Whole | None = Field(
        None, description="the number of PEs; may be left out where array is given"
    )
    array: Annotated[
        tuple[Whole, Whole] | None, expected("two whole numbers, [rows, columns], or null")
    ] = Field(None, description="rows and columns of PEs; their product is num_pes")
    l1_bytes: Limit = Field(None, description="L1 of one PE [B]; short for levels.L1.bytes")
    l2_bytes: Limit = Field(None, description="shared L2 [B]; short for levels.L2.bytes")
    noc_bw: Limit = Field(None, description="L2 to PEs and back, each [B/cycle]")
    offchip_bw: Limit = Field(None, description="DRAM to L2 and back, each [B/cycle]")
    simd_lanes: Whole = Field(1, description="MACs of one PE in a cycle")
    node_nm: Positive | None = Field(None, description="technology node [nm]")
    clock_mhz: Positive | None = Field(None, description="clock [MHz]")
    bits: Bits = Bits()
    levels: LevelFields = LevelFields()
    mac: Mac = Mac()
    sources: dict[str, str] = Field({}, description="where each field's figure comes from")
    notes: str = Field("", description="what a reader should know")


def accelerator_schema() -> dict[str, Any]:
    """JSON Schema of an accelerator's file: of L2 and L1, or with a list of levels."""
    from cost_models.chain.file import ChainFile

    both: TypeAdapter[Any] = TypeAdapter(AcceleratorFields | ChainFile)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | both.json_schema()


def accelerator_template(levels: bool = False) -> str:
    """An accelerator's file with every field, commented, to fill in.

    Args:
        levels: Whether its levels are a list, of any number; else they are L2 and L1.
    """
    name = "chain_template.yaml" if levels else "accelerator_template.yaml"
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def from_fields(data: Any, where: str) -> Accelerator:
    """The accelerator that fields describe; as :meth:`Accelerator.from_dict`."""
    if isinstance(data, Mapping) and isinstance(data.get("levels"), list):
        raise AcceleratorError(
            f"{where}: levels is a list, so that the chip may have any number of them, and this "
            "takes chips of two, L2 and L1; load it with cost_models.load_chip"
        )
    given = read_fields(AcceleratorFields, data, where, AcceleratorError)
    try:
        return _build(given)
    except AcceleratorError as error:
        raise AcceleratorError(f"{where}: {str(error).removeprefix('accelerator.')}") from None


def _build(given: AcceleratorFields) -> Accelerator:
    levels = given.levels
    return Accelerator(
        num_pes=_pes(given),
        l1_bytes=_shared("L1", given.l1_bytes, levels.L1.bytes),
        l2_bytes=_shared("L2", given.l2_bytes, levels.L2.bytes),
        noc_bw=given.noc_bw,
        offchip_bw=given.offchip_bw,
        simd_lanes=given.simd_lanes,
        levels=(
            Level(**memory_values(levels.DRAM)),
            Level(**memory_values(levels.L2), network=Wires(**levels.L2.network.model_dump())),
            Level(**memory_values(levels.L1)),
        ),
        **chip_values(given),
    )


def chip_values(given: AcceleratorFields | ChainFields) -> dict[str, Any]:
    """What a file says of a whole chip, by the names of its fields."""
    bits, mac = given.bits.model_dump(), given.mac
    if bits["psum"] is None:
        bits["psum"] = given.bits.output
    found = {"widths": Widths(**bits), "mac_kind": mac.kind or "", "mac_pj": mac.pj}
    found |= {name: getattr(given, name) for name in ("name", "node_nm", "clock_mhz")}
    return found | {"mac_area_um2": mac.area_um2}


def _pes(given: AcceleratorFields) -> int:
    if given.array is None:
        if given.num_pes is None:
            raise AcceleratorError("num_pes missing; give the number of PEs, or array")
        return given.num_pes
    rows, columns = given.array
    if given.num_pes not in (None, rows * columns):
        raise AcceleratorError(
            f"array: got {rows} x {columns} = {rows * columns} PEs, expected num_pes="
            f"{given.num_pes}: the fan-out does not fit; leave num_pes out or make them equal"
        )
    return rows * columns


def _shared(level: str, short: int | None, long: Any) -> int | None:
    shared: int | None = long.shared if isinstance(long, TensorBytes) else long
    if short is not None and shared is not None:
        raise AcceleratorError(
            f"levels.{level}.bytes: got {shared}, but {level.lower()}_bytes gives {short} already; "
            "expected one of the two; leave one out"
        )
    return short if shared is None else shared


PRICE_FIELDS = (
    *("read_bw", "write_bw", "read_pj", "write_pj", "leakage_uw", "area_um2", "port_um2_per_bit"),
)


def memory_values(given: DramFields | L1Fields) -> dict[str, Any]:
    """What a file says of a level, by the names of :class:`Level`."""
    found: dict[str, Any] = known({name: getattr(given, name, None) for name in PRICE_FIELDS})
    found["kind"] = given.kind or ""
    if isinstance(given, DramFields):
        return found
    twice = given.double_buffer
    if isinstance(given.bytes, TensorBytes):
        found["tensor_bytes"] = tuple(getattr(given.bytes, tensor) for tensor in TENSORS)
    found["holds"] = tuple(tensor in given.holds for tensor in TENSORS)
    found["double_buffer"] = tuple(
        getattr(twice, tensor) if isinstance(twice, Twice) else twice for tensor in TENSORS
    )
    return found


def to_fields(chip: Accelerator) -> dict[str, Any]:
    """The fields of an accelerator's file; ``from_fields`` of them gives the same accelerator."""
    fields = chip_fields(chip, {name: getattr(chip, name) for name in SHORT_FIELDS})
    shared = (None, chip.l2_bytes, chip.l1_bytes)
    levels = {
        name: level_fields(level, limit)
        for name, level, limit in zip(LEVELS, chip.levels, shared, strict=True)
        if level != Level()
    }
    for name in levels:
        if "bytes" in levels[name]:
            del fields[f"{name.lower()}_bytes"]
    if network := wires_fields(chip.levels[1].network):
        levels["L2"]["network"] = network
    return fields | ({"levels": levels} if levels else {}) | mac_fields(chip)


def chip_fields(chip: Chip, short: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a whole chip as a file has them, but for its MACs."""
    fields = {"name": chip.name} if chip.name else {}
    fields |= {**short, **known({"node_nm": chip.node_nm, "clock_mhz": chip.clock_mhz})}
    return fields | ({"bits": chip.widths._asdict()} if chip.widths != BYTES else {})


def level_fields(level: Level, shared: int | None) -> dict[str, Any]:
    """The fields of a level as a file has them, without a capacity that all its tensors share."""
    fields: dict[str, Any] = {"kind": level.kind} if level.kind else {}
    if any(own is not None for own in level.tensor_bytes):
        own = dict(zip(TENSORS, level.tensor_bytes, strict=True))
        fields["bytes"] = known({"shared": shared, **own})
    if not all(level.holds):
        fields["holds"] = [t for t, held in zip(TENSORS, level.holds, strict=True) if held]
    if not all(level.double_buffer):
        fields["double_buffer"] = dict(zip(TENSORS, level.double_buffer, strict=True))
    said = {name: getattr(level, name) for name in PRICE_FIELDS}
    said["port_um2_per_bit"] = level.port_um2_per_bit or None
    return fields | known(said)


def mac_fields(chip: Chip) -> dict[str, Any]:
    """The fields of a chip's multiply-accumulate unit as a file has them."""
    kind = chip.mac_kind or None
    mac = known({"kind": kind, "pj": chip.mac_pj, "area_um2": chip.mac_area_um2})
    return {"mac": mac} if mac else {}


def wires_fields(wires: Wires) -> dict[str, float]:
    """The fields of a network as a file has them: those that are not 0."""
    return {name: price for name, price in wires._asdict().items() if price}


def known(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}
