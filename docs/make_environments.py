"""Make docs/environments.md from the docstrings: ``python docs/make_environments.py``."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path

from maestro_env.env import MaestroEnv, MaestroNetworkEnv

PAGE = Path(__file__).with_name("environments.md")

INTRODUCTION = """\
# Environments

*Made from the docstrings by `docs/make_environments.py`.*

The mapping problem as standard environments. `import maestro_env` registers them;
`gymnasium.make("maestro_env:MaestroEnv-v0")` needs no import.

| Id | Is |
|---|---|
| `MaestroEnv-v0` | one layer, all defaults: mobilenetv2.2, EDP, `edge`, the exact cost model |
| `MaestroEnvPaper-v0` | guarded MAESTRO, `archgym`, the paper's parameters and reward 1/X |
| `MaestroEnvNetwork-v0` | the layers of a network in turn, with layer features in the observation |
| `Bench-01-v0` ... `Bench-30-v0` | problems of [`mapper bench`](bench.md): 1 is the optimum |

| Library | Made by | Needs |
|---|---|---|
| Gymnasium | `gymnasium.make(id, ...)` | |
| Gymnasium, many worlds | `gymnasium.make_vec(id, num_envs=N, ...)` | |
| PettingZoo | `maestro_env.parallel_env(agents=..., ...)` | extra `rl` |
| Stable-Baselines3 | `maestro_env.sb3_vec_env(num_envs, ...)` | extra `rl` |
| RLlib | `maestro_env.rllib.RLlibMaestroEnv` | extra `rllib` |
| TorchRL | `GymEnv("MaestroEnv-v0", ...)` | `torchrl` |
| TorchRL, agents | `PettingZooWrapper(parallel_env(numeric_info=True))` | `torchrl`, `rl` |
| your own learner | `maestro_env.BatchedProblem`, `maestro_env.AgentWorlds` | |

Each has a script of some twenty lines in the folder `examples`.
"""

FORMS = """\
## Many worlds at once

`gymnasium.make_vec(id, num_envs=N)` makes a native vector environment: a step is one call of the
batched cost model, and equals N single environments step for step. `infos` hold arrays with their
masks, as Gymnasium's own vector environments do; `infos["cost"]` is made for all worlds when
somebody looks; `envs.unwrapped.cost(i)` makes one. `autoreset_mode` is `NextStep` (default: the
step after an episode's last resets, ignores the action and spends no sample), `SameStep` (with
`final_obs` and `final_info`) or `Disabled` (reset with `options={"reset_mask": mask}`).

## Several agents

`maestro_env.parallel_env(agents=[["outer_tile_K", "inner_tile_K"], [...], ...], ...)` gives every
listed group of parameters to an agent, `agent_0` and on; without `agents` each parameter has its
own. Every parameter belongs to exactly one agent. All agents act at once, see the same
observation and get the same reward; each has its own `MultiDiscrete` action space and
`action_mask`. `state()` is the observation and the last joint action, scaled to [0, 1]. `layers=`
instead of `layer=` maps a network, all of its layers in an episode (`episode_length=None`).
`numeric_info=True` leaves numbers alone in the infos, for libraries that make tensors of them, as
TorchRL's `PettingZooWrapper` does.

`maestro_env.AgentWorlds(batched, agents)` is the batched form for learners, numpy in and numpy
out: `reset()` gives observations `(B, 4)`; `step` takes actions `(B, P)`, or each agent's own,
and gives observations, rewards `(B,)` and an outcome with values, figures, reasons, costs and
mappings.

```python
from maestro_env import AgentWorlds, BatchedProblem, Problem

problem = Problem("mobilenetv2.2", objective="edp", budget=20_000)
names = problem.space.names  # here two agents, which own half of the parameters each
group = AgentWorlds(BatchedProblem(problem, num_worlds=64), [names[:9], names[9:]])
observations = group.reset()
actions = problem.space.sample(64, seed=0)  # (64, P) integers
observations, rewards, outcome = group.step(actions)
```

## Samples and budgets

Every step of every world is one sample of its `Problem`, which counts them
(`env.unwrapped.problem.samples`); resets, masks and renderings spend none. `info["samples"]`
counts a world's own since its last reset with a seed. The adaptors take `problem=` to train on a
problem with a budget: the step that would exceed it raises `BudgetExhausted`.

## Errors

Unknown names and arguments of a wrong type raise a `ValueError` in one line that names what is
expected. Actions of a wrong shape, type or range raise `ActionError`, and a step before the first
reset or after an episode's end `maestro_env.ResetNeededError` (Gymnasium's `ResetNeeded` too),
before anything is evaluated or counted.

## Speed

| mobilenetv2.2, `exact` (its defaults), one thread | steps/s |
|---|---|
| single environment, random actions | 19,300 |
| vector environment, 1,024 worlds (81 % of the bare batched model) | 379,000 |
| PettingZoo, 10 agents, one world | 9,000 |

`python -m benchmarks env_speed` gives these.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for title, environment in (
        ("MaestroEnv-v0, MaestroEnvPaper-v0", MaestroEnv),
        ("MaestroEnvNetwork-v0", MaestroNetworkEnv),
    ):
        text = re.sub(r"^## ", "### ", inspect.getdoc(environment) or "", flags=re.MULTILINE)
        parts.append(f"## {title}\n\n{text}\n")
    return "\n".join([*parts, FORMS])


def main() -> None:
    """Write the page."""
    draft = PAGE.with_suffix(".tmp")
    draft.write_text(page(), encoding="utf-8")
    os.replace(draft, PAGE)
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
