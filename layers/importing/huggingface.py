"""Transformers by their ``config.json`` alone: BERT, GPT-2, Llama and ViT."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from common import brief, suggest
from layers.dims import LayerKind
from layers.importing.building import attention
from layers.importing.report import Imported, ImportingError
from layers.layer import MAX_EXTENT, Layer, LayerError

TOKENS = 128
"""Length of a sequence, where none is given."""
LARGEST_FILE = 1 << 24
"""Bytes of a config.json; those of the transformers library have some thousands."""
Size = Annotated[int, Field(strict=True, ge=1, le=MAX_EXTENT)]
Blocks = Annotated[int, Field(strict=True, ge=1, le=10_000)]


def from_huggingface(path: str | Path, tokens: int | None = None, batch: int = 1) -> Imported:
    """Read the layers that a model's configuration describes.

    Args:
        path: A ``config.json`` of the transformers library.
        tokens: Length of the sequence; `TOKENS` by default. A ViT's follows from its image.
        batch: Sequences or images at once.

    Raises:
        ImportingError: The file is missing or no configuration, a field is missing or wrong, the
            model is of another type, or `tokens` are given for images.
    """
    path = Path(path)
    fields = _read(path)
    kind = str(fields.get("model_type", ""))
    if kind not in CONFIGS:
        raise ImportingError(
            f"{path}: model_type {brief(kind)} is not known; expected one of "
            f"{', '.join(CONFIGS)}.{suggest(kind, CONFIGS)}"
        )
    form, reader = CONFIGS[kind]
    if tokens is not None and form is VitConfig:
        raise ImportingError(f"{path}: --tokens: a {kind} has as many as its image has patches")
    found = Imported()
    try:
        length = TOKENS if tokens is None else tokens
        for layer in reader(form.model_validate(fields), length, batch):
            found.add(layer)
    except ValidationError as error:
        raise ImportingError(f"{path}: {_said(error)}") from None
    except LayerError as error:
        raise ImportingError(f"{path}: {error}") from None
    return found.checked(str(path))


def _said(error: ValidationError) -> str:
    """The first fault of a configuration in one line."""
    faults = error.errors(include_url=False)
    missing = [str(fault["loc"][0]) for fault in faults if fault["type"] == "missing"]
    if missing:
        return f"{', '.join(missing)} is missing; expected a whole number"
    fault = faults[0]
    name = ".".join(map(str, fault["loc"]))
    message = fault["msg"].removeprefix("Value error, ")
    return f"{name}: got {brief(fault['input'])}, {message}" if name else message


def _read(path: Path) -> dict[str, Any]:
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST_FILE:
            raise ImportingError(
                f"{path}: no file of at most {LARGEST_FILE >> 20} MiB; expected a config.json"
            )
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ImportingError(f"{path}: not found; expected a config.json") from None
    except ImportingError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise ImportingError(f"{path}: cannot be read as JSON: {error}") from None
    if not isinstance(data, dict):
        raise ImportingError(f"{path}: expected the fields of a config.json")
    return data


class Config(BaseModel):
    """Fields that all models have; others of a config.json say nothing of its layers."""

    model_config = ConfigDict(extra="ignore")

    hidden_size: Size
    num_hidden_layers: Blocks
    num_attention_heads: Size
    intermediate_size: Size

    @model_validator(mode="after")
    def _heads_split_the_width(self) -> Self:
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
        shared = getattr(self, "num_key_value_heads", None) or self.num_attention_heads
        if self.num_attention_heads % shared:
            raise ValueError(
                f"num_key_value_heads: got {shared}, expected heads that split "
                f"num_attention_heads {self.num_attention_heads}"
            )
        return self


class BertConfig(Config):
    """A BERT."""


class Gpt2Config(Config):
    """A GPT-2, whose fields have names of their own."""

    hidden_size: Size = Field(alias="n_embd")
    num_hidden_layers: Blocks = Field(alias="n_layer")
    num_attention_heads: Size = Field(alias="n_head")
    intermediate_size: Size | None = Field(alias="n_inner", default=None)  # type: ignore[assignment]
    vocab_size: Size


class LlamaConfig(Config):
    """A Llama: heads may share keys and values, and be wider than their share of the width."""

    vocab_size: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None


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


def _linear(name: str, rows: int, inputs: int, outputs: int) -> Layer:
    return Layer.gemm(name, M=rows, N=outputs, K=inputs)


def _blocks(config: Config, batch: int, rows: int, name: str = "layer") -> list[Layer]:
    """Attention and the products of a feed-forward block, as often as there are."""
    width, heads = config.hidden_size, config.num_attention_heads
    inner = config.intermediate_size or 4 * width
    head = getattr(config, "head_dim", None) or width // heads
    shared = getattr(config, "num_key_value_heads", None) or heads
    found: list[Layer] = []
    for number in range(config.num_hidden_layers):
        block = f"{name}{number}"
        found += [
            _linear(f"{block}.query", batch * rows, width, head * heads),
            _linear(f"{block}.key", batch * rows, width, head * shared),
            _linear(f"{block}.value", batch * rows, width, head * shared),
            *attention(f"{block}.attention", batch, heads, rows, rows, head, head, shared),
            _linear(f"{block}.output", batch * rows, head * heads, width),
            _linear(f"{block}.up", batch * rows, width, inner),
            _linear(f"{block}.down", batch * rows, inner, width),
        ]
        if isinstance(config, LlamaConfig):
            found.append(_linear(f"{block}.gate", batch * rows, width, inner))
    return found


def _bert(config: Any, tokens: int, batch: int) -> list[Layer]:
    width = config.hidden_size
    return [*_blocks(config, batch, tokens), _linear("pooler", batch, width, width)]


def _language(config: Any, tokens: int, batch: int) -> list[Layer]:
    blocks = _blocks(config, batch, tokens, "h" if isinstance(config, Gpt2Config) else "layer")
    head = _linear("lm_head", batch * tokens, config.hidden_size, config.vocab_size)
    return [*blocks, head]


def _vit(config: Any, _tokens: int, batch: int) -> list[Layer]:
    patch = config.patch_size
    side = config.image_size // patch
    patches = Layer(
        "patches", LayerKind.CONV, K=config.hidden_size, C=config.num_channels,
        Y=side * patch, X=side * patch, R=patch, S=patch, stride=patch, N=batch,
    )  # fmt: skip
    # and the class token
    return [patches, *_blocks(config, batch, side * side + 1)]


Reader = Callable[[Any, int, int], list[Layer]]
CONFIGS: dict[str, tuple[type[Config], Reader]] = {
    "bert": (BertConfig, _bert),
    "gpt2": (Gpt2Config, _language),
    "llama": (LlamaConfig, _language),
    "vit": (VitConfig, _vit),
}
"""Fields and reader of each `model_type`."""
