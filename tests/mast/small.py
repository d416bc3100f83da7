"""A small run of mast, which its tests share."""

from mast import MastConfig

SMALL = MastConfig(
    task="tag-3", hidden=12, mixer_width=6, hyper_width=8, batch=4, topology_every=8,
    target_every=8, sparsity=0.8, explore_steps=400, t0=0.4, worlds=4,
)  # fmt: skip
