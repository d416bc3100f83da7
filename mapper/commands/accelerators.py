"""``mapper accelerators``: the presets."""

from __future__ import annotations

from mapper.commands.options import JsonFlag


def list_accelerators(as_json: JsonFlag = False) -> None:
    """List the accelerators that have a name; any other is a YAML file with the same fields."""
    from cost_models import PRESETS
    from runs import print_json, print_rows

    if as_json:
        print_json([{"name": name, **chip.to_dict()} for name, chip in PRESETS.items()])
        return
    rows = []
    for name, chip in PRESETS.items():
        limits = {key: "unlimited" if v is None else v for key, v in chip.to_dict().items()}
        rows.append({"name": name, **limits})
    print_rows(
        "Accelerators",
        rows,
        "l1_bytes is per PE; bandwidths in elements/cycle; one element is one byte",
    )
