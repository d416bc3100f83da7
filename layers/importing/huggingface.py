"""Transformers by their ``config.json`` alone: BERT, GPT-2, Llama and ViT."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from common import suggest
from layers.dims import LayerKind
from layers.importing.onnx_model import attention
from layers.importing.report import Imported, ImportingError
from layers.layer import Layer

TOKENS = 128
"""Length of a sequence, where none is given."""


def from_huggingface(path: str | Path, tokens: int | None = None, batch: int = 1) -> Imported:
    """Read the layers that a model's configuration describes.

    Args:
        path: A ``config.json`` of the transformers library.
        tokens: Length of the sequence; `TOKENS` by default. A ViT's follows from its image.
        batch: Sequences or images at once.

    Raises:
        ImportingError: The file is missing or no configuration, a field is missing, or the model
            is of another type.
    """
    path = Path(path)
    config = _read(path)
    kind = str(config.get("model_type", ""))
    if kind not in READERS:
        raise ImportingError(
            f"{path}: model_type {kind!r} is not known; expected one of "
            f"{', '.join(READERS)}.{suggest(kind, READERS)}"
        )
    found = Imported()
    try:
        for layer in READERS[kind](config, TOKENS if tokens is None else tokens, batch):
            found.add(layer)
    except KeyError as error:
        raise ImportingError(f"{path}: {error.args[0]} is missing") from None
    except (TypeError, ValueError) as error:
        raise ImportingError(f"{path}: {error}") from None
    return found.checked(str(path))


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ImportingError(f"{path}: not found; expected a config.json") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ImportingError(f"{path}: cannot be read as JSON: {error}") from None
    if not isinstance(data, dict):
        raise ImportingError(f"{path}: expected the fields of a config.json")
    return data


def _linear(name: str, rows: int, inputs: int, outputs: int) -> Layer:
    return Layer.gemm(name, M=rows, N=outputs, K=inputs)


def _block(
    name: str,
    batch: int,
    rows: int,
    width: int,
    heads: int,
    inner: int,
    kv_heads: int | None = None,
) -> list[Layer]:
    """Attention and the two products of a feed-forward block; keys and values may be fewer."""
    head = width // heads
    kv = head * (heads if kv_heads is None else kv_heads)
    return [
        _linear(f"{name}.query", batch * rows, width, width),
        _linear(f"{name}.key", batch * rows, width, kv),
        _linear(f"{name}.value", batch * rows, width, kv),
        *attention(f"{name}.attention", batch * heads, rows, rows, head, head),
        _linear(f"{name}.output", batch * rows, width, width),
        _linear(f"{name}.up", batch * rows, width, inner),
        _linear(f"{name}.down", batch * rows, inner, width),
    ]


def _bert(config: Mapping[str, Any], tokens: int, batch: int) -> list[Layer]:
    width, inner = config["hidden_size"], config["intermediate_size"]
    found: list[Layer] = []
    for number in range(config["num_hidden_layers"]):
        heads = config["num_attention_heads"]
        found += _block(f"layer{number}", batch, tokens, width, heads, inner)
    found.append(_linear("pooler", batch, width, width))
    return found


def _gpt2(config: Mapping[str, Any], tokens: int, batch: int) -> list[Layer]:
    width = config["n_embd"]
    inner = config.get("n_inner") or 4 * width
    found: list[Layer] = []
    for number in range(config["n_layer"]):
        found += _block(f"h{number}", batch, tokens, width, config["n_head"], inner)
    found.append(_linear("lm_head", batch * tokens, width, config["vocab_size"]))
    return found


def _llama(config: Mapping[str, Any], tokens: int, batch: int) -> list[Layer]:
    width, inner, heads = (
        config["hidden_size"],
        config["intermediate_size"],
        config["num_attention_heads"],
    )
    kv_heads = config.get("num_key_value_heads") or heads
    found: list[Layer] = []
    for number in range(config["num_hidden_layers"]):
        name = f"layer{number}"
        found += _block(name, batch, tokens, width, heads, inner, kv_heads)
        found.append(_linear(f"{name}.gate", batch * tokens, width, inner))
    found.append(_linear("lm_head", batch * tokens, width, config["vocab_size"]))
    return found


def _vit(config: Mapping[str, Any], _tokens: int, batch: int) -> list[Layer]:
    width, patch, image = config["hidden_size"], config["patch_size"], config["image_size"]
    side = image // patch
    tokens = side * side + 1  # and the class token
    found = [
        Layer(
            "patches",
            LayerKind.CONV,
            K=width,
            C=config.get("num_channels", 3),
            Y=side * patch,
            X=side * patch,
            R=patch,
            S=patch,
            stride=patch,
            N=batch,
        )
    ]
    for number in range(config["num_hidden_layers"]):
        heads, inner = config["num_attention_heads"], config["intermediate_size"]
        found += _block(f"layer{number}", batch, tokens, width, heads, inner)
    return found


READERS: dict[str, Callable[[Mapping[str, Any], int, int], list[Layer]]] = {
    "bert": _bert,
    "gpt2": _gpt2,
    "llama": _llama,
    "vit": _vit,
}
"""The reader of each `model_type`."""
