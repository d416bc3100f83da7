"""What a certificate says of a group of fused layers, beside the group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from mapper.certificate.certificate_file import CertificateError
from mapper.certificate.claim_file import TWO, Claimed, Size
from mapper.fusing.axis_plan import AxisPlan
from mapper.fusing.fused_group import FusedGroup, FusedTiling
from marl_common import Text, brief


class GroupFields(Claimed):
    """A group as the file has it; `keys` is left out where all come at once."""

    first: Text
    last: Text
    tile: Annotated[list[Size], TWO]
    halo: Annotated[list[Literal["again", "kept"]], TWO]
    keys: Size | None = None
    filters: list[Text]


class FusedClaim(NamedTuple):
    """A group, and how it is cut.

    Args:
        first: Its first node.
        last: Its last one.
        tile: Rows and columns of the last layer's output in a fused tile.
        halo: Rows that two tiles need, along rows and columns: computed `again`, or `kept`.
        keys: Keys in a tile of scores; 0: all.
        filters: Layers whose filters stay from tile to tile.
    """

    first: str
    last: str
    tile: tuple[int, int]
    halo: tuple[str, str]
    keys: int
    filters: tuple[str, ...]

    @classmethod
    def of(cls, fields: GroupFields) -> FusedClaim:
        """What the file has."""
        (rows, columns), (along, across) = fields.tile, fields.halo
        return cls(
            fields.first, fields.last, (rows, columns), (along, across), fields.keys or 0,
            tuple(fields.filters),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """As the file has it."""
        found = self._asdict() | {"tile": list(self.tile), "halo": list(self.halo)}
        return {name: of for name, of in found.items() if name != "keys" or of}

    def tiling(self, group: FusedGroup, names: Sequence[str]) -> FusedTiling:
        """The tiling of the group whose layers have these names.

        Raises:
            CertificateError: The group has no such tiling.
        """
        where = f"groups: {brief(self.first)} to {brief(self.last)}"
        unknown = [name for name in self.filters if name not in names]
        if unknown or len(set(self.filters)) != len(self.filters):
            what = brief(unknown[0]) if unknown else "one of them twice"
            raise CertificateError(f"{where}: filters: got {what}, expected layers of the group")
        if self.keys not in group.key_tiles:
            raise CertificateError(
                f"{where}: keys: got {self.keys}, expected one of {group.key_tiles}, 0 for all"
            )
        rows, columns = (
            self._plan(plans, axis, where)
            for axis, plans in enumerate((group.row_plans, group.column_plans))
        )
        filters = frozenset(place for place, name in enumerate(names) if name in self.filters)
        found = FusedTiling(rows, columns, filters, self.keys)
        if found.tiles == 1 and not self.keys:
            raise CertificateError(f"{where}: tile: it is not cut, expected several tiles")
        return found

    def _plan(self, plans: Sequence[AxisPlan], axis: int, where: str) -> AxisPlan:
        tile, halo = self.tile[axis], self.halo[axis]
        for plan in plans:
            if (plan.tile, plan.halo) == (tile, halo):
                return plan
        what = ("rows", "columns")[axis]
        sizes = sorted({plan.tile for plan in plans})
        if tile in sizes:
            raise CertificateError(f"{where}: halo: its {what} have none to keep, expected again")
        raise CertificateError(f"{where}: tile: got {tile} {what}, expected one of {sizes}")
