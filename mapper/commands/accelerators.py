"""``mapper accelerators``: the presets."""

from __future__ import annotations

from mapper.commands.options import JsonFlag

UNLIMITED = "unlimited"


def list_accelerators(as_json: JsonFlag = False) -> None:
    """List the accelerators that have a name; any other is a YAML file with the same fields."""
    from cost_models import PRESETS
    from runs import Column, print_json, print_rows

    if as_json:
        print_json([{"name": name, **chip.to_dict()} for name, chip in PRESETS.items()])
        return
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
