"""The environments for one agent: one layer, or the layers of a network in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import gymnasium
import numpy as np
from numpy.typing import NDArray

from layers import Layer
from maestro_env.action_space import ActionError, action_array
from maestro_env.batched_problem import BatchedProblem
from maestro_env.build import (
    DEFAULT_LAYER,
    DEFAULT_NETWORK,
    EPISODE_LENGTH,
    Arguments,
    layer_worlds,
    network_worlds,
)
from maestro_env.checks import EpisodeGate, check_choice, check_length, check_options, check_seed
from maestro_env.info import reset_info, step_info
from maestro_env.masks import flat
from maestro_env.problem import Problem
from maestro_env.render import RENDER_MODES, checked_mode, render

Observation = NDArray[np.float32]
Action = NDArray[np.int64]
LayerOrder = Literal["sequence", "shuffled"]


class WorldEnv(gymnasium.Env[Observation, Action]):
    """One world as a Gymnasium environment; the base of the registered ones."""

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, worlds: BatchedProblem, render_mode: str | None) -> None:
        self.render_mode = checked_mode(render_mode)
        self.worlds = worlds
        self._shown: tuple[int, Action | None] = (worlds.position(0), None)
        self._gate = EpisodeGate()
        self.observation_space = worlds.observation_space()
        self.action_space = worlds.action_space()

    @property
    def problem(self) -> Problem:
        """The problem of the layer to map next."""
        return self.worlds.problems[self.worlds.position(0)]

    def action_masks(self) -> NDArray[np.bool_]:
        """The action masks in one array, as sb3-contrib's MaskablePPO asks for them."""
        return flat(self.worlds.masks(0))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; no sample is spent.

        Raises:
            EnvError: The seed is no whole number of at least 0, or there is an option: none is
                known.
        """
        check_options(options)
        seed = check_seed(seed)
        super().reset(seed=seed)
        observations = self.worlds.reset(routes=self._route(), recount=seed is not None)
        self._shown = (self.worlds.position(0), None)
        self._gate.begin()
        return observations[0], reset_info(self.worlds, 0)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Map the layer as the action says; one sample.

        Raises:
            ActionError: The action has a wrong shape or type, or is out of range.
            ResetNeededError: There was no reset, or the episode has ended; nothing was evaluated.
        """
        self._gate.check()
        action = action_array(action)
        if action.shape != self.action_space.shape:
            raise ActionError(
                f"action: got shape {action.shape}, expected {self.action_space.shape}, one value "
                "a parameter"
            )
        position = self.worlds.position(0)
        observations, rewards, outcome = self.worlds.step(action[np.newaxis])
        self._shown = (position, action)
        terminated, truncated = self._ended(int(self.worlds.age[0]))
        self._gate.end(terminated or truncated)
        info = step_info(self.worlds, 0, outcome, 0)
        return observations[0], float(rewards[0]), terminated, truncated, info

    def render(self) -> Any:
        """The last mapping, as ``render_mode`` says: text, or a picture of the tiling."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() does nothing without a render_mode; "
                "make the environment with render_mode='ansi' or 'rgb_array'"
            )
            return None
        return render(self.render_mode, self.worlds, *self._shown)

    def _route(self) -> NDArray[np.int64] | None:
        """``(1, L)`` order of the layers in the next episode; None keeps it."""
        return None

    def _ended(self, age: int) -> tuple[bool, bool]:
        """Whether an episode of `age` steps is terminated, and whether it is truncated."""
        raise NotImplementedError  # every environment has its own rule


class MaestroEnv(WorldEnv):
    """Choose how one layer of a neural network runs on an accelerator.

    ## Description
    An action is a whole mapping: how the layer's loop nest is tiled, ordered and spread over the
    PEs. The cost model evaluates it and the reward is the better the lower the objective is. Steps
    do not depend on each other: the same action always has the same cost.

    ## Action Space
    `MultiDiscrete(nvec)`, one entry a parameter of the layer's `MapSpace`; `env.unwrapped.problem`
    has them by name (`problem.space.parameters`). With the default options:

    | Parameters | Number | Choices |
    |---|---|---|
    | `outer_priority_K` ... `inner_priority_X` | 8 | place of the loop, 0 is outermost |
    | `outer_parallel`, `inner_parallel` | 2 | dimension spread over clusters, and over their PEs |
    | `outer_tile_K` ... `inner_tile_X` | 8 | tile in output coordinates, ascending |
    | `cluster_size` | 1 | PEs of a cluster, ascending |

    A layer with a batch (N) or groups (G) has a priority and a tile of them too, unless the cost
    model only repeats the nest for them. On a chip that is a list of levels the parameters are
    those of a `ChainSpace`, named by level: `GlobalBuffer.order`, `GlobalBuffer.tile_K`,
    `GlobalBuffer.axis0.dim`.

    Every action is a legal mapping. `info["action_mask"]` holds one int8 array a parameter, 0
    where a choice cannot fit the buffers whatever the others are; it can be passed to
    `action_space.sample(mask=...)`. `env.unwrapped.action_masks()` has it as one bool array.

    ## Observation Space
    `Box(0, 1, (4,), float32)`: the figures of the last mapping on a log scale, 0 at the physical
    lower bound and 1 at 10^6 times that. All ones when it was infeasible. With
    `observation="figures"`: the raw values from 0 to the largest float32, zeros when infeasible.

    | Index | Figure | Unit (raw value in `info`) | Lower bound |
    |---|---|---|---|
    | 0 | `latency_cycles` | cycles | MACs at full use of the PEs, or traffic at full bandwidth |
    | 1 | `power_mw` | mW | the array with empty buffers |
    | 2 | `energy_nj` | nJ | every element moved once |
    | 3 | `area_um2` | um^2 | the array with empty buffers |

    ## Rewards
    With X the objective's value and `reference` its physical lower bound (where an objective has
    none, the geometric median of 1,000 random mappings, the same ones always):

    | `reward` | Feasible mapping | Range |
    |---|---|---|
    | `relative` (default) | `reference / X` | (0, 1] with a physical bound |
    | `inverse` | `1 / X`, as in the papers | above 0 |
    | `log` | `1 - log10(X / reference) / 6`, at least 0 and at most 1 | [0, 1] |

    An infeasible mapping has the reward `infeasible_reward`.

    ## Starting State
    All zeros: nothing has been mapped. A reset spends no sample and takes no options; with a seed
    it starts a new run, whose `samples` count from 0.

    ## Episode End
    Truncated after `episode_length` steps; never terminated.

    ## Information
    `reset` and `step` give `action_mask`, `layer` (its name) and `samples` (used since the last
    reset with a seed). `step`
    adds `cost` (a `Cost`; inf where infeasible), `feasible`, `reason` (a `ReasonCode`, 0 is
    feasible), `infeasible` (the report, or None), `value` (the objective's value) and the raw
    `latency_cycles`, `power_mw`, `energy_nj`, `area_um2`.

    ## Arguments
    | Argument | Default | Meaning |
    |---|---|---|
    | `layer` | `"mobilenetv2.2"` | a zoo name, `FILE.yaml:NAME`, a layer in line, or a `Layer` |
    | `objective` | `"edp"` | `latency`, `energy`, `edp`, `area`, `power`, or `latency*area` |
    | `accelerator` | `"edge"` | a preset, a YAML file, or an `Accelerator` |
    | `cost_model` | `"exact"` | a name, or a cost model |
    | `tiles`, `filters`, `parallel`, `orders`, `co_search`, `only`, `repeat` | | of `MapSpace` |
    | `dataflow` | `None` | of `MapSpace`: a dataflow's name, such as `"nvdla"` |
    | `space` | `None` | the same as a dict, such as `{"orders": "permutation"}` |
    | `limits` | `None` | such as `{"max_latency_cycles": 1e6}`; over a limit is infeasible |
    | `reward` | `"relative"` | see Rewards |
    | `infeasible_reward` | `0.0` | reward of an infeasible mapping |
    | `reference` | `None` | X whose reward is 1, see Rewards; None: the physical bound |
    | `observation` | `"paper"` | `"layer"` adds 14 features; `"figures"`: in their units |
    | `episode_length` | `16` | steps of an episode |
    | `render_mode` | `None` | `"ansi"`: loop nest, costs; `"rgb_array"`: buffers' contents |

    `MaestroEnvPaper-v0` is this environment in the papers' setting: `cost_model="maestro"` behind
    its guard, `accelerator="archgym"` (1,024 PEs, nothing limited), `objective="latency"`,
    `reward="inverse"`, `observation="figures"`, and every parameter of the paper's Fig. 2: loop
    orders as permutations, parallel dimensions, tiles of R and S too, and the PEs in use.

    `Bench-01-v0` to `Bench-30-v0` are this environment on the problems of `mapper bench`, with the
    proven optimum as `reference`: 1 is the largest reward there is.

    `gymnasium.make_vec("MaestroEnv-v0", num_envs=N)` steps N of them at once on the batched model.

    ## Version History
    * v0: first version.
    """

    def __init__(
        self,
        layer: str | Layer = DEFAULT_LAYER,
        *,
        observation: str = "paper",
        episode_length: int = EPISODE_LENGTH,
        render_mode: str | None = None,
        **arguments: Unpack[Arguments],
    ) -> None:
        self.episode_length = check_length(episode_length)
        worlds = layer_worlds(1, layer, observation=observation, **arguments)
        super().__init__(worlds, render_mode)

    def _ended(self, age: int) -> tuple[bool, bool]:
        return False, age >= self.episode_length


class MaestroNetworkEnv(WorldEnv):
    """Map the layers of a neural network one after another.

    ## Description
    Each step maps the layer that the observation describes, then moves on to the next one: a
    policy learns from all layers of a network. Steps do not depend on each other beyond that.

    ## Action Space
    `MultiDiscrete(nvec)` with the parameters of `MaestroEnv`, shared by all layers: each has as
    many choices as the layer that offers most. Tiles, priorities and clusters scale to what a
    layer offers (the smallest stays the smallest, the largest the largest); parallel dimensions
    keep their meaning. `info["action_mask"]` is 0 where the layer to map next does not offer a
    dimension, or where a choice cannot fit the buffers.

    ## Observation Space
    `Box(0, 1, (18,), float32)`: the four figures of the last mapping, as in `MaestroEnv` (scaled
    by that layer's own bounds), then 14 features of the layer to map next, on a log scale:

    | Index | Feature | Reaches 1 at |
    |---|---|---|
    | 4, 5 | K, C | 2^20 |
    | 6, 7 | output rows, output columns | 2^20 |
    | 8, 9 | R, S | 2^5 |
    | 10 | stride | 2^5 |
    | 11 | repeats (batch and groups) | 2^20 |
    | 12 | MACs | 2^50 |
    | 13 - 17 | kind: CONV, DSCONV, GEMM, NGCONV, TRCONV | 1 for the layer's kind |

    ## Rewards
    As in `MaestroEnv`, with each layer's own reference.

    ## Starting State
    Four zeros, and the features of the first layer.

    ## Episode End
    Terminated when every layer has been mapped once; truncated after `episode_length` steps if
    that comes first.

    ## Information
    As in `MaestroEnv`; `layer` names the layer to map next.

    ## Arguments
    | Argument | Default | Meaning |
    |---|---|---|
    | `layers` | `"mobilenetv2"` | a network of the zoo, or a list of layers |
    | `order` | `"sequence"` | `"shuffled"` draws the order of every episode from the seed |
    | `episode_length` | `None` | steps of an episode at most; None for all layers |

    The others are those of `MaestroEnv`, but for `observation`.

    ## Version History
    * v0: first version.
    """

    def __init__(
        self,
        layers: str | Sequence[str | Layer] = DEFAULT_NETWORK,
        *,
        order: LayerOrder = "sequence",
        episode_length: int | None = None,
        render_mode: str | None = None,
        **arguments: Unpack[Arguments],
    ) -> None:
        self.episode_length = None if episode_length is None else check_length(episode_length)
        check_choice("order", order, ("sequence", "shuffled"))
        self.order = order
        super().__init__(network_worlds(1, layers, **arguments), render_mode)

    def _route(self) -> NDArray[np.int64] | None:
        if self.order == "sequence":
            return None
        return self.np_random.permutation(len(self.worlds.problems))[np.newaxis]

    def _ended(self, age: int) -> tuple[bool, bool]:
        terminated = age >= len(self.worlds.problems)
        truncated = self.episode_length is not None and age >= self.episode_length
        return terminated, truncated and not terminated
