"""Everything that defines a pre-training run but its seed and length.

Fields made by :func:`option` are options of commands and of configuration files.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from marl_common import check_settings, option
from mst.attention import PATTERNS, check_pattern
from mst.errors import MstError
from mst.phases import Phase, check_phases

if TYPE_CHECKING:
    from sparse_training import Backend, SparsityConfig, Unit

BYTES = 256
"""Tokens of text read as bytes."""
MOST_LONG, MOST_DEEP, MOST_WIDE = 2**20, 1000, 2**16
"""Positions or windows, blocks or heads, and features; with more there is no memory for them."""
HEAD = "head"
"""Name of the tied head among the layers that may be sparse."""
PRESET = "preset"


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

    layers: int = option(4, "Blocks.", low=1, high=MOST_DEEP, shown=PRESET)
    width: int = option(128, "Features.", low=1, high=MOST_WIDE, shown=PRESET)
    heads: int = option(4, "Heads.", low=1, high=MOST_DEEP, shown=PRESET)
    context: int = option(256, "T.", low=1, high=MOST_LONG, shown=PRESET)
    vocabulary: int = option(
        BYTES, "Rows of the embedding.", low=BYTES, high=MOST_LONG, shown="preset, or the text's"
    )
    hidden: int | None = option(
        None, "Features inside a perceptron.", kind=int, low=1, high=4 * MOST_WIDE,
        shown="4 times the width",
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_settings(self, MstError)
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

    def masked_shapes(self, mask_head: bool) -> dict[str, tuple[int, int]]:
        """Name -> outputs, inputs of every layer that has a mask, the head the last."""
        head = {HEAD: (self.vocabulary, self.width)} if mask_head else {}
        return {**self.linear_shapes(), **head}

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
        every: Updates between topology steps.
        drop: z, the share of weights that a phase's first topology step drops.
        growth: A rule of :data:`mst.rules.GROWTH`, or ``module:Class``.
        unit: ``free`` weights or 4x4 blocks, ``block4``.
        rule: How layers share the weights: ``er`` or ``uniform``.
        optimizer_state: ``local``, ``local:W``, ``reset`` or ``keep``.
        faithful: As the released code: no step of the optimiser on topology steps, moments kept.
        mask_head: Whether the tied head has a mask as well.
        pattern: Attention of warm-up and ultra-sparse phase.
        window: Earlier keys that a query sees of its neighbourhood, itself included.
        stride: s of the strided and fixed patterns.
        moves: Topology steps, at least, of a phase whose density changes.
        score: By what weights are dropped: one of :data:`mst.rules.SCORES`, or
            ``module:Class``.
    """

    sparsity: float = option(0.0, "S.", shown=PRESET)
    phases: tuple[Phase, ...] = ()
    every: int = option(100, "Updates between topology steps.", low=1, high=10**9)
    drop: float = option(0.3, "z, share dropped.")
    growth: str = option("mixed", "static, set, rigl, mixed.")
    unit: Unit = option("free", "free, or block4.")
    rule: str = option("er", "er, or uniform.")
    optimizer_state: str = option("local", "local, local:W, reset, keep.")
    faithful: bool = option(
        False, "Optimiser as in the released code of MST.", "--faithful/--no-faithful"
    )
    mask_head: bool = option(
        False, "Mask the tied head.", "--mask-head/--dense-head", shown="dense-head"
    )
    pattern: str = option(
        "local+strided",
        "dense, local, strided, local+strided, fixed, blocks:SIZE, span:RAMP.",
        "--attention",
    )
    window: int = option(32, "Keys nearby.", low=1, high=MOST_LONG, shown=PRESET)
    stride: int = option(64, "s.", low=1, high=MOST_LONG, shown=PRESET)
    moves: int = option(
        10, "Topology steps, at least, of a phase whose density moves.", low=1, high=10**6
    )
    score: str = option("magnitude", "What is dropped first: magnitude, mest:L, r-sensitivity.")

    def __post_init__(self) -> None:
        self.masks()
        PATTERNS.make(self.pattern)
        check_settings(self, MstError)
        check_phases(self.phases)

    def masks(self) -> SparsityConfig:
        """The same as :mod:`sparse_training` has it.

        Raises:
            SparseTrainingError: It has no such rule, or a number is out of range.
        """
        from mst.rules import GROWTH, SCORES
        from sparse_training import SparsityConfig  # imports torch, which help does without

        return SparsityConfig(
            sparsity=self.sparsity,
            rule=self.rule,
            unit=self.unit,
            growth=GROWTH.make(self.growth),
            optimizer_state=self.optimizer_state,
            drop=self.drop,
            every=self.every,
            drop_rule=SCORES.make(self.score),
        )


DTYPES = ("float32", "bfloat16")
RATE_LAWS = ("cosine", "trapezoid")


