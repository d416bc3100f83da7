"""Text written by a model, a token at a time."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from marl_runs import make_generator
from mst.data import Tokenizer
from mst.errors import MstError
from mst.model import SparseGpt
from mst.settings import Drawing


@torch.no_grad()
def sample(model: SparseGpt, tokenizer: Tokenizer, prompt: bytes, drawing: Drawing) -> bytes:
    """Go on from a prompt.

    Args:
        model: The model; it sees the last T tokens.
        tokenizer: Makes tokens of text and back.
        prompt: How the text begins; at least a byte.
        drawing: How.

    Returns:
        Prompt and continuation.

    Raises:
        MstError: An empty prompt.
    """
    if not prompt:
        raise MstError("prompt: got an empty text, expected a byte at least; try 'def '")
    rng = make_generator(drawing.seed)
    tokens = [int(token) for token in tokenizer.encode(prompt)]
    for _ in range(drawing.length):
        seen = torch.tensor([tokens[-model.shape.context :]], device=model.positions.device)
        logits = model(seen)[-1, : tokenizer.size].double().cpu()
        tokens.append(_drawn(logits, drawing, rng))
    return tokenizer.decode(tokens)


def _drawn(logits: Tensor, drawing: Drawing, rng: np.random.Generator) -> int:
    if drawing.temperature == 0:
        return int(logits.argmax())
    if drawing.top_k is not None and drawing.top_k < len(logits):
        least = logits.topk(drawing.top_k).values[-1]
        logits = logits.masked_fill(logits < least, -torch.inf)
    chances = torch.softmax(logits / drawing.temperature, 0).cumsum(0).numpy()
    return int(chances.searchsorted(rng.random() * chances[-1]))
