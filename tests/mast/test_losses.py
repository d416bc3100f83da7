"""Defaults learn what version 0.2.0 learnt: losses of every arm and algorithm, by update.

python -m tests.mast.test_losses    # prints the losses of this source; 0.2.0's are in data/
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mast import ARMS, MastConfig, MastTrainer
from tests.mast import small

LOSSES = Path(__file__).parent / "data" / "losses-0.2.0.json"
SMALL = replace(small.SMALL, dtype="float64")
CASES = {
    **{arm: replace(SMALL, arm=arm) for arm in sorted(ARMS)},
    **{
        f"{algorithm} {arm}": replace(SMALL, algorithm=algorithm, arm=arm)
        for algorithm in ("vdn", "cw-qmix", "ow-qmix", "res")
        for arm in ("dense", "mast")
        if (algorithm, arm) != ("res", "mast")  # its Soft Mellowmax was left out then
    },
    "gru": replace(SMALL, agents="gru"),
    "own": replace(SMALL, share=False, task="spread-3"),
    "compiled": replace(SMALL, backend="compiled", task="spread-3"),
    "rest": replace(SMALL, budget="layer", rule="uniform", standardise=False, without=("dual",)),
}


def losses(config: MastConfig) -> list[float]:
    """The loss of each update, and last the return of each evaluation."""
    trainer, found = MastTrainer(config, 900, 3, episodes=4), []

    def note(trainer: MastTrainer) -> None:
        if trainer.progress.updates > len(found):
            found.append(float(trainer.progress.latest["loss"]))

    trainer.run(note)
    return found + [value for _, value in trainer.progress.evaluations]


@pytest.mark.parametrize("name", CASES)
def test_losses_are_those_of_version_0_2_0(name: str) -> None:
    known = json.loads(LOSSES.read_text(encoding="utf-8"))
    np.testing.assert_allclose(losses(CASES[name]), known[name], rtol=1e-9)


if __name__ == "__main__":
    print(json.dumps({name: losses(config) for name, config in CASES.items()}, indent=0))
