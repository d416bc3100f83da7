"""BERT-base and GPT-2 small, as matrix products.

A product per head is a GEMM with ``N`` = heads: the loop nest runs once for each head, with the
head's own operands. Embedding look-ups, softmax, normalisation and activations have no MACs here.
"""

from __future__ import annotations

from collections.abc import Iterator

from layers.layer import Layer

BLOCKS = 12
HEADS = 12
WIDTH = 768


def bert_base(tokens: int = 128) -> tuple[Layer, ...]:
    """96 layers: 8 in each of 12 encoder blocks (Devlin et al., NAACL 2019, section 3)."""
    layers = []
    for block in range(BLOCKS):
        name = f"bert_base.block{block}"
        for operand in ("query", "key", "value"):
            layers.append(Layer.gemm(f"{name}_{operand}", M=tokens, N=WIDTH, K=WIDTH))
        layers += _attention(name, tokens)
        layers.append(Layer.gemm(f"{name}_ffn1", M=tokens, N=4 * WIDTH, K=WIDTH))
        layers.append(Layer.gemm(f"{name}_ffn2", M=tokens, N=WIDTH, K=4 * WIDTH))
    return tuple(layers)


def gpt2(tokens: int = 1024, vocabulary: int = 50257) -> tuple[Layer, ...]:
    """73 layers: 6 in each of 12 decoder blocks, then the output layer over the vocabulary.

    Radford et al., 2019, table 2, smallest model. Query, key and value are one product, as in the
    authors' code; attention is counted over the full square of tokens, masked ones included.
    """
    layers = []
    for block in range(BLOCKS):
        name = f"gpt2.block{block}"
        layers.append(Layer.gemm(f"{name}_qkv", M=tokens, N=3 * WIDTH, K=WIDTH))
        layers += _attention(name, tokens)
        layers.append(Layer.gemm(f"{name}_ffn1", M=tokens, N=4 * WIDTH, K=WIDTH))
        layers.append(Layer.gemm(f"{name}_ffn2", M=tokens, N=WIDTH, K=4 * WIDTH))
    layers.append(Layer.gemm("gpt2.output", M=tokens, N=vocabulary, K=WIDTH))
    return tuple(layers)


def _attention(name: str, tokens: int) -> Iterator[Layer]:
    """Scores and context of every head, then the projection back to the block's width."""
    width = WIDTH // HEADS
    yield Layer.gemm(f"{name}_scores", M=tokens, N=tokens, K=width, batch=HEADS)
    yield Layer.gemm(f"{name}_context", M=tokens, N=width, K=tokens, batch=HEADS)
    yield Layer.gemm(f"{name}_project", M=tokens, N=WIDTH, K=WIDTH)
