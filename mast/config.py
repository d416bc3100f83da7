"""Everything that defines a training run but its seed and length."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Any

from marl_common import check_name, check_settings, option
from mast.arms import Arm, find_arm
from mast.errors import MastError
from mast.kinds import ALGORITHMS, AlgorithmKind

BUDGETS = ("network", "layer", "all")
BACKENDS = ("masked", "compiled")
TEAMS = ("mean", "sum")
LEFT_DENSE = ("none", "agents", "mixer")
COUNTED = ("episodes", "updates")
MOST = 10**12


@dataclass(frozen=True)
class MastConfig:
    """A training run. docs/mast.md says where each default comes from.

    Parts are named as their registries have them, or ``module:Class``; None: the arm's part, or the
    algorithm's.

    Attributes:
        task: spread-N, tag-N, lbf-..., rware-..., pursuit-N, smax-..., or module:function of one
            that makes a PettingZoo ParallelEnv.
        algorithm: qmix, vdn, cw-qmix, ow-qmix or res.
        arm: dense, tiny, static, set, rigl, block4, each plain or '+'; rlx2; mast.
        sparsity: Share of the weights that is left out; of tiny arms, whose cost they match.
        without: Part of the arm to leave out: sm, hybrid, dual.
        agents: mlp, or gru.
        share: One network for all agents, with the agent's number among its inputs; --own: A
            network for each agent, instead of one.
        hidden: Width of the agents' layers.
        mixer_width: Width of the mixer's hidden layer.
        hyper_width: Width of the hypernetworks' hidden layers.
        lr: Adam's step size.
        clip: Largest norm of the gradients.
        gamma: Discount a step.
        batch: Episodes in a batch.
        update_every: Episodes between two updates.
        capacity: Episodes kept.
        target_every: Episodes, or updates, between two copies to the target networks.
        explore_steps: Steps over which exploration falls.
        explore_end: What it falls to, from 1.
        worlds: Worlds played side by side.
        standardise: Divide rewards by their running standard deviation; in tasks whose episodes
            are only ever cut, take their running mean off first.
        team: How rewards of agents that differ become one: mean, sum; None: the task's own way,
            and where it has none they must be equal.
        alpha: Inverse temperature of Soft Mellowmax's weights.
        omega: How close Soft Mellowmax is to the maximum.
        lam: Lambda of the returns after T0.
        t0: T0 as a share of the run.
        recent: Newest episodes of the dual buffer.
        q: Share of a batch that is asked from them.
        drop: Share of the weights that the first topology step drops.
        topology_every: Episodes, or updates, between two topology steps.
        topology_end: Share of the run after which the topology stays.
        rule: Allocation, er or uniform.
        budget: What has a budget of its own: network, layer or all.
        left_dense: Networks of a sparse arm that keep all their weights: none, the agents, or the
            mixer. Says what the sparsity of the others costs.
        optimizer_state: Of born weights, local, reset or keep; local:W.
        backend: masked (dense products), or compiled (kept weights).
        device: cpu, or cuda.
        dtype: float32 or float64.
        weight_others: Weight of actions that WQMIX trusts less.
        res_beta: Inverse temperature of RES's softmax.
        res_weight: Weight of RES's pull to the discounted return.
        episode_length: Steps after which episodes of an imported world are cut.
        mixer: Mixer; None: the algorithm's.
        operator: Operator; None: soft-mellowmax with the part sm (RES: its softmax), else maximum.
        returns: Returns; None: hybrid with the part hybrid, else n-step.
        buffer: Buffer; None: dual with the part dual, else uniform.
        growth: Growth rule; None: the arm's.
        drop_rule: What topology steps drop.
        counted: What target_every and topology_every count: episodes, or updates.
        cw_values: Networks whose value of the greedy joint action CW-QMIX's weighting compares its
            targets with: online, or target.
        step_at_topology: Adam makes its step on updates that a topology step follows, too.
        agent_sparsities: Sparsity of each agent's own network, one after the other; none: the same
            for all.
        own: Names and values of settings that only a part has.
    """

    task: str = option("spread-6", "", "--task", "-t")
    algorithm: str = option("qmix", "", "--algorithm", "--algo", "-a", known=tuple(ALGORITHMS))
    arm: str = option("mast")
    sparsity: float = option(0.9, low=0, below=1)
    without: tuple[str, ...] = option(())
    agents: str = option("mlp")
    share: bool = option(True, "", "--share/--own")
    hidden: int = option(64, low=1, high=65_536)
    mixer_width: int = option(32, low=1)
    hyper_width: int = option(64, low=1)
    lr: float = option(1e-3, above=0, high=MOST)
    clip: float = option(10.0, low=1e-12, high=MOST)
    gamma: float = option(0.99, low=0, high=1)
    batch: int = option(32, low=1)
    update_every: int = option(2, low=1)
    capacity: int = option(5000, low=1)
    target_every: int = option(200, low=1)
    explore_steps: int = option(50_000)
    explore_end: float = option(0.05, low=0, high=1)
    worlds: int = option(8, low=1)
    standardise: bool = option(True)
    team: str | None = option(None, known=TEAMS)
    alpha: float = option(1.0, low=0, high=MOST)
    omega: float = option(10.0, low=1e-6, high=MOST)
    lam: float = option(0.6, low=0, high=1)
    t0: float = option(0.1, low=0, high=1)
    recent: int = option(128, low=1)
    q: float = option(0.5, low=0, high=1)
    drop: float = option(0.5, low=0, high=1)
    topology_every: int = option(200, low=1)
    topology_end: float = option(0.75, low=0, high=1)
    rule: str = option("er")
    budget: str = option("network", known=BUDGETS)
    left_dense: str = option("none", known=LEFT_DENSE)
    optimizer_state: str = option("local")
    backend: str = option("masked", known=BACKENDS)
    device: str = option("cpu")
    dtype: str = option("float32", known=("float32", "float64"))
    weight_others: float = option(0.1, low=0)
    res_beta: float = option(0.05)
    res_weight: float = option(0.05)
    episode_length: int = option(100, low=1)
    mixer: str | None = option(None)
    operator: str | None = option(None)
    returns: str | None = option(None)
    buffer: str | None = option(None)
    growth: str | None = option(None)
    drop_rule: str = option("magnitude")
    counted: str = option("episodes", known=COUNTED)
    cw_values: str = option("online", known=("online", "target"))
    step_at_topology: bool = option(True)
    agent_sparsities: tuple[float, ...] = option((), kind=float, low=0, below=1)
    own: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        check_settings(self, MastError)
        if self.counted == "episodes":
            for name in ("target_every", "topology_every"):
                self._check_multiple(name)
        if self.capacity < self.batch:
            raise MastError(
                f"capacity={self.capacity} keeps less than a batch of {self.batch} episodes; "
                "raise it or lower the batch."
            )
        self._check_networks()

    def _check_networks(self) -> None:
        """Refuse sparsities, backends and networks that do not go together."""
        arm = self.targets
        if self.sparsity == 0 and arm.uses_sparsity:
            raise MastError(
                f"sparsity=0 leaves nothing out of arm {self.arm!r}; expected above 0 and below 1. "
                "Take arm dense, or dense+."
            )
        if self.growth is not None and not arm.sparse:
            raise MastError(
                f"growth={self.growth!r}: arm {self.arm!r} is dense and grows nothing; expected a "
                "sparse arm, such as rigl."
            )
        if self.mixer_name == "vdn" and self.left_dense == "agents":
            raise MastError(
                "left_dense='agents' with mixer 'vdn' leaves no layer sparse, as it has no "
                "weights; leave the agents sparse, or use another algorithm."
            )
        if self.backend == "compiled" and not self.device.startswith("cpu"):
            raise MastError(
                f"backend 'compiled' runs on the CPU alone, got device {self.device!r}; use "
                "backend 'masked' there, or device 'cpu'."
            )
        if self.agent_sparsities and (self.share or self.budget != "network" or not arm.sparse):
            raise MastError(
                "agent_sparsities: expected a sparse arm whose agents have networks and budgets of "
                "their own; add --own, and leave --budget network."
            )

    def _check_multiple(self, name: str) -> None:
        """Refuse what would come only where its episodes and those of updates meet."""
        value, every = getattr(self, name), self.update_every
        if value % every:
            low = value - value % every
            near = " or ".join(str(n) for n in (low, low + every) if n)
            raise MastError(
                f"{name}={value}: expected a multiple of update_every={every}, such as {near}."
            )

    @property
    def targets(self) -> Arm:
        """The arm, without the parts that are left out."""
        return find_arm(self.arm).without(self.without)

    def has(self, part: str) -> bool:
        """Whether the arm has one of :data:`mast.arms.PARTS`."""
        return part in self.targets.parts

    @property
    def kind(self) -> AlgorithmKind:
        """The algorithm."""
        return ALGORITHMS[self.algorithm]

    @property
    def mixer_name(self) -> str:
        """The mixer that is named, or the algorithm's."""
        return self.mixer or self.kind.mixer

    @property
    def n_step(self) -> int:
        """Steps of the arm's returns where they are not hybrid."""
        return self.targets.n_step

    def part_names(self) -> dict[str, str]:
        """The part of each kind, those that are not named as arm and algorithm have them."""
        arm = self.targets
        return {
            "agents": self.agents,
            "mixer": self.mixer_name,
            "operator": self.operator or ("soft-mellowmax" if self.has("sm") else "maximum"),
            "returns": self.returns or ("hybrid" if self.has("hybrid") else "n-step"),
            "buffer": self.buffer or ("dual" if self.has("dual") else "uniform"),
            "growth": self.growth or arm.kind.growth or "static",
            "drop_rule": self.drop_rule,
        }

    def setting(self, name: str, default: Any = MISSING) -> Any:
        """A part's setting: its own, the configuration's, or else a default."""
        return dict(self.own).get(name, getattr(self, name, default))

    @property
    def label(self) -> str:
        """The arm with its sparsity and the parts it lacks, for tables."""
        sparsity = f" {self.sparsity:g}" if self.targets.uses_sparsity else ""
        return f"{self.arm}{sparsity}" + "".join(f" -{part}" for part in self.without)

    @property
    def differing(self) -> str:
        """What a name does not say yet: settings that differ from their defaults."""
        said = {*NAMED, "without", "own", "backend", "device"}
        found = {k: v for k, v in self.plain().items() if k not in said} | dict(self.own)
        return "".join(f", {name} {_brief(value)}" for name, value in found.items())

    def plain(self, *, whole: bool = False) -> dict[str, Any]:
        """Settings as JSON values.

        Args:
            whole: All; else what differs from the defaults, without what the arm ignores.
        """
        found: dict[str, Any] = {}
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if whole or each.name in NAMED or value != each.default:
                found[each.name] = list(value) if isinstance(value, tuple) else value
        if self.own or whole:
            found["own"] = dict(self.own)
        if not (self.targets.uses_sparsity or whole):
            del found["sparsity"]
        return found

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> MastConfig:
        """Settings from what :meth:`plain` gave.

        Raises:
            MastError: There are other settings among them.
        """
        known = {each.name for each in dataclasses.fields(cls)}
        for name in values:
            check_name("setting", name, known, MastError)
        given: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in values.items()
        }
        return cls(**{**given, "own": tuple(sorted(dict(values.get("own", ())).items()))})


def _brief(value: Any) -> str:
    if isinstance(value, list):
        return "/".join(map(_brief, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


NAMED = ("task", "algorithm", "arm", "sparsity")
"""Settings that every description of a run has."""
