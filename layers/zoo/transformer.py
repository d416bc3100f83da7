"""BERT-base and GPT-2 small, as matrix products.

A product per head is a GEMM with ``N`` = heads: the loop nest runs once for each head, with the
head's own operands. Embedding look-ups come from outside; activations are part of the product
before them.
"""

from __future__ import annotations

from collections.abc import Sequence

from layers.graph_builder import GraphBuilder
from layers.layer import Layer
from layers.network_graph import NetworkGraph

BLOCKS = 12
HEADS = 12
WIDTH = 768


def bert_base(tokens: int = 128) -> NetworkGraph:
    """96 layers: 8 in each of 12 encoder blocks (Devlin et al., NAACL 2019, section 3)."""
    graph = GraphBuilder()
    at = graph.source("bert_base.embedded", (tokens, WIDTH))
    for block in range(BLOCKS):
        name = f"bert_base.block{block}"
        operands = [
            graph.mac(Layer.gemm(f"{name}_{operand}", M=tokens, N=WIDTH, K=WIDTH), at)
            for operand in ("query", "key", "value")
        ]
        found = _attention(graph, name, tokens, operands)
        at = graph.norm(f"{name}_norm0", graph.add(f"{name}_sum0", found, at))
        found = _feed_forward(graph, name, tokens, at)
        at = graph.norm(f"{name}_norm1", graph.add(f"{name}_sum1", found, at))
    return graph.graph()


def gpt2(tokens: int = 1024, vocabulary: int = 50257) -> NetworkGraph:
    """73 layers: 6 in each of 12 decoder blocks, then the output layer over the vocabulary.

    Radford et al., 2019, table 2, smallest model. Query, key and value are one product, as in the
    authors' code, which is wanted in DRAM, for the cache; attention is counted over the full square
    of tokens, masked ones included.
    """
    graph = GraphBuilder()
    at = graph.source("gpt2.embedded", (tokens, WIDTH))
    for block in range(BLOCKS):
        name = f"gpt2.block{block}"
        before = graph.norm(f"{name}_norm0", at)
        both = graph.mac(Layer.gemm(f"{name}_qkv", M=tokens, N=3 * WIDTH, K=WIDTH), before)
        graph.results.append(both)
        operands = [
            graph.part(f"{name}_{part}", both, (tokens, WIDTH))
            for part in ("queries", "keys", "values")
        ]
        at = graph.add(f"{name}_sum0", _attention(graph, name, tokens, operands), at)
        before = graph.norm(f"{name}_norm1", at)
        at = graph.add(f"{name}_sum1", _feed_forward(graph, name, tokens, before), at)
    at = graph.norm("gpt2.norm", at)
    graph.mac(Layer.gemm("gpt2.output", M=tokens, N=vocabulary, K=WIDTH), at)
    return graph.graph()


def _attention(graph: GraphBuilder, name: str, tokens: int, operands: Sequence[str]) -> str:
    """Scores and context of every head, then the projection back to the block's width."""
    query, key, value = operands
    width = WIDTH // HEADS
    scores = Layer.gemm(f"{name}_scores", M=tokens, N=tokens, K=width, batch=HEADS)
    chances = graph.norm(f"{name}_softmax", graph.mac(scores, query, key))
    context = Layer.gemm(f"{name}_context", M=tokens, N=width, K=tokens, batch=HEADS)
    found = graph.mac(context, chances, value)
    return graph.mac(Layer.gemm(f"{name}_project", M=tokens, N=WIDTH, K=WIDTH), found)


def _feed_forward(graph: GraphBuilder, name: str, tokens: int, given: str) -> str:
    inner = graph.mac(Layer.gemm(f"{name}_ffn1", M=tokens, N=4 * WIDTH, K=WIDTH), given)
    return graph.mac(Layer.gemm(f"{name}_ffn2", M=tokens, N=WIDTH, K=4 * WIDTH), inner)
