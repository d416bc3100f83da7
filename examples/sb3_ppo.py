"""Stable-Baselines3: PPO on 64 worlds that step together on the batched cost model."""

from contextlib import suppress

from stable_baselines3 import PPO

import maestro_env

problem = maestro_env.Problem("mobilenetv2.2", accelerator="edge", objective="edp", budget=2000)
worlds = maestro_env.sb3_vec_env(64, problem=problem)
model = PPO(
    "MlpPolicy", worlds, n_steps=4, batch_size=256, n_epochs=4, learning_rate=3e-3, seed=0,
    device="cpu",
)  # fmt: skip
with suppress(maestro_env.BudgetExhausted):  # the problem counts samples and ends the training
    model.learn(total_timesteps=100_000)

print(f"{problem.samples} samples")
print(f"best EDP {problem.best_value:.4g}, {problem.bound / problem.best_value:.1%} of the bound")
print(problem.space.decode(problem.best_action[None])[0])
