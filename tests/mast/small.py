"""Small runs of mast, which its tests share."""

from functools import cache

import numpy as np

from mast import MastConfig, MastTrainer

SMALL = MastConfig(
    task="tag-3", hidden=12, mixer_width=6, hyper_width=8, batch=4, topology_every=8,
    target_every=8, sparsity=0.8, explore_steps=400, t0=0.4, worlds=4,
)  # fmt: skip
STEPS = 1200


@cache
def trained(config: MastConfig, seed: int = 0, steps: int = STEPS) -> MastTrainer:
    """A run, which tests do not change."""
    trainer = MastTrainer(config, steps, seed, episodes=4)
    trainer.run()
    assert np.isfinite(float(trainer.progress.latest.get("loss", 0.0)))
    return trainer
