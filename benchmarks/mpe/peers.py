"""The same work by others, in one run: world steps, sampling, updates of all trainers.

    python benchmarks/mpe/peers.py --agents 3 12 --csv docs/data/mpe-peers.csv
    python benchmarks/mpe/peers.py --maddpg ~/maddpg   # a clone of openai/maddpg: its own buffer

One thread, processor time, the fastest of the repeats; every row has a process of its own. Peers
are in the extra `peers`; what is not installed is left out, and named. BenchMARL updates on our
world too, with continuous actions, which its MADDPG needs, and one batch of 1,024 for all trainers;
`batched uniform` draws a batch for each, so it works out N times as many target actions.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from marl_runs import in_fresh_process, print_rows, tell
from mpe_marl.clock import Clock
from mpe_marl.learners import LearnerConfig
from mpe_marl.profiling.profile import fill
from mpe_marl.train_config import TrainConfig
from mpe_marl.trainer import Trainer
from mpe_marl.worlds import BatchWorlds, make_spec

WORLD, WORLDS, BATCH, ROWS = "simple_spread", 1024, 1024, 100_000
COLUMNS = ("work", "agents", "whose", "ms")


def fastest(work: Callable[[], object], repeats: int, times: int = 1) -> float:
    """Milliseconds of the fastest of some repeats of ``times`` calls, after one that warms up."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(times):
            work()
        best = min(best, time.process_time() - start)
    return 1e3 * best / times


def steps_of_ours(n: int, repeats: int) -> float:
    """A step of 1,024 worlds."""
    worlds = BatchWorlds(make_spec(WORLD, n), WORLDS)
    worlds.reset(0)
    moves = np.random.default_rng(0).integers(0, 5, (WORLDS, n))
    return fastest(lambda: worlds.step(moves), repeats, 20)


def steps_of_vmas(n: int, repeats: int) -> float:
    """The same by VMAS on the processor."""
    import vmas

    env = vmas.make_env(WORLD, num_envs=WORLDS, device="cpu", seed=0, n_agents=n,
                        continuous_actions=False)  # fmt: skip
    env.reset()
    moves = [torch.randint(0, 5, (WORLDS, 1)) for _ in range(n)]
    return fastest(lambda: env.step(moves), repeats, 3)


def steps_of_jaxmarl(n: int, repeats: int) -> float:
    """The same by JaxMARL, 25 steps in one compiled scan."""
    import jax
    from jaxmarl.environments.mpe.simple_spread import SimpleSpreadMPE

    env = SimpleSpreadMPE(num_agents=n, num_landmarks=n)
    keys = jax.random.split(jax.random.PRNGKey(0), WORLDS)
    _, state = jax.vmap(env.reset)(keys)
    moves = {a: jax.numpy.ones(WORLDS, dtype=int) for a in env.agents}

    @jax.jit
    def play(state: Any) -> Any:
        def one(state: Any, _: Any) -> Any:
            obs, state, rewards, _, _ = jax.vmap(env.step_env)(keys, state, moves)
            return state, (obs, rewards)

        return jax.lax.scan(one, state, None, 25)

    return fastest(lambda: jax.block_until_ready(play(state)), repeats) / 25


