"""``mapper accelerators``: the library, or one chip level by level."""

from __future__ import annotations

from typing import Annotated

import typer

from mapper.commands import completion
from mapper.commands.options import OptionError, chip_of
from mapper.commands.problem_options import PathSets
from marl_common import AsJson, takes_records
from marl_runs import Column, print_json, print_rows

UNLIMITED = "unlimited"


@takes_records
def list_accelerators(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            help="A name or a YAML file: its levels instead.",
            autocompletion=completion.accelerators,
            show_default=False,
        ),
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a file with every field, to fill in.")
    ] = False,
    levels: Annotated[
        bool, typer.Option("--levels", help="With --template: levels as a list, of any number.")
    ] = False,
    paths: PathSets,
    as_json: AsJson = False,
) -> None:
    """List the accelerators that have a name; any other is a YAML file with the same fields.

    With NAME or FILE: the chip's levels from DRAM to the MACs, how many there are of each, what
    they hold, and how they fan out.
    """
    from cost_models import accelerator_template

    sets = paths.sets
    if levels and not template:
        raise OptionError(
            "--levels belongs to --template; give NAME or FILE to see a chip's levels"
        )
    if template:
        print(accelerator_template(levels), end="")
    elif name is not None:
        _show(name, sets, as_json)
    elif sets:
        raise OptionError("--set needs NAME or FILE, such as mapper accelerators edge --set ...")
    elif as_json:
        from cost_models import CHAINS, PRESETS

        two = [{"name": known} | chip.to_dict() for known, chip in PRESETS.items()]
        print_json(two + [{"name": known} | chip.to_dict() for known, chip in CHAINS.items()])
    else:
        print_accelerators()


def _show(name: str, sets: tuple[str, ...], as_json: bool) -> None:
    from cost_models import Accelerator, hierarchy

    chip = chip_of(name, sets)
    chain = chip.to_levels() if isinstance(chip, Accelerator) else chip
    if as_json:
        print_json({"name": chip.name or name} | chip.to_dict())
        return
    print(hierarchy(chain))
    if isinstance(chip, Accelerator):
        print("\nA mapping chooses how many PEs make a cluster; `array` is a count of PEs.")


def print_accelerators() -> None:
    """Print the accelerators that have a name."""
    from cost_models import CHAINS, PRESETS

    print_rows(
        "Accelerators",
        [{"name": name, **chip.totals()} for name, chip in PRESETS.items()],
        "L1 is per PE; bandwidths in B/cycle, of the slower direction; --json gives all fields",
        [
            Column.name("name"),
            Column("num_pes", "PEs", keep=6),
            Column("l1_bytes", "L1", "B", keep=5, blank=UNLIMITED),
            Column("l2_bytes", "L2", "B", keep=5, blank=UNLIMITED),
            Column("noc_bw", "NoC", keep=3, blank=UNLIMITED),
            Column("offchip_bw", "off-chip", keep=3, blank=UNLIMITED),
            Column("simd_lanes", "SIMD lanes", keep=1),
        ],
    )
    print()
    print_rows(
        "Lists of levels",
        [
            {
                "name": name,
                "macs": chip.peak_macs_per_cycle,
                "levels": ", ".join(level.name for level in chip.inner),
            }
            for name, chip in CHAINS.items()
        ],
        "levels from DRAM inwards; mapper accelerators NAME shows each",
        [Column.name("name"), Column("macs", "MACs", keep=2), Column.lasting("levels")],
    )
