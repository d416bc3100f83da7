"""PPO in one file, as CleanRL writes it: 64 worlds, a head a parameter, no library but torch."""

import gymnasium
import torch
from torch import nn
from torch.distributions import Categorical

import maestro_env  # noqa: F401 - registers the environments

WORLDS, STEPS, UPDATES, EPOCHS = 64, 4, 25, 4
GAMMA, LAMBDA, CLIP, ENTROPY, VALUE, RATE = 0.9, 0.95, 0.2, 0.01, 0.5, 3e-3


class Agent(nn.Module):
    """One body; the actor's logits are split into a head for every parameter of the mapping."""

    def __init__(self, observations: int, nvec: list[int]) -> None:
        super().__init__()
        self.nvec = nvec
        self.body = nn.Sequential(nn.Linear(observations, 64), nn.Tanh())
        self.actor, self.critic = nn.Linear(64, sum(nvec)), nn.Linear(64, 1)

    def forward(self, observation, action=None):
        """Actions (drawn unless given), their log-probability, entropy, and the state's value."""
        hidden = self.body(observation)
        heads = [Categorical(logits=part) for part in self.actor(hidden).split(self.nvec, dim=-1)]
        if action is None:
            action = torch.stack([head.sample() for head in heads], dim=-1)
        chosen = action.unbind(dim=-1)
        log_prob = sum(head.log_prob(part) for head, part in zip(heads, chosen, strict=True))
        entropy = sum(head.entropy() for head in heads)
        return action, log_prob, entropy, self.critic(hidden).squeeze(-1)


torch.manual_seed(0)
envs = gymnasium.make_vec("MaestroEnv-v0", num_envs=WORLDS, layer="mobilenetv2.2", objective="edp")
agent = Agent(envs.single_observation_space.shape[0], envs.single_action_space.nvec.tolist())
optimizer = torch.optim.Adam(agent.parameters(), lr=RATE)
observation = torch.as_tensor(envs.reset(seed=0)[0])
ended = torch.zeros(WORLDS)
best, means = 0.0, []

for _ in range(UPDATES):
    kept = []
    for _ in range(STEPS):
        with torch.no_grad():
            action, log_prob, _, value = agent(observation)
        after, reward, terminated, truncated, info = envs.step(action.numpy())
        reward = torch.as_tensor(reward, dtype=torch.float32)
        done = torch.as_tensor(terminated | truncated, dtype=torch.float32)
        kept.append((observation, action, log_prob, value, reward, done, 1 - ended))
        observation, ended = torch.as_tensor(after), done
        best = max(best, reward.max().item())
    observations, actions, log_probs, values, rewards, dones, valid = map(
        torch.stack, zip(*kept, strict=True)
    )

    means.append(rewards[valid > 0].mean().item())
    with torch.no_grad():
        following = torch.cat([values[1:], agent(observation)[3][None]])
    delta = rewards + GAMMA * following * (1 - dones) - values
    advantages, running = torch.zeros_like(delta), torch.zeros(WORLDS)
    for step in reversed(range(STEPS)):
        running = delta[step] + GAMMA * LAMBDA * (1 - dones[step]) * running
        advantages[step] = running
    returns = advantages + values

    # the step after an episode's last one resets and ignores its action: nothing to learn there
    rows = valid.flatten().nonzero().squeeze(-1)
    flat = [x.flatten(0, 1)[rows] for x in (observations, actions, log_probs, advantages, returns)]
    for _ in range(EPOCHS):
        for part in torch.randperm(len(rows)).chunk(4):
            seen, done_before, old, advantage, target = (x[part] for x in flat)
            _, log_prob, entropy, value = agent(seen, done_before)
            ratio = (log_prob - old).exp()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
            loss = -gain.mean() + VALUE * (value - target).pow(2).mean() - ENTROPY * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()

samples = int(info["samples"].sum())
print(f"mean reward {means[0]:.3f} at first, {means[-1]:.3f} in the end")
print(f"{samples} samples, best mapping at {best:.1%} of the physical bound")
