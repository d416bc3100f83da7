"""PettingZoo: two agents choose a mapping together, one the outer level, one the rest."""

import maestro_env

names = maestro_env.Problem("mobilenetv2.2").space.names
outer = [name for name in names if name.startswith("outer")]
rest = [name for name in names if name not in outer]
env = maestro_env.parallel_env(layer="mobilenetv2.2", objective="latency", agents=[outer, rest])
for number, agent in enumerate(env.possible_agents):
    env.action_space(agent).seed(number)

best = 0.0
_, infos = env.reset(seed=0)
for _ in range(50):
    while env.agents:
        actions = {
            agent: env.action_space(agent).sample(infos[agent]["action_mask"])
            for agent in env.agents
        }
        _, rewards, _, _, infos = env.step(actions)
        best = max(best, rewards["agent_0"])
    _, infos = env.reset()
print(f"{infos['agent_0']['samples']} samples, best mapping at {best:.1%} of the physical bound")
