"""A plain loop: random mappings of one layer, and the best of them."""

import gymnasium

import maestro_env  # noqa: F401 - registers the environments

env = gymnasium.make("MaestroEnv-v0", layer="mobilenetv2.2", objective="edp", render_mode="ansi")
env.action_space.seed(0)
_, info = env.reset(seed=0)
best, best_action = 0.0, None
for _ in range(1000):
    action = env.action_space.sample(info["action_mask"])
    _, reward, terminated, truncated, info = env.step(action)
    if reward > best:
        best, best_action = reward, action
    if terminated or truncated:
        _, info = env.reset()

env.reset()
env.step(best_action)
print(env.render())
print(f"{info['samples']} samples, best mapping at {best:.1%} of the physical bound")