def filled(n: int, layout: str, law: str, mode: str, **options: Any) -> Trainer:
    """A trainer with transitions of random play."""
    continuous = options.pop("continuous", False)
    config = TrainConfig(
        world=WORLD, n_agents=n, continuous=continuous, layout=layout, law=law, capacity=ROWS,
        batch=BATCH, learner=LearnerConfig(mode=mode, **options),
    )  # fmt: skip
    trainer = Trainer(config)
    fill(trainer, ROWS if layout != "lists" or n < 12 else ROWS // 4)
    return trainer


def sampling(n: int, repeats: int, layout: str, law: str) -> float:
    """What one update of all trainers draws, by us."""
    replay = filled(n, layout, law, "batched").replay
    draws = 1 if replay.law.shared else n
    return fastest(lambda: [replay.sample() for _ in range(draws)], repeats)


def sampling_by_take(n: int, repeats: int) -> float:
    """NumPy's `take` of rows that hold all agents, a draw for each trainer: the layout alone."""
    table = filled(n, "joint", "uniform", "batched").replay.layout.tables["records"]
    rng, out = np.random.default_rng(0), np.empty((BATCH, table.shape[1]), np.float32)

    def draw() -> None:
        for _ in range(n):
            np.take(table, rng.integers(0, ROWS, BATCH), axis=0, out=out, mode="clip")

    return fastest(draw, repeats)


def sampling_by_torchrl(n: int, repeats: int, draws: int | None = None) -> float:
    """TorchRL's buffer of tensors, a draw for each trainer or one for all."""
    from tensordict import TensorDict
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer

    buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(ROWS), batch_size=BATCH)
    width = make_spec(WORLD, n).obs_dim
    for _ in range(10):
        rows = ROWS // 10
        shapes = {"obs": (n, width), "action": (n, 5), "next": (n, width), "reward": (n,),
                  "done": (1,)}  # fmt: skip
        data = {name: torch.rand(rows, *shape) for name, shape in shapes.items()}
        buffer.extend(TensorDict(data, batch_size=[rows]))
    return fastest(lambda: [buffer.sample() for _ in range(draws or n)], repeats)


def sampling_by_openai(n: int, repeats: int, clone: str) -> float:
    """openai/maddpg's own buffers: each trainer's indices, and the transitions of all agents."""
    sys.path.insert(0, str(Path(clone) / "maddpg" / "trainer"))
    from replay_buffer import ReplayBuffer

    spec, rows = make_spec(WORLD, n), ROWS if n < 12 else ROWS // 4
    worlds, rng = BatchWorlds(spec), np.random.default_rng(0)
    buffers = [ReplayBuffer(ROWS) for _ in range(n)]
    obs = worlds.reset(0).copy()
    for t in range(rows):
        moves = rng.integers(0, 5, (1, n))
        step = worlds.step(moves)
        after, hot = step.obs.astype(float), np.eye(5)[moves[0]]
        for i, buffer in enumerate(buffers):
            buffer.add(obs[0, i], hot[i], step.rewards[0, i], after[0, i], float(t % 25 == 24))
        obs = worlds.restart(step.ended).astype(float) if step.ended[0] else after

    def draw() -> None:
        for _ in range(n):
            index = buffers[0].make_index(BATCH)
            for buffer in buffers:
                buffer.sample_index(index)

    return fastest(draw, repeats)


def update(n: int, repeats: int, layout: str, law: str, mode: str, **options: Any) -> float:
    """An update of all trainers by us, sampling included."""
    trainer = filled(n, layout, law, mode, **options)
    return fastest(lambda: trainer.learner.update(trainer.replay, Clock()), repeats)


def update_by_benchmarl(n: int, repeats: int, share: bool) -> float:
    """The same by BenchMARL's MADDPG, on our world."""
    with TemporaryDirectory() as folder:
        experiment = benchmarl_experiment(n, share, folder)
        experiment.run()
        (group,) = experiment.group_map
        return fastest(lambda: experiment._optimizer_loop(group), repeats)


def benchmarl_experiment(n: int, share: bool, folder: str) -> Any:
    """BenchMARL's MADDPG with networks of our size, its buffer filled by a short run."""
    from benchmarl.algorithms import MaddpgConfig
    from benchmarl.environments.pettingzoo.common import PettingZooClass
    from benchmarl.experiment import Experiment, ExperimentConfig
    from benchmarl.models.mlp import MlpConfig
    from torchrl.envs import PettingZooWrapper

    from mpe_marl.worlds import parallel_env

    class Ours(PettingZooClass):
        """Our world as BenchMARL's task."""

        def get_env_fun(self, **_: Any) -> Callable[[], Any]:
            """A world, wrapped."""
            return lambda: PettingZooWrapper(parallel_env(WORLD, n, continuous=True))

        def __reduce__(self) -> tuple[Any, ...]:
            """BenchMARL pickles its task into a file that nobody reads."""
            return str, ("ours",)

        def has_render(self, env: Any) -> bool:
            """No pictures."""
            return False

    config = ExperimentConfig.get_from_yaml()
    for name, value in {
        "share_policy_params": share, "off_policy_train_batch_size": BATCH, "loggers": [],
        "off_policy_memory_size": 4 * BATCH, "off_policy_collected_frames_per_batch": 2 * BATCH,
        "off_policy_n_envs_per_worker": 1, "evaluation": False, "create_json": False,
        "checkpoint_interval": 0, "prefer_continuous_actions": True, "max_n_iters": 1,
        "off_policy_n_optimizer_steps": 1, "save_folder": folder,
    }.items():  # fmt: skip
        setattr(config, name, value)
    algorithm = MaddpgConfig.get_from_yaml()
    algorithm.share_param_critic = share
    model = MlpConfig(num_cells=[64, 64], layer_class=torch.nn.Linear,
                      activation_class=torch.nn.ReLU)  # fmt: skip
    task = Ours("SIMPLE_SPREAD", {"task": "simple_spread", "max_cycles": 25})
    return Experiment(task=task, algorithm_config=algorithm, model_config=model,
                      critic_model_config=model, seed=0, config=config)  # fmt: skip


