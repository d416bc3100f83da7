"""Profiling one configuration: time of every phase in cycles of 100 steps and one update."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mpe_marl.clock import PHASES, Clock
from mpe_marl.profiling import counters, peaks
from mpe_marl.profiling.addresses import lines_of
from mpe_marl.profiling.peaks import Timer
from mpe_marl.profiling.simulator import Simulator
from mpe_marl.replay import Transition
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import Trainer
from mpe_marl.worlds import BatchWorlds

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Profile:
    """What :func:`profile` measured; times are of the fastest cycle for each phase.

    Attributes:
        config: The configuration.
        phase_ms: Phase -> milliseconds a cycle.
        cycle_ms: The fastest whole cycle [ms].
        bytes: Bytes of transitions that one update's sampling moves.
        gb_per_s: Those bytes over the sampling time [GB/s].
        memcpy_gb_per_s: The same bytes copied from consecutive rows [GB/s].
        gflop: Matrix arithmetic of one update [GFLOP].
        gflop_per_s: That over the time of target Q, Q loss and P loss.
        peak_gflop_per_s: A large matrix product on the same threads, or the same GPU.
        counters: Counts of one update's sampling.
        counters_source: ``"perf"`` or ``"simulated"``.
    """

    config: TrainConfig
    phase_ms: dict[str, float]
    cycle_ms: float
    bytes: int
    gb_per_s: float
    memcpy_gb_per_s: float
    gflop: float
    gflop_per_s: float
    peak_gflop_per_s: float
    counters: dict[str, int]
    counters_source: str

    def plain(self) -> dict[str, Any]:
        """The profile as JSON values."""
        measured = dict(vars(self))
        c, source = measured.pop("config"), measured.pop("counters_source")
        return {
            "world": c.world, "algorithm": c.learner.algorithm, "mode": c.learner.mode,
            "layout": c.layout, "law": c.law, "n_agents": c.n_agents, "batch": c.batch,
            **measured, "counters": {**self.counters, "source": source},
        }  # fmt: skip


def fill(trainer: Trainer, rows: int) -> None:
    """Store ``rows`` transitions of random play, without training.

    Own worlds are played by the compiled kernels whichever engine the run itself uses: they agree,
    and a hundred thousand steps of mpe2 with many agents take hours.
    """
    env, rng = trainer.env, np.random.default_rng(trainer.seed)
    if env.spec is not None:
        env = BatchWorlds(env.spec, env.n_worlds)
    obs = env.reset(trainer.seed).copy()
    for _ in range(-(-rows // env.n_worlds)):
        if env.continuous:
            actions: Any = rng.random((env.n_worlds, env.n_agents, env.act_dim), np.float32)
        else:
            actions = rng.integers(0, env.act_dim, (env.n_worlds, env.n_agents))
        before = env.states()
        step = env.step(actions)
        after = step.obs.copy()
        trainer.replay.add(
            Transition(
                obs, actions, step.rewards, after, step.terminated, step.ended, before, env.states()
            )
        )
        obs = env.restart(step.ended).copy() if step.ended.any() else after
    trainer.replay.cut()
    trainer._obs = trainer.env.reset(trainer.seed).copy()


def profile(config: TrainConfig, *, rows: int = 20_000, repeats: int = 5, seed: int = 0) -> Profile:
    """Measure a configuration on this machine.

    On one thread of the tensor library times are that thread's processor time, which other work
    on the machine disturbs least; on more they are wall time. On a GPU they are wall time too, and
    a phase ends when the GPU has done what the phase gave it.

    Args:
        config: The configuration; its update cadence is replaced by the cycle's.
        rows: Transitions in the store.
        repeats: Cycles; every phase keeps its fastest.
        seed: Seeds the play.
    """
    trainer = Trainer(config, seed)
    fill(trainer, rows)
    device = trainer.learner.device
    timer = _timer_of(device)
    cycles = [_cycle(trainer, timer) for _ in range(repeats + 1)][1:]  # the first one compiles
    phase_ms = {p: min(c[0][p] for c in cycles) * 1e3 for p in PHASES}
    draws = 1 if trainer.replay.law.shared else trainer.env.n_agents
    per_row = trainer.replay.layout.row_bytes()
    moved = per_row * config.batch * draws
    copied = peaks.copy_seconds(
        per_row, min(rows, trainer.replay.ring.rows), config.batch, draws, timer=timer
    )
    gflop = _update_gflop(trainer)
    arithmetic = sum(phase_ms[p] for p in ("target_q", "q_loss", "p_loss"))
    counted, source = _count(trainer, draws)
    return Profile(
        config=config,
        phase_ms=phase_ms,
        cycle_ms=min(c[1] for c in cycles) * 1e3,
        bytes=moved,
        gb_per_s=moved / max(phase_ms["sample"], 1e-9) / 1e6,
        memcpy_gb_per_s=moved / copied / 1e9,
        gflop=gflop,
        gflop_per_s=gflop / max(arithmetic, 1e-9) * 1e3,
        peak_gflop_per_s=peaks.matmul_gflops(1024, trainer.learner.dtype, device, timer),
        counters=counted,
        counters_source=source,
    )


def _timer_of(device: torch.device) -> Timer:
    """What times a phase on a device."""
    import torch

    if device.type == "cpu":
        return time.thread_time if torch.get_num_threads() == 1 else time.perf_counter

    def waited() -> float:
        torch.cuda.synchronize(device)
        return time.perf_counter()

    return waited


def _cycle(trainer: Trainer, timer: Timer) -> tuple[dict[str, float], float]:
    """100 samples and one update; seconds of each phase and of the whole."""
    trainer.clock = clock = Clock(timer)
    for _ in range(-(-100 // trainer.env.n_worlds)):
        trainer._play()
    trainer.learner.update(trainer.replay, clock)
    return clock.seconds, clock.total


def _update_gflop(trainer: Trainer) -> float:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        trainer.learner.update(trainer.replay, Clock())
    return float(counter.get_total_flops()) / 1e9


def _count(trainer: Trainer, draws: int) -> tuple[dict[str, int], str]:
    """Counters of one update's sampling: the machine's, else simulated."""
    replay = trainer.replay
    folded = trainer.config.learner.mode == "folded"
    measured = counters.measure(lambda: [replay.sample(folded) for _ in range(draws)])
    if measured is not None:
        return measured, "perf"
    simulator, totals = Simulator(), dict[str, int]()
    for _ in range(draws):
        rows = replay.law.draw(replay.ring, replay.batch, replay.rng)
        for name, count in simulator.run(lines_of(replay.layout, rows)).items():
            totals[name] = totals.get(name, 0) + count
    return totals, "simulated"