@dataclass(frozen=True)
class AdamSettings:
    """AdamW and its learning rate, which warms up and falls.

    Attributes:
        lr: Largest learning rate.
        law: ``cosine``, or ``trapezoid``: constant, then a straight fall (Haegele et al., Scaling
            laws and compute-optimal training beyond fixed training durations, 2024).
        warm_up: Share of the updates in which it rises.
        by_density: The learning rate of sparse layers' weights is divided by the density to this
            power; 0: the same rate for all. 1 is that of Dey et al., Sparse maximal update
            parameterization, 2024.
        floor: Share of `lr` that is left at the end.
        decay: Share of the updates in which a trapezoid falls.
        betas: Adam's.
        weight_decay: Decoupled decay of matrices.
        clip: Largest norm of the gradient.
    """

    lr: float = option(1e-3, "Learning rate.", above=0, shown=PRESET)
    law: str = option(
        "trapezoid",
        "How the rate falls: trapezoid (constant, then down in the last tenth), or cosine.",
        "--lr-law",
        known=RATE_LAWS,
    )
    warm_up: float = option(0.1, "Share of the updates in which the rate rises.", "--lr-rise")
    by_density: float = option(
        0.0,
        "Divide sparse layers' rate by the density to this power.",
        "--lr-by-density",
        low=0,
        high=1,
        shown=PRESET,
    )
    floor: float = option(0.1, "Share of the rate that is left at the end.", "--lr-floor")
    decay: float = option(0.1, "Share of the updates in which a trapezoid falls.", "--lr-fall")
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = option(0.1, "Decay of matrices.")
    clip: float = option(1.0, "Largest norm of the gradient.")

    def __post_init__(self) -> None:
        check_settings(self, MstError)
        if not 0 <= self.warm_up < 1:
            raise MstError(f"warm_up: got {self.warm_up}, expected a share below 1; 0.1 is usual")
        if not 0 < self.decay <= 1 - self.warm_up:
            raise MstError(
                f"decay: got {self.decay}, expected above 0 and up to {1 - self.warm_up:g}, "
                "what the warm-up leaves; 0.1 is usual"
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
        dtype: ``float32``, or ``bfloat16``: products in it, weights and sums in float32.
        compile: Whether torch.compile translates the model.
        processes: Processes that share each batch's parts; they divide their number.
    """

    shape: GptShape = field(default_factory=GptShape)
    sparse: SparseSettings = field(default_factory=SparseSettings)
    adam: AdamSettings = field(default_factory=AdamSettings)
    batch: int = option(16, "Windows of an update.", low=1, high=MOST_LONG, shown=PRESET)
    micro_batch: int = option(16, "Windows at once.", low=1, high=MOST_LONG, shown="the batch")
    backend: Backend = option("masked", "masked, or compiled.", known=("masked", "compiled"))
    device: str = option("cpu", "cpu, cuda, or auto.")
    repeat: bool = option(False, "Read the text more than once.", "--repeat/--no-repeat")
    dtype: str = option("float32", "float32, or bfloat16 in products (autocast).", known=DTYPES)
    compile: bool = option(False, "Translate the model by torch.compile.", "--compile/--no-compile")
    processes: int = option(1, "Processes that share a batch (DDP, gloo).", low=1, high=64)

    def __post_init__(self) -> None:
        check_settings(self, MstError)
        if self.batch % self.micro_batch:
            raise MstError(
                f"micro_batch: got {self.micro_batch}, expected a divisor of the batch "
                f"{self.batch}; gradients are the mean over equal parts"
            )
        if self.batch // self.micro_batch % self.processes:
            raise MstError(
                f"processes: got {self.processes}, expected a divisor of the "
                f"{self.batch // self.micro_batch} parts of a batch; take a smaller --micro-batch"
            )
        if self.processes > 1 and not self.device.startswith("cpu"):
            raise MstError(
                f"processes: got {self.processes} on device {self.device!r}, expected 1 there; "
                "several share the batches of a processor alone: use --device cpu"
            )
        if self.backend == "compiled" and not self.device.startswith("cpu"):
            raise MstError(
                f"backend compiled runs on the processor, got device {self.device!r}; use "
                "--device cpu, or --backend masked"
            )
        if self.backend == "compiled" and self.dtype != "float32":
            raise MstError(
                f"dtype {self.dtype}: the compiled kernels multiply float32; use --backend masked, "
                "or --dtype float32"
            )
        for pattern in self.patterns:
            check_pattern(pattern, self.shape.context, self.sparse.window, self.sparse.stride)
        self._check_blocks()

    @property
    def patterns(self) -> tuple[str, ...]:
        """Attention patterns of the phases, each once."""
        return tuple(dict.fromkeys(p.pattern(self.sparse.pattern) for p in self.sparse.phases))

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
        """The settings as JSON values; those that are newer than 0.2 only where they are in use."""
        values = dataclasses.asdict(self)
        values["sparse"]["phases"] = [phase.plain() for phase in self.sparse.phases]
        for part, names in NEWER.items():
            held, usual = (values[part], SparseSettings()) if part else (values, PretrainConfig())
            for name in names:
                if held[name] == getattr(usual, name):
                    del held[name]
        return values

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> PretrainConfig:
        """Settings from what :meth:`plain` gave, also after JSON.

        Raises:
            MstError: There are others among them.
        """
        sparse, adam = dict(values["sparse"]), dict(values["adam"])
        sparse["phases"] = tuple(Phase(**phase) for phase in sparse["phases"])
        adam["betas"] = tuple(adam["betas"])
        adam.setdefault("law", "cosine")  # runs from before there was a choice
        adam["by_density"] = float(adam["by_density"])  # it was a flag, for a power of 1
        try:
            parts = {
                "shape": GptShape(**values["shape"]),
                "sparse": SparseSettings(**sparse),
                "adam": AdamSettings(**adam),
            }
            return cls(**{**values, **parts})
        except TypeError as error:
            raise MstError(
                f"settings of a run: {error}; expected those of this version. Go on with the "
                "version that wrote it"
            ) from None


NEWER = {"sparse": ("score",), "": ("dtype", "compile", "processes")}
"""Part -> settings that came after 0.2, without which the keys of older runs stay what they are."""
