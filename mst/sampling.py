"""Text written by a model, a byte at a time."""

from __future__ import annotations

import torch

from mst.config import BYTES
from mst.errors import MstError
from mst.model import SparseGpt
from runs import make_generator


@torch.no_grad()
def sample(
    model: SparseGpt, prompt: bytes, length: int, temperature: float = 0.8, seed: int = 0
) -> bytes:
    """Go on from a prompt.

    Args:
        model: The model; it sees the last T bytes.
        prompt: How the text begins; at least a byte.
        length: Bytes to write.
        temperature: Divides the logits; 0 takes the likeliest byte.
        seed: Draws the bytes.

    Returns:
        Prompt and continuation.

    Raises:
        MstError: An empty prompt, or a temperature below 0.
    """
    if not prompt:
        raise MstError("prompt: got an empty text, expected a byte at least; try 'def '")
    if temperature < 0:
        raise MstError(f"temperature: got {temperature}, expected 0 or more; 0.8 is usual")
    rng = make_generator(seed)
    text = list(prompt)
    for _ in range(length):
        seen = torch.tensor([text[-model.shape.context :]], device=model.positions.device)
        logits = model(seen)[-1, :BYTES].double().cpu()
        if temperature == 0:
            text.append(int(logits.argmax()))
        else:
            chances = torch.softmax(logits / temperature, 0).cumsum(0).numpy()
            text.append(int(chances.searchsorted(rng.random() * chances[-1])))
    return bytes(text)
