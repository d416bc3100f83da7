"""The networks in NumPy: the agents' pointers, which score each choice.

A kind of parameter has one network, whatever the dimension: the context goes through two hidden
layers to a query and a direct weight per feature; a choice's score is ``v . relu(W f + query) +
f . direct`` (a pointer network's additive attention, Vinyals et al., 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.pretrained.decisions import KINDS
from mapper.pretrained.seen_records import CHOICE_FEATURES, CONTEXT_FEATURES, POINTER
from marl_common import Float32Array

Weights = dict[str, Float32Array]
"""Arrays by name, ``KIND.LAYER``."""

HIDDEN = 96
ROWS = 32


def shapes(hidden: int = HIDDEN) -> dict[str, tuple[int, ...]]:
    """Shape of every array of the networks, by name."""
    one = {
        "context1.weight": (CONTEXT_FEATURES, hidden),
        "context1.bias": (hidden,),
        "context2.weight": (hidden, hidden),
        "context2.bias": (hidden,),
        "query.weight": (hidden, POINTER),
        "query.bias": (POINTER,),
        "direct.weight": (hidden, CHOICE_FEATURES),
        "direct.bias": (CHOICE_FEATURES,),
        "choice.weight": (CHOICE_FEATURES, POINTER),
        "pointer": (POINTER,),
    }
    return {f"{kind}.{name}": shape for kind in KINDS for name, shape in one.items()}


def fresh(rng: np.random.Generator, hidden: int = HIDDEN) -> Weights:
    """Untrained networks: small scores, so that every legal choice is about as likely."""
    weights = {}
    for name, shape in shapes(hidden).items():
        scale = 1.0 / np.sqrt(shape[0])
        if name.endswith((".bias", "pointer")) or ".direct." in name:
            scale *= 0.1
        weights[name] = rng.normal(0.0, scale, shape).astype(np.float32)
    return weights


def scores(
    weights: Weights, kind: str, context: Float32Array, choices: NDArray[Any]
) -> Float32Array:
    """``(B, C)`` score of every choice, -inf where it is not legal; they stand in `choices` too.

    Args:
        weights: All networks.
        kind: Whose network, one of `KINDS`.
        context: ``(B, CONTEXT_FEATURES)``.
        choices: ``(B, C)`` records `seen_records.ChoiceRow`.
    """
    from mapper.pretrained.kernel import rectify_rows, score_rows

    def own(name: str) -> Float32Array:
        return weights[f"{kind}.{name}"]

    hidden = context
    for name in ("context1", "context2"):
        hidden = _product(hidden, own(f"{name}.weight"))
        rectify_rows(hidden, own(f"{name}.bias"), *hidden.shape)
    query, direct = _product(hidden, own("query.weight")), _product(hidden, own("direct.weight"))
    fixed = own("query.bias"), own("direct.bias"), own("choice.weight"), own("pointer")
    score_rows(choices, query, direct, *fixed, np.empty(POINTER, np.float32), *choices.shape)
    return choices["score"]


def _product(x: Float32Array, weight: Float32Array) -> Float32Array:
    """A matrix product, a few rows at a time.

    So small, it stays on one thread of the BLAS: waking others costs more than it saves.
    """
    y = np.empty((len(x), weight.shape[1]), np.float32)
    for low in range(0, len(x), ROWS):
        np.matmul(x[low : low + ROWS], weight, out=y[low : low + ROWS])
    return y
