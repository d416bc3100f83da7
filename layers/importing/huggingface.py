"""Transformers by their ``config.json`` alone: language models, BERT and ViT."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from layers.dims import LayerKind
from layers.graph_builder import GraphBuilder
from layers.importing.configs import (
    Config,
    DeepseekV3Config,
    Gpt2Config,
    LanguageConfig,
    LlamaConfig,
    MistralConfig,
    MixtralConfig,
    Qwen2Config,
    Qwen3Config,
    VitConfig,
)
from layers.importing.decoder import Linear
from layers.importing.errors import ImportingError
from layers.importing.forward_pass import TOKENS, ForwardPass
from layers.importing.report import Imported
from layers.layer import Layer, LayerError
from marl_common import brief, one_of

LARGEST_FILE = 1 << 24
"""Bytes of a config.json; those of the transformers library have some thousands."""
CONFIGS: dict[str, type[Config]] = {
    "bert": Config,
    "deepseek_v3": DeepseekV3Config,
    "gpt2": Gpt2Config,
    "llama": LlamaConfig,
    "mistral": MistralConfig,
    "mixtral": MixtralConfig,
    "qwen2": Qwen2Config,
    "qwen3": Qwen3Config,
    "vit": VitConfig,
}
"""Fields of each `model_type`."""


def from_huggingface(
    path: str | Path, tokens: int | None = None, batch: int = 1, cache: int = 0
) -> Imported:
    """Read the layers that a model's configuration describes.

    Args:
        path: A ``config.json`` of the transformers library.
        tokens: New tokens of each sequence; `TOKENS` by default. A ViT's follow from its image.
        batch: Sequences or images at once.
        cache: Tokens of each sequence that a language model has cached.

    Raises:
        ImportingError: The file is missing or no configuration, a field is missing or wrong, the
            model is of another type, or `tokens` or `cache` are given for a model without them.
    """
    path = Path(path)
    fields = _read(path)
    if tokens is not None and fields.get("model_type") == "vit":
        raise ImportingError(f"{path}: --tokens: a vit has as many as its image has patches")
    run = ForwardPass(TOKENS if tokens is None else tokens, cache, batch)
    return from_config(fields, run, str(path))


def from_config(
    fields: Mapping[str, Any], run: ForwardPass, source: str, prefix: str = ""
) -> Imported:
    """Read the layers of a configuration whose fields are known.

    Args:
        fields: Those of a ``config.json``.
        run: The forward pass.
        source: What messages call the configuration.
        prefix: What the layers' names begin with.

    Raises:
        ImportingError: A field is missing or wrong, the model is of another type, or a model that
            is no language model has a cache.
    """
    kind = str(fields.get("model_type", ""))
    if kind not in CONFIGS:
        raise ImportingError(
            f"{source}: model_type {brief(kind)} is not known; expected {one_of(CONFIGS, kind)}"
        )
    form = CONFIGS[kind]
    if run.cache and not issubclass(form, LanguageConfig):
        known = [name for name, one in CONFIGS.items() if issubclass(one, LanguageConfig)]
        raise ImportingError(
            f"{source}: cache: a {kind} has none, expected a language model: {', '.join(known)}"
        )
    found = Imported()
    try:
        config = form.model_validate(fields)
        if isinstance(config, LanguageConfig):
            found.language = config.language_model(run)
            found.language.draw(found.nodes, prefix, "h" if kind == "gpt2" else "layer")
        else:
            _draw_encoder(found.nodes, config, run)
    except ValidationError as error:
        raise ImportingError(f"{source}: {_said(error)}") from None
    except LayerError as error:
        raise ImportingError(f"{source}: {error}") from None
    return found.checked(source)


def _draw_encoder(graph: GraphBuilder, config: Config, run: ForwardPass) -> None:
    """The nodes of a BERT or a ViT."""
    width = config.hidden_size
    if isinstance(config, VitConfig):
        patch = config.patch_size
        side = config.image_size // patch
        pixels = (run.batch, config.num_channels, side * patch, side * patch)
        layer = Layer(
            "patches", LayerKind.CONV, K=width, C=config.num_channels,
            Y=side * patch, X=side * patch, R=patch, S=patch, stride=patch, N=run.batch,
        )  # fmt: skip
        patches = graph.mac(layer, graph.source("image", pixels))
        run = replace(run, tokens=side * side + 1)  # and the class token
        at = graph.join("tokens", (patches,), (run.new_tokens, width))
    else:
        at = graph.source("embedded", (run.new_tokens, width))
    for number, block in enumerate(config.blocks()):
        at = block.draw(graph, f"layer{number}.", run, at)
    if not isinstance(config, VitConfig):
        first = graph.part("first", at, (run.batch, width))
        graph.mac(Linear("pooler", width, width).layer("", run.batch), first)


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
