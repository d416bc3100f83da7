"""RLlib: PPO with one policy an agent, two agents, one reward."""

import ray
from ray.rllib.algorithms.ppo import PPOConfig

import maestro_env
from maestro_env.rllib import RLlibMaestroEnv

names = maestro_env.Problem("mobilenetv2.2").space.names
agents = [[name for name in names if name.startswith("outer")]]
agents.append([name for name in names if name not in agents[0]])
ray.init(
    num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=150_000_000,
    ignore_reinit_error=True,
)  # fmt: skip
config = (
    PPOConfig()
    .environment(RLlibMaestroEnv, env_config={"layer": "mobilenetv2.2", "agents": agents})
    .env_runners(num_env_runners=0)
    .training(train_batch_size=128, minibatch_size=64, num_epochs=4, lr=3e-3)
    .multi_agent(policies=["agent_0", "agent_1"], policy_mapping_fn=lambda agent, *_, **__: agent)
)
algorithm = config.build_algo()
for _ in range(3):
    result = algorithm.train()
print(f"mean return of an episode: {result['env_runners']['episode_return_mean']:.4f}")
algorithm.stop()
ray.shutdown()
