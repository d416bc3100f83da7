"""TorchRL: the environment as any other of Gymnasium's, and the best of some random mappings."""

from torchrl.envs import GymEnv

import maestro_env  # noqa: F401 - registers the environments

env = GymEnv("MaestroEnv-v0", layer="mobilenetv2.2", objective="edp")
env.set_seed(0)
rollout = env.rollout(200, break_when_any_done=False)
best = rollout["next", "reward"].max().item()
print(f"{rollout.batch_size[0]} samples, best mapping at {best:.1%} of the physical bound")