Row = tuple[str, str, Callable[..., float], dict[str, Any]]


def cases(maddpg: str | None) -> list[Row]:
    """Work, whose, function, its options."""
    draws = [("lists", "uniform"), ("joint", "uniform"), ("joint", "shared"), ("state", "shared")]
    ours = [
        ("batched uniform", "joint", "uniform", "batched", {}),
        ("batched, one batch", "joint", "shared", "batched", {}),
        ("shared", "joint", "shared", "shared", {}),
        ("folded", "state", "shared", "folded", {}),
        ("shared, one network", "joint", "shared", "shared", {"share_parameters": True}),
        ("folded, one network", "state", "shared", "folded", {"share_parameters": True}),
    ]
    rows: list[Row] = [
        ("step of 1,024 worlds", "ours", steps_of_ours, {}),
        ("step of 1,024 worlds", "VMAS", steps_of_vmas, {}),
        ("step of 1,024 worlds", "JaxMARL, scan", steps_of_jaxmarl, {}),
    ]
    rows += [("sampling", f"ours, {a} {b}", sampling, {"layout": a, "law": b}) for a, b in draws]
    rows += [
        ("sampling", "NumPy take of joint rows", sampling_by_take, {}),
        ("sampling", "TorchRL", sampling_by_torchrl, {}),
        ("sampling", "TorchRL, one draw", sampling_by_torchrl, {"draws": 1}),
    ]
    if maddpg:
        rows.append(("sampling", "openai/maddpg", sampling_by_openai, {"clone": maddpg}))
    for continuous in (True, False):
        kind = "update, continuous" if continuous else "update, discrete"
        for name, layout, law, mode, options in ours:
            how = {"layout": layout, "law": law, "mode": mode, "continuous": continuous, **options}
            rows.append((kind, f"ours, {name}", update, how))
        if continuous:
            rows += [
                (kind, f"BenchMARL, {name}", update_by_benchmarl, {"share": share})
                for name, share in (("own networks", False), ("one network", True))
            ]
    return rows


def alone(function: Callable[..., float], n: int, repeats: int, how: dict[str, Any]) -> float:
    """One row in this process, on one thread."""
    torch.set_num_threads(1)
    return function(n, repeats, **how)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, nargs="+", default=[3, 12])
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of the work")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=1, help="times that all rows take turns")
    parser.add_argument("--maddpg", help="a clone of openai/maddpg")
    parser.add_argument("--csv", type=Path)
    args = parser.parse_args()
    wanted = [c for c in cases(args.maddpg) if c[0].startswith(tuple(args.only))]
    best: dict[tuple[str, int, str], float] = {}
    for n in args.agents:
        for work, whose, function, how in wanted * args.rounds:
            try:
                ms = in_fresh_process(alone, function, n, args.repeats, how)
            except ImportError as error:
                tell(f"left out: {whose} ({error})")
                continue
            key = (work, n, whose)
            best[key] = min(best.get(key, ms), ms)
    rows = [dict(zip(COLUMNS, (*key, round(ms, 4)), strict=True)) for key, ms in best.items()]
    print_rows("The same work by others", rows)
    if args.csv:
        with args.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
