"""Everything that defines a pre-training run but its seed and length."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mst.attention import PATTERNS, check_pattern
from mst.errors import MstError, check_at_least, unknown_choice
from mst.phases import Phase, check_phases
from sparse_training import BACKENDS, Backend, SparsityConfig, Unit

BYTES = 256
"""Tokens of text read as bytes."""


@dataclass(frozen=True)
class GptShape:
    """Shape of a GPT-2 style model.

    Attributes:
        layers: Blocks.
        width: Features of a token.
        heads: Attention heads; they divide the width.
        context: Tokens of a window, T.
        vocabulary: Rows of the embedding, at least 256 for bytes.
        hidden: Features inside a block's perceptron; None: four times the width.
    """

    layers: int = 4
    width: int = 128
    heads: int = 4
    context: int = 256
    vocabulary: int = BYTES
    hidden: int | None = None

    def __post_init__(self) -> None:
        for name in ("layers", "width", "heads", "context"):
            check_at_least(name, getattr(self, name), 1)
        check_at_least("vocabulary (text is read as bytes)", self.vocabulary, BYTES)
        check_at_least("hidden", self.inner, 1)
        if self.width % self.heads:
            raise MstError(
                f"width: got {self.width}, expected a multiple of the {self.heads} heads; "
                f"take {self.width - self.width % self.heads or self.heads}"
            )

    @property
    def inner(self) -> int:
        """Features inside a block's perceptron."""
        return 4 * self.width if self.hidden is None else self.hidden

    @property
    def parameters(self) -> int:
        """Weights of the whole model; the head shares the embedding's."""
        linear = sum(rows * columns for rows, columns in self.linear_shapes().values())
        norms = (2 * self.layers + 1) * self.width
        return linear + (self.vocabulary + self.context) * self.width + norms

    def linear_shapes(self) -> dict[str, tuple[int, int]]:
        """Name -> outputs, inputs of every linear layer of the blocks."""
        shapes = {}
        for i in range(self.layers):
            shapes[f"{i}.qkv"] = (3 * self.width, self.width)
            shapes[f"{i}.projection"] = (self.width, self.width)
            shapes[f"{i}.expand"] = (self.inner, self.width)
            shapes[f"{i}.contract"] = (self.width, self.inner)
        return shapes


@dataclass(frozen=True)
class SparseSettings:
    """What is sparse, and how it moves.

    Attributes:
        sparsity: S, the share of zero weights in the ultra-sparse phase.
        phases: The phases; none: a dense run.
        growth: ``static``, ``set``, ``rigl`` or ``mixed`` (3 of 4 by gradient, 1 at random).
        unit: ``free`` weights or 4x4 blocks, ``block4``.
        rule: How layers share the weights: ``er`` or ``uniform``.
        drop: z, the share of weights that a phase's first topology step drops.
        every: Updates between topology steps.
        moves: Topology steps, at least, of a phase whose density changes.
        optimizer_state: ``local``, ``local:W``, ``reset`` or ``keep``.
        faithful: As the released code: no step of the optimiser on topology steps, moments kept.
        mask_head: Whether the tied head has a mask as well.
        pattern: Attention of warm-up and ultra-sparse phase.
        window: Earlier keys that a query sees of its neighbourhood, itself included.
        stride: s of the strided and fixed patterns.
    """

    sparsity: float = 0.0
    phases: tuple[Phase, ...] = ()
    growth: str = "mixed"
    unit: Unit = "free"
    rule: str = "er"
    drop: float = 0.3
    every: int = 100
    moves: int = 10
    optimizer_state: str = "local"
    faithful: bool = False
    mask_head: bool = False
    pattern: str = "local+strided"
    window: int = 32
    stride: int = 64

    def __post_init__(self) -> None:
        SparsityConfig(
            sparsity=self.sparsity,
            rule=self.rule,
            unit=self.unit,
            growth=self.growth,
            optimizer_state=self.optimizer_state,
            drop=self.drop,
            every=self.every,
        )
        if self.pattern not in PATTERNS:
            raise unknown_choice("attention", self.pattern, PATTERNS)
        check_at_least("moves", self.moves, 1)
        check_phases(self.phases)


RATE_LAWS = ("cosine", "trapezoid")


