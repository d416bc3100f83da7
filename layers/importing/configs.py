"""The fields of a transformer's ``config.json`` that say what its layers are, by model type."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator

from layers.importing.decoder import (
    FeedForward,
    GroupedAttention,
    LanguageModel,
    LatentAttention,
    Linear,
    MixtureOfExperts,
    TransformerBlock,
)
from layers.importing.forward_pass import ForwardPass
from layers.layer import MAX_EXTENT
from marl_common import brief

Size = Annotated[int, Field(strict=True, ge=1, le=MAX_EXTENT)]
Count = Annotated[int, Field(strict=True, ge=0, le=MAX_EXTENT)]
Blocks = Annotated[int, Field(strict=True, ge=1, le=10_000)]
SHAPING = (
    *("num_key_value_heads", "head_dim", "attention_bias", "mlp_bias", "layer_types"),
    *("sliding_window", "use_sliding_window", "attention_chunk_size", "add_cross_attention"),
    *("is_encoder_decoder", "num_experts", "num_local_experts", "n_routed_experts"),
    *("num_experts_per_tok", "n_shared_experts", "shared_expert_intermediate_size"),
    *("moe_intermediate_size", "first_k_dense_replace", "mlp_only_layers", "kv_lora_rank"),
    *("q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
)
"""Fields that change a model's layers: refused where the model type's reader does not know them."""


class Config(BaseModel):
    """Fields that all models have; those that say nothing of the layers are passed over."""

    model_config = ConfigDict(extra="ignore")

    hidden_size: Size
    num_hidden_layers: Blocks
    num_attention_heads: Size
    intermediate_size: Size

    @model_validator(mode="before")
    @classmethod
    def _knows_what_shapes_layers(cls, data: Any) -> Any:
        for name in SHAPING:
            if data.get(name) and name not in cls.model_fields:
                raise ValueError(
                    f"{name}: got {brief(data[name])}, which changes the layers; expected none in "
                    f"a config of model_type {data.get('model_type')}"
                )
        return data

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        given = getattr(self, "head_dim", None)
        if given is None and self.hidden_size % self.num_attention_heads:
            heads, width = (
                type(self).model_fields[name].alias or name
                for name in ("num_attention_heads", "hidden_size")
            )
            raise ValueError(
                f"{heads}: got {self.num_attention_heads}, expected heads that split {width} "
                f"{self.hidden_size}"
            )
        if self.num_attention_heads % self.key_heads:
            raise ValueError(
                f"num_key_value_heads: got {self.key_heads}, expected heads that split "
                f"num_attention_heads {self.num_attention_heads}"
            )
        return self

    @property
    def key_heads(self) -> int:
        """Heads that have keys and values of their own."""
        return getattr(self, "num_key_value_heads", None) or self.num_attention_heads

    @property
    def head(self) -> int:
        """Features of a head."""
        return getattr(self, "head_dim", None) or self.hidden_size // self.num_attention_heads

    def block(self, number: int) -> TransformerBlock:
        """The block of a number, counted from 0; this one is BERT's and ViT's."""
        width, heads = self.hidden_size, self.num_attention_heads
        return TransformerBlock(
            GroupedAttention(width, heads, self.key_heads, self.head),
            FeedForward(width, self.intermediate_size, gated=False),
            norm_first=isinstance(self, VitConfig),
        )

    def blocks(self) -> tuple[TransformerBlock, ...]:
        """All blocks."""
        return tuple(self.block(number) for number in range(self.num_hidden_layers))


class VitConfig(Config):
    """A vision transformer."""

    patch_size: Size
    image_size: Size
    num_channels: Size = 3

    @model_validator(mode="after")
    def _patches_fit(self) -> Self:
        if self.patch_size > self.image_size:
            raise ValueError(
                f"patch_size: got {self.patch_size}, expected at most image_size {self.image_size}"
            )
        return self


class LanguageConfig(Config):
    """A language model: RMS norms, and a head that may be tied to the token embedding."""

    vocab_size: Size
    tie_word_embeddings: StrictBool = False

    @property
    def outside(self) -> int:
        """Parameters of the last normalisation, and of embeddings but for the tokens'."""
        return self.hidden_size

    def language_model(self, run: ForwardPass) -> LanguageModel:
        """The model in a forward pass."""
        tokens = 0 if self.tie_word_embeddings else self.vocab_size * self.hidden_size
        head = Linear("lm_head", self.hidden_size, self.vocab_size)
        return LanguageModel(self.blocks(), head, tokens + self.outside, run)


