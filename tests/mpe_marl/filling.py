"""Stores of random play, also of another process, which imports little."""

import numpy as np

from mpe_marl.replay import LAWS, Replay, Schema, Transition
from mpe_marl.worlds import BatchWorlds, make_spec


def fill(replays, env, steps, seed=0):
    """Play random moves, store them everywhere; returns every transition in order of writing."""
    rng = np.random.default_rng(seed)
    for replay in replays:
        replay.cut()
    obs, stored = env.reset(seed).copy(), []
    for _ in range(steps):
        states = env.states()
        if env.continuous:
            act = rng.random((env.n_worlds, env.n_agents, env.act_dim), dtype=np.float32)
        else:
            act = rng.integers(0, env.act_dim, (env.n_worlds, env.n_agents))
        step = env.step(act)
        after = step.obs.copy()
        terminated = rng.random(env.n_worlds) < 0.1
        ended = step.ended | (rng.random(env.n_worlds) < 0.1)
        paid = step.rewards.copy()
        t = Transition(obs, act, paid, after, terminated, ended, states, env.states())
        for replay in replays:
            replay.add(t)
        stored += list(zip(obs, act, paid, after, terminated, strict=True))
        obs = env.restart(ended).copy() if ended.any() else after
    return stored


def draws() -> None:
    """Print what every law draws in two layouts."""
    for layout in ("lists", "joint"):
        for law in sorted(LAWS):
            env = BatchWorlds(make_spec("simple_tag", 2))
            replay = Replay(Schema.of(env), 64, layout, law, batch=32, seed=3)
            fill([replay], env, 80)
            print(layout, law, replay.sample().rows.tolist())