@dataclass(frozen=True)
class AdamSettings:
    """AdamW and its learning rate, which warms up and falls.

    Attributes:
        lr: Largest learning rate.
        warm_up: Share of the updates in which it rises.
        floor: Share of `lr` that is left at the end.
        law: ``cosine``, or ``trapezoid``: constant, then a straight fall (Haegele et al., Scaling
            laws and compute-optimal training beyond fixed training durations, 2024).
        decay: Share of the updates in which a trapezoid falls.
        betas: Adam's.
        weight_decay: Decoupled decay of matrices.
        clip: Largest norm of the gradient.
        by_density: The learning rate of sparse layers' weights is divided by the density to this
            power; 0: the same rate for all. 1 is that of Dey et al., Sparse maximal update
            parameterization, 2024.
    """

    lr: float = 1e-3
    warm_up: float = 0.1
    floor: float = 0.1
    law: str = "trapezoid"
    decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = 0.1
    clip: float = 1.0
    by_density: float = 0.0

    def __post_init__(self) -> None:
        if not self.lr > 0:
            raise MstError(f"lr: got {self.lr}, expected a number above 0; 1e-3 is usual")
        if not 0 <= self.warm_up < 1:
            raise MstError(f"warm_up: got {self.warm_up}, expected a share below 1; 0.1 is usual")
        if self.law not in RATE_LAWS:
            raise unknown_choice("law of the learning rate", self.law, RATE_LAWS)
        if not 0 < self.decay <= 1 - self.warm_up:
            raise MstError(
                f"decay: got {self.decay}, expected above 0 and up to {1 - self.warm_up:g}, "
                "what the warm-up leaves; 0.1 is usual"
            )
        if not 0 <= self.by_density <= 1:
            raise MstError(
                f"by_density: got {self.by_density}, expected a power from 0 (one learning rate "
                "for all layers) to 1 (rate divided by the density); 0.5 is usual"
            )


@dataclass(frozen=True)
class PretrainConfig:
    """A pre-training run.

    Attributes:
        shape: The model.
        sparse: What is sparse.
        adam: The optimiser.
        batch: Windows of an update.
        micro_batch: Windows whose gradients are taken at once; they divide the batch.
        backend: ``masked`` (any device) or ``compiled`` (processor).
        device: ``cpu`` or ``cuda``.
        repeat: Whether text may be read more than once.
    """

    shape: GptShape = field(default_factory=GptShape)
    sparse: SparseSettings = field(default_factory=SparseSettings)
    adam: AdamSettings = field(default_factory=AdamSettings)
    batch: int = 16
    micro_batch: int = 16
    backend: Backend = "masked"
    device: str = "cpu"
    repeat: bool = False

    def __post_init__(self) -> None:
        check_at_least("batch", self.batch, 1)
        check_at_least("micro_batch", self.micro_batch, 1)
        if self.batch % self.micro_batch:
            raise MstError(
                f"micro_batch: got {self.micro_batch}, expected a divisor of the batch "
                f"{self.batch}; gradients are the mean over equal parts"
            )
        if self.backend not in BACKENDS:
            raise unknown_choice("backend", self.backend, BACKENDS)
        if self.backend == "compiled" and not self.device.startswith("cpu"):
            raise MstError(
                f"backend compiled runs on the processor, got device {self.device!r}; use "
                "--device cpu, or --backend masked"
            )
        if self.sparse.phases:
            settings = self.sparse
            check_pattern(settings.pattern, self.shape.context, settings.window, settings.stride)
        self._check_blocks()

    def _check_blocks(self) -> None:
        if self.sparse.unit != "block4" or not self.sparse.phases:
            return
        for name, value in (("width", self.shape.width), ("hidden", self.shape.inner)):
            if value % 4:
                raise MstError(
                    f"unit block4: {name} is {value}, expected a multiple of 4; take "
                    f"{value + 4 - value % 4}, or unit free"
                )

    @property
    def tokens_per_update(self) -> int:
        """Tokens that one update learns from."""
        return self.batch * self.shape.context

    def updates(self, tokens: int) -> int:
        """Updates in so many tokens.

        Raises:
            MstError: There is not one.
        """
        if tokens < self.tokens_per_update:
            raise MstError(
                f"tokens: got {tokens:,}, expected at least the {self.tokens_per_update:,} of one "
                "update; give more, or a smaller batch"
            )
        return tokens // self.tokens_per_update

    def plain(self) -> dict[str, Any]:
        """The settings as JSON values."""
        values = dataclasses.asdict(self)
        values["sparse"]["phases"] = [phase.plain() for phase in self.sparse.phases]
        return values

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> PretrainConfig:
        """Settings from what :meth:`plain` gave, also after JSON."""
        sparse, adam = dict(values["sparse"]), dict(values["adam"])
        sparse["phases"] = tuple(Phase(**phase) for phase in sparse["phases"])
        adam["betas"] = tuple(adam["betas"])
        adam.setdefault("law", "cosine")  # runs from before there was a choice
        adam["by_density"] = float(adam["by_density"])  # it was a flag, for a power of 1
        parts = {
            "shape": GptShape(**values["shape"]),
            "sparse": SparseSettings(**sparse),
            "adam": AdamSettings(**adam),
        }
        return cls(**{**values, **parts})