class Gpt2Config(LanguageConfig):
    """A GPT-2, whose fields have names of their own; all its layers have biases but the head."""

    hidden_size: Size = Field(alias="n_embd")
    num_hidden_layers: Blocks = Field(alias="n_layer")
    num_attention_heads: Size = Field(alias="n_head")
    intermediate_size: Size | None = Field(alias="n_inner", default=None)  # type: ignore[assignment]
    n_positions: Size = 1024
    tie_word_embeddings: StrictBool = True

    @property
    def outside(self) -> int:
        """Parameters of the last normalisation and of the positions' embedding."""
        return (2 + self.n_positions) * self.hidden_size

    def block(self, number: int) -> TransformerBlock:
        """A block without a gate; its two normalisations have biases."""
        width, heads = self.hidden_size, self.num_attention_heads
        inner = self.intermediate_size or 4 * width
        return TransformerBlock(
            GroupedAttention(width, heads, heads, self.head, bias=True, out_bias=True),
            FeedForward(width, inner, gated=False, bias=True),
            norms=4 * width,
        )


class DecoderConfig(LanguageConfig):
    """A decoder of gated blocks, whose heads may share keys and values and be of any width.

    What model types differ in is a property or a method here.
    """

    num_key_value_heads: Size | None = None
    head_dim: Size | None = None

    @property
    def biases(self) -> tuple[bool, bool, bool]:
        """Whether query, key and value, the output projection, and the gated block have biases."""
        return (False, False, False)

    @property
    def norms(self) -> int:
        """Parameters of a block's normalisations."""
        return 2 * self.hidden_size

    def window(self, number: int) -> int | None:
        """Keys that a query of a block sees; None for all."""
        return None

    def attention(self, number: int) -> GroupedAttention | LatentAttention:
        """The attention of a block."""
        heads = (self.num_attention_heads, self.key_heads, self.head)
        return GroupedAttention(self.hidden_size, *heads, *self.biases[:2], self.window(number))

    def feed_forward(self, number: int) -> FeedForward | MixtureOfExperts:
        """The feed-forward part of a block."""
        return FeedForward(self.hidden_size, self.intermediate_size, bias=self.biases[2])

    def block(self, number: int) -> TransformerBlock:
        """Attention, a feed-forward part, and what normalises before each."""
        return TransformerBlock(self.attention(number), self.feed_forward(number), self.norms)


class LlamaConfig(DecoderConfig):
    """A Llama."""

    attention_bias: StrictBool = False
    mlp_bias: StrictBool = False

    @property
    def biases(self) -> tuple[bool, bool, bool]:
        """As the config says."""
        return (self.attention_bias, self.attention_bias, self.mlp_bias)


class MistralConfig(DecoderConfig):
    """A Mistral: queries see a window of keys."""

    num_key_value_heads: Size | None = 8
    sliding_window: Size | None = 4096

    def window(self, number: int) -> int | None:
        """The same for all blocks."""
        return self.sliding_window


class MixtralConfig(MistralConfig):
    """A Mixtral: a Mistral with experts."""

    sliding_window: Size | None = None
    num_local_experts: Size = 8
    num_experts_per_tok: Size = 2

    @model_validator(mode="after")
    def _experts_suffice(self) -> Self:
        _check_experts(self.num_experts_per_tok, "num_local_experts", self.num_local_experts)
        return self

    def feed_forward(self, number: int) -> FeedForward | MixtureOfExperts:
        """Experts."""
        sizes = (self.hidden_size, self.intermediate_size)
        return MixtureOfExperts(*sizes, self.num_local_experts, self.num_experts_per_tok)


