"""What masks look like: densities, degrees, and how they changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from marl_runs import Store, kept_run
from mast.errors import MastError
from mast.kept import KINDS, learnt
from sparse_training import Structure


def masks_of(store: str, run: str) -> dict[str, Any]:
    """Layers of a finished run of a store, and how their masks changed.

    Raises:
        StoreError: There is no such run.
        MastError: It is dense.
    """
    with Store.open(store, create=False) as opened:
        found = kept_run(opened, run, KINDS)
        _, state = learnt(opened.folder(found.key))
        changes = evolution(opened, found.id)
    return {"layers": layer_rows(state["learner"]), "evolution": changes}


def layer_rows(learner: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row a layer, the agents' and the mixer's.

    Args:
        learner: The learner's state, as ``final.pt`` holds it.

    Returns:
        Outputs, inputs, kept weights, density, mean and largest degree of outputs and inputs, and
        how many of them have no weight left.

    Raises:
        MastError: The run is dense.
    """
    if "masks" not in learner:
        raise MastError("the run is dense and has no masks; expected a sparse arm, such as mast.")
    state, rows = learner["masks"], []
    for name, bits in state["bits"].items():
        outputs, inputs = (int(n) for n in state["shapes"][name])
        structure = Structure.of_bits((outputs, inputs), state["unit"], np.asarray(bits))
        into, out_of = structure.degrees()
        rows.append(
            {
                "layer": name, "outputs": outputs, "inputs": inputs, "kept": structure.weights,
                "density": structure.density,
                "mean_in": float(into.mean()), "most_in": int(into.max()),
                "dead_outputs": int((into == 0).sum()),
                "mean_out": float(out_of.mean()), "most_out": int(out_of.max()),
                "dead_inputs": int((out_of == 0).sum()),
            }
        )  # fmt: skip
    return rows


def evolution(store: Store, run_id: int) -> list[dict[str, Any]]:
    """Shares of weights that the last topology step moved and that are of the first masks."""
    steps, moved = store.metrics(run_id, "topology.moved")
    _, original = store.metrics(run_id, "topology.original")
    return [
        {"steps": int(at), "moved": float(m), "original": float(o)}
        for at, m, o in zip(steps, moved, original, strict=True)
    ]
