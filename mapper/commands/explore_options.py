"""Options of ``mapper explore``: which designs, by which figures, how far proven, drawn where."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapper.commands.options import OptionError, check_word, picture_file
from mapper.commands.stay_options import StayOptions
from mapper.results.output import check_writable
from marl_common import LARGEST_SEED, option, write_text
from marl_runs import json_text, print_json, tell

if TYPE_CHECKING:
    from mapper.explore.design_ranges import Value
    from mapper.explore.design_space import DesignSpace
    from mapper.explore.exploration import Exploration

GRID = 5_000
"""Designs up to which all of them are tried where nothing is said."""
DRAWS = ("all", "uniform", "nsga2")
_RANGES: dict[str, Any] = {
    "rich_help_panel": "Ranges: 64..1024 (powers of two), 64..1024:64 (steps), 64,96 (lists); "
    "16k, 1M",
}
_RANGE: dict[str, Any] = {"metavar": "RANGE", "shown": "the chip's", **_RANGES}


@dataclass(frozen=True)
class RangeOptions:
    """Which fields of the chip are swept.

    Attributes:
        pes: PEs.
        l1: L1 of one PE [B].
        l2: Shared L2 [B].
        noc: L2 to the PEs [B/cycle].
        offchip: DRAM to L2 [B/cycle].
        lanes: MACs of one PE in a cycle.
        sweep: Any field by its path: levels.L2.bytes=16k..1M, or axes:
            levels.GLB.fanout.axes=4x4,8x8; may be repeated.
    """

    pes: str | None = option(None, **_RANGE)
    l1: str | None = option(None, **_RANGE)
    l2: str | None = option(None, **_RANGE)
    noc: str | None = option(None, **_RANGE)
    offchip: str | None = option(None, **_RANGE)
    lanes: str | None = option(None, **_RANGE)
    sweep: tuple[str, ...] = option((), metavar="PATH=RANGE", **_RANGES)

    def values(self) -> dict[str, tuple[Value, ...]]:
        """The values of every swept field.

        Raises:
            ExploreError: A range is none.
            OptionError: A field is swept twice.
        """
        from mapper.explore.design_ranges import swept, values_of
        from mapper.explore.design_space import FIELDS

        ranges = {
            "num_pes": self.pes, "l1_bytes": self.l1, "l2_bytes": self.l2, "noc_bw": self.noc,
            "offchip_bw": self.offchip, "simd_lanes": self.lanes,
        }  # fmt: skip
        found = {
            name: values_of(FIELDS[name], text) for name, text in ranges.items() if text is not None
        }
        for text in self.sweep:
            path, values = swept(text)
            if path in found:
                raise OptionError(
                    f"--sweep {path}: is swept twice; give one range, such as 8,16..64"
                )
            found[path] = values
        return found


@dataclass(frozen=True)
class AimOptions:
    """By which figures designs are compared, and their limits.

    Attributes:
        objectives: Two or three of latency, energy, edp, area, power.
        max_area: Largest area, such as 5mm2.
        max_power: Largest power, such as 500mW.
    """

    objectives: str = option("edp,area", "", "--objectives", "-o")
    max_area: str | None = option(None, metavar="AREA")
    max_power: str | None = option(None, metavar="POWER")

    def limits(self) -> dict[str, Any]:
        """Limits of an exploration.

        Raises:
            ExploreError: One is no area or power.
        """
        from mapper.explore.design_ranges import AREA_UM2, POWER_MW, quantity_of

        limits: dict[str, Any] = {}
        for name, units in (("max_area", AREA_UM2), ("max_power", POWER_MW)):
            text, flag = getattr(self, name), "--" + name.replace("_", "-")
            limits[name] = None if text is None else quantity_of(flag, text, units)
        return limits


@dataclass(frozen=True)
class DrawOptions:
    """Which designs are tried.

    Attributes:
        designs: Try so many designs, drawn by the seed.
        draw: all, uniform, or nsga2: each generation from the best of those before.
        seed: Same seed, same samples.
    """

    designs: int | None = option(None, kind=int, low=1, high=10**6)
    draw: str | None = option(None, shown="all; uniform with --designs; nsga2 above 5,000 designs")
    seed: int = option(0, low=0, high=LARGEST_SEED)

    def way(self, space: DesignSpace) -> str:
        """How designs are chosen, of `DRAWS`.

        Raises:
            OptionError: There is no such way, or it does not go with ``--designs``.
        """
        draw, designs = self.draw, self.designs
        if draw is None:
            if designs is None:
                return "all" if space.size <= GRID else "nsga2"
            return "uniform" if designs < space.size else "all"
        check_word("--draw", draw, DRAWS, "one of ")
        if draw == "uniform" and designs is None:
            raise OptionError("--draw uniform: how many? Give --designs N")
        if draw == "all" and designs is not None and designs < space.size:
            raise OptionError(
                f"--draw all: {space.size:,} designs, but --designs {designs}; drop one"
            )
        return draw


@dataclass(frozen=True)
class SearchedDesigns(DrawOptions, AimOptions, RangeOptions):
    """Which designs are tried, and what they aim at."""


@dataclass(frozen=True)
class DesignOptions:
    """How each design is judged.

    Attributes:
        wires: Whether wires and ports cost energy and area.
        pretrained: Agents that propose mappings.
        gap: Prove until a design's mappings are at most this share off.
        timeout: Seconds for the proof of one layer; 0 proves nothing.
    """

    wires: str = option("on", metavar="on|off")
    pretrained: str = option("auto", metavar="auto|FILE")
    gap: float = option(0.01, min=0)
    timeout: float = option(20.0, min=0)

    def check(self) -> None:
        """Check the numbers.

        Raises:
            OptionError: One is infinite.
        """
        for name in ("gap", "timeout"):
            if math.isinf(getattr(self, name)):
                raise OptionError(f"--{name}: got {getattr(self, name)}, expected a finite number")


@dataclass(frozen=True)
class JudgingOptions(StayOptions, DesignOptions):
    """How each design is judged, and whether tensors stay on it."""


@dataclass(frozen=True)
class FrontOptions:
    """Where the designs go.

    Attributes:
        plot: Draw the designs (.png, .svg or .pdf).
        csv: Write every design as a row.
        page: Write an HTML page of the front.
        out: Folder for explore.json; the network's page there draws the front.
        as_json: Print JSON alone on standard output.
    """

    plot: Path | None = option(None, kind=Path)
    csv: Path | None = option(None, kind=Path)
    page: Path | None = option(None, kind=Path)
    out: Path | None = option(None, kind=Path)
    as_json: bool = option(False, "", "--json")

    def check(self) -> None:
        """Find out before anything is computed whether the files can be written.

        Raises:
            OptionError: A name has another ending than it should.
            OutputError: Its folder cannot be written to.
            ValueError: A library that draws is missing.
        """
        from mapper.report.explore_page import check_page
        from marl_runs import new_figure

        if self.plot is not None:
            picture_file("--plot", self.plot)
        for flag, path, ending in (("--csv", self.csv, ".csv"), ("--page", self.page, ".html")):
            if path is not None:
                if path.suffix.lower() != ending:
                    raise OptionError(f"{flag} {path}: expected a name that ends in {ending}")
                check_writable(path.parent, flag)
        if self.plot is not None or self.page is not None:
            new_figure(1, 1)
        if self.page is not None:
            check_page()
        if self.out is not None:
            check_writable(self.out)

    def show(self, done: Exploration) -> None:
        """Print what was found, and write the files."""
        from cost_models import prices_wires
        from mapper.explore.design_rows import all_rows, front_table, write_rows
        from mapper.explore.explore_file import NAME, explored
        from mapper.explore.front_plot import front_figure
        from mapper.report.explore_page import render_page
        from mapper.show.front_table import notes_of, print_exploration
        from marl_runs import save_figure

        if self.as_json:
            priced = prices_wires(done.designs[0].chip)
            front = front_table(done)
            print_json(
                {"network": done.plan.network, "wires": priced, "front": front, **done.counted()}
            )
        else:
            print_exploration(done)
        if self.csv is not None:
            write_rows(self.csv, all_rows(done))
        if self.plot is not None:
            save_figure(front_figure(done), self.plot, beside=False)
        if self.page is not None:
            write_text(self.page, render_page(done, notes_of(done)))
        for path in (self.csv, self.plot, self.page):
            if path is not None:
                tell(f"wrote {path}")
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            write_text(self.out / NAME, json_text(asdict(explored(done))) + "\n")
            page = f"`mapper report {self.out}` draws it on the network's page"
            tell(f"wrote {self.out / NAME}; {page}")