class Qwen2Config(DecoderConfig):
    """A Qwen2: queries, keys and values have biases, and some blocks may have a window."""

    num_key_value_heads: Size | None = 32
    use_sliding_window: StrictBool = False
    sliding_window: Size | None = 4096
    max_window_layers: Count = 28
    layer_types: list[Literal["full_attention", "sliding_attention"]] | None = None

    @model_validator(mode="after")
    def _types_are_of_all_blocks(self) -> Self:
        types, blocks = self.layer_types, self.num_hidden_layers
        if types is not None and len(types) != blocks:
            raise ValueError(f"layer_types: got {len(types)} types, expected one a block, {blocks}")
        if types is not None and "sliding_attention" in types and not self.use_sliding_window:
            raise ValueError(
                "layer_types: got sliding_attention with use_sliding_window false, expected true"
            )
        return self

    @property
    def biases(self) -> tuple[bool, bool, bool]:
        """Always the same."""
        return (True, False, False)

    def window(self, number: int) -> int | None:
        """The window of the blocks that the config names, or that come late."""
        if not self.use_sliding_window:
            return None
        if self.layer_types is not None:
            slides = self.layer_types[number] == "sliding_attention"
        else:
            slides = number >= self.max_window_layers
        return self.sliding_window if slides else None


class Qwen3Config(Qwen2Config):
    """A Qwen3: queries and keys of a head are normalised, biases are an option."""

    head_dim: Size | None = 128
    attention_bias: StrictBool = False

    @property
    def biases(self) -> tuple[bool, bool, bool]:
        """As the config says."""
        return (self.attention_bias, self.attention_bias, False)

    @property
    def norms(self) -> int:
        """With those of queries and keys."""
        return 2 * self.hidden_size + 2 * self.head


class DeepseekV3Config(DecoderConfig):
    """A DeepSeek-V3: latent attention, and experts after the first dense blocks.

    Its module that predicts further tokens (`num_nextn_predict_layers`) is no part of a pass.
    """

    attention_bias: StrictBool = False
    q_lora_rank: Size | None = 1536
    kv_lora_rank: Size = 512
    qk_nope_head_dim: Size = 128
    qk_rope_head_dim: Size = 64
    v_head_dim: Size = 128
    moe_intermediate_size: Size = 2048
    moe_layer_freq: Literal[1] = 1
    n_routed_experts: Size = 256
    n_shared_experts: Size = 1
    num_experts_per_tok: Size = 8
    first_k_dense_replace: Count = 3

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.key_heads != self.num_attention_heads:
            raise ValueError(
                f"num_key_value_heads: got {self.key_heads}, expected num_attention_heads "
                f"{self.num_attention_heads}: latent attention has keys for every head"
            )
        _check_experts(self.num_experts_per_tok, "n_routed_experts", self.n_routed_experts)
        return self

    @property
    def norms(self) -> int:
        """With those of the latent vectors."""
        return 2 * self.hidden_size + (self.q_lora_rank or 0) + self.kv_lora_rank

    def attention(self, number: int) -> GroupedAttention | LatentAttention:
        """Latent attention."""
        return LatentAttention(
            self.hidden_size, self.num_attention_heads, self.q_lora_rank, self.kv_lora_rank,
            self.qk_nope_head_dim, self.qk_rope_head_dim, self.v_head_dim, self.attention_bias,
        )  # fmt: skip

    def feed_forward(self, number: int) -> FeedForward | MixtureOfExperts:
        """A gated block in the first ones, experts and a shared block in the others."""
        if number < self.first_k_dense_replace:
            return super().feed_forward(number)
        width, inner = self.hidden_size, self.moe_intermediate_size
        shared = FeedForward(width, inner * self.n_shared_experts)
        return MixtureOfExperts(
            width, inner, self.n_routed_experts, self.num_experts_per_tok, shared
        )


def _check_experts(met: int, name: str, total: int) -> None:
    if met > total:
        raise ValueError(f"num_experts_per_tok: got {met}, expected at most {name} {total}")
