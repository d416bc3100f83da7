"""The counts of one nest by name, as the simulator gives them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from cost_models.cost_model import CostModelError
from cost_models.exact.nest import Nest
from cost_models.exact.nest_record import record_of
from cost_models.exact.records import COUNTED, TENSORS, TOO_LARGE_TILES, Counts, Work


class WorkSpace(threading.local):
    """Where the kernel works: each thread has records of its own, and keeps them."""

    def __init__(self) -> None:
        self.records = np.zeros(1, Work)


WORK = WorkSpace()


def count(nest: Nest) -> dict[str, int]:
    """Count a nest in closed form.

    Args:
        nest: The nest, of any size.

    Returns:
        Counts by name, as :func:`cost_models.exact.simulator.simulate`; those of 0 are left out.

    Raises:
        CostModelError: A tile does not fit its level, or a dimension has more different steps than
            the kernel takes.
    """
    from cost_models.exact.kernel import count_nests

    work, counts, status = WORK.records, np.zeros(1, Counts), np.zeros(1, np.int64)
    count_nests(work, record_of(nest, every=True), counts, status, 0, 1)
    if status[0] == TOO_LARGE_TILES:
        raise CostModelError(f"level {work[0]['full']}: its tiles need more than its capacity")
    if status[0] != COUNTED:
        raise CostModelError("a dimension has too many different steps; choose tiles that divide")
    return _named(nest, counts[0])


def _named(nest: Nest, record: Any) -> dict[str, int]:
    """The kernel's counts by the simulator's names."""
    found = {name: record[name] for name in ("macs", "compute")}
    found["bind/compute"] = record["bind_compute"]
    found["stepwise" if nest.rules.stepwise else "bound"] = record["latency"]
    levels = range(len(nest.levels) + 2)
    for m in levels:
        for name in ("steps", "active", "drain", "add"):
            found[f"{name}/{m}"] = record[name][m]
        port = record["port"][m]
        for way, field in (("in", "into"), ("out", "out")):
            found[f"{way}/{m}"] = port[field]
            found[f"busy/{m}/{way}"] = port[f"busy_{way}"]
            found[f"bind/{m}/{way}"] = port[f"bind_{way}"]
        for q in levels:
            for name in ("write", "refill"):
                found[f"{name}/{m}/{q}"] = record[name][m][q]
        for tensor in range(TENSORS):
            for name in ("fill", "tiles", "peak"):
                found[f"{name}/{tensor}/{m}"] = record[name][tensor][m]
            for q in levels:
                found[f"read/{tensor}/{m}/{q}"] = record["read"][tensor][m][q]
    return {name: int(n) for name, n in found.items() if n}
