"""Everything that defines a training run but its seed and length."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mast.arms import Arm, find_arm
from mast.errors import MastError, check_count, check_name, check_range

ALGORITHMS = ("qmix", "vdn", "cw-qmix", "ow-qmix", "res")
AGENTS = ("mlp", "gru")
BUDGETS = ("network", "layer", "all")
BACKENDS = ("masked", "compiled")
TEAMS = ("mean", "sum")
OPTIMIZER_STATES = ("local", "reset", "keep")
LEFT_DENSE = ("none", "agents", "mixer")


@dataclass(frozen=True)
class MastConfig:
    """A training run. docs/sparse.md says where each default comes from.

    Attributes:
        task: Name of a task, or ``"package.module:function"`` of one that makes a PettingZoo
            ParallelEnv.
        algorithm: One of :data:`ALGORITHMS`.
        arm: Network and targets, a name in :data:`mast.ARMS`.
        sparsity: Share of the weights that is left out; of tiny arms, whose cost they match.
        without: Parts of the arm that are left out.
        agents: ``"mlp"`` or ``"gru"``.
        share: One network for all agents, with the agent's number among its inputs.
        hidden: Width of the agents' hidden layers.
        mixer_width: Width of the mixer's hidden layer.
        hyper_width: Width of the hypernetworks' hidden layers.
        lr: Adam's step size.
        clip: Largest norm of the gradients.
        gamma: Discount a step.
        batch: Episodes in a batch.
        update_every: Episodes between two updates.
        capacity: Episodes kept.
        target_every: Episodes between two copies to the target networks.
        explore_steps: Steps over which exploration falls.
        explore_end: What it falls to, from 1.
        worlds: Worlds played side by side.
        standardise: Divide rewards by their running standard deviation; in tasks whose episodes
            are only ever cut, take their running mean off first.
        team: How rewards of agents that differ become one, ``"mean"`` or ``"sum"``; None: the
            task's own way, and where it has none they must be equal.
        alpha: Inverse temperature of Soft Mellowmax's weights.
        omega: How close Soft Mellowmax is to the maximum.
        lam: Lambda of the returns after T0.
        t0: T0 as a share of the run.
        recent: Newest episodes ``R`` of the dual buffer.
        q: Share of a batch that is asked from them.
        drop: Share of the weights that the first topology step drops, ``z``.
        topology_every: Episodes between two topology steps.
        topology_end: Share of the run after which the topology stays, ``T_end``.
        rule: Allocation, ``"er"`` or ``"uniform"``.
        budget: What has a budget of its own: each ``"network"``, each ``"layer"``, or ``"all"``
            together.
        left_dense: Networks of a sparse arm that keep all their weights: ``"none"``, the
            ``"agents"``, or the ``"mixer"``. Says what the sparsity of the others costs.
        optimizer_state: Of born weights, ``"local"``, ``"reset"`` or ``"keep"``; ``"local:W"``.
        backend: ``"masked"`` multiplies dense matrices, ``"compiled"`` only what is kept.
        device: ``"cpu"`` or ``"cuda"``.
        dtype: ``"float32"`` or ``"float64"``.
        weight_others: Weight of actions that WQMIX trusts less.
        res_beta: Inverse temperature of RES's softmax.
        res_weight: Weight of RES's pull to the discounted return.
        episode_length: Steps after which episodes of an imported world are cut.
    """

    task: str = "spread-6"
    algorithm: str = "qmix"
    arm: str = "mast"
    sparsity: float = 0.9
    without: tuple[str, ...] = ()
    agents: str = "mlp"
    share: bool = True
    hidden: int = 64
    mixer_width: int = 32
    hyper_width: int = 64
    lr: float = 1e-3
    clip: float = 10.0
    gamma: float = 0.99
    batch: int = 32
    update_every: int = 2
    capacity: int = 5000
    target_every: int = 200
    explore_steps: int = 50_000
    explore_end: float = 0.05
    worlds: int = 8
    standardise: bool = True
    team: str | None = None
    alpha: float = 1.0
    omega: float = 10.0
    lam: float = 0.6
    t0: float = 0.1
    recent: int = 128
    q: float = 0.5
    drop: float = 0.5
    topology_every: int = 200
    topology_end: float = 0.75
    rule: str = "er"
    budget: str = "network"
    left_dense: str = "none"
    optimizer_state: str = "local"
    backend: str = "masked"
    device: str = "cpu"
    dtype: str = "float32"
    weight_others: float = 0.1
    res_beta: float = 0.05
    res_weight: float = 0.05
    episode_length: int = 100

    def __post_init__(self) -> None:
        for what, name, known in (
            ("algorithm", self.algorithm, ALGORITHMS),
            ("kind of agents", self.agents, AGENTS),
            ("budget", self.budget, BUDGETS),
            ("network to be left dense", self.left_dense, LEFT_DENSE),
            ("backend", self.backend, BACKENDS),
            ("dtype", self.dtype, ("float32", "float64")),
            ("team", self.team or "mean", TEAMS),
        ):
            check_name(what, name, known)
        for name in (
            "hidden", "mixer_width", "hyper_width", "batch", "update_every", "capacity",
            "target_every", "worlds", "recent", "topology_every", "episode_length",
        ):  # fmt: skip
            check_count(name, getattr(self, name))
        check_range("sparsity", self.sparsity, 0, 1, open_end=True)
        for name in ("lam", "q", "t0", "drop", "topology_end", "explore_end", "gamma"):
            check_range(name, getattr(self, name), 0, 1)
        for name, least in (("omega", 1e-6), ("alpha", 0.0), ("lr", 0.0), ("clip", 1e-12)):
            check_range(name, getattr(self, name), least, 1e12)
        for name in ("target_every", "topology_every"):
            self._check_multiple(name)
        if self.capacity < self.batch:
            raise MastError(
                f"capacity={self.capacity} keeps less than a batch of {self.batch} episodes; "
                "raise it or lower the batch."
            )
        if self.algorithm == "vdn" and self.left_dense == "agents":
            raise MastError(
                "left_dense='agents' with algorithm 'vdn' leaves no layer sparse, as its mixer has "
                "no weights; leave the agents sparse, or use another algorithm."
            )
        if self.backend == "compiled" and not self.device.startswith("cpu"):
            raise MastError(
                f"backend 'compiled' runs on the CPU alone, got device {self.device!r}; use "
                "backend 'masked' there, or device 'cpu'."
            )
        self.targets  # noqa: B018 (an unknown arm or part is said at once)

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
    def label(self) -> str:
        """The arm with its sparsity and the parts it lacks, for tables."""
        sparsity = f" {self.sparsity:g}" if self.targets.uses_sparsity else ""
        return f"{self.arm}{sparsity}" + "".join(f" -{part}" for part in self.without)

    def plain(self) -> dict[str, Any]:
        """What differs from the defaults as JSON values; what the arm ignores is left out."""
        found: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in NAMED or value != field.default:
                found[field.name] = list(value) if isinstance(value, tuple) else value
        if not self.targets.uses_sparsity:
            del found["sparsity"]
        return found

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> MastConfig:
        """Settings from what :meth:`plain` gave.

        Raises:
            MastError: There are other settings among them.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        for name in values:
            check_name("setting", name, known)
        return cls(**{**values, "without": tuple(values.get("without", ()))})


NAMED = ("task", "algorithm", "arm", "sparsity")
"""Settings that every description of a run has."""
