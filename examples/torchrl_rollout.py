"""TorchRL: random mappings by one agent, as of any Gymnasium environment, and by two agents."""

from torchrl.envs import GymEnv, MarlGroupMapType, PettingZooWrapper

import maestro_env

alone = GymEnv("MaestroEnv-v0", layer="mobilenetv2.2", objective="edp")
alone.set_seed(0)
rollout = alone.rollout(200, break_when_any_done=False)
best = rollout["next", "reward"].max().item()
print(f"{rollout.batch_size[0]} samples, best mapping at {best:.1%} of the physical bound")

names = maestro_env.Problem("mobilenetv2.2").space.names
outer = [name for name in names if name.startswith("outer")]
rest = [name for name in names if name not in outer]
agents = maestro_env.parallel_env(
    layer="mobilenetv2.2", objective="edp", agents=[outer, rest], numeric_info=True
)
# unequal actions cannot be stacked: each agent is a group of its own
together = PettingZooWrapper(agents, group_map=MarlGroupMapType.ONE_GROUP_PER_AGENT)
together.set_seed(0)
rollout = together.rollout(200, break_when_any_done=False)
best = rollout["next", "agent_0", "reward"].max().item()
lowest = rollout["next", "agent_1", "info", "value"].min().item()
print(f"two agents: best mapping at {best:.1%} of the physical bound, EDP {lowest:.4g}")
