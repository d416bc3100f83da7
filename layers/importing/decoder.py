"""The parts of transformers: weight matrices, attention, feed-forward blocks and experts.

Each part knows its weights and the nodes of one forward pass; embedding look-ups come from outside,
and activations of one operand and rotary positions are part of the product before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from layers.graph_builder import GraphBuilder
from layers.importing.building import add_attention, attention
from layers.importing.forward_pass import ForwardPass
from layers.layer import Layer


@dataclass(frozen=True)
class Linear:
    """A linear layer: ``inputs x outputs`` weights, `copies` times, and `outputs` biases or none.

    Args:
        name: Of its layer.
        inputs: Features that it reads.
        outputs: Features that it writes.
        bias: Whether it adds a bias.
        copies: Matrices of this shape, of which a token meets only some.
    """

    name: str
    inputs: int
    outputs: int
    bias: bool = False
    copies: int = 1

    @property
    def parameters(self) -> int:
        """Weights and biases of all copies."""
        return self.copies * self.outputs * (self.inputs + self.bias)

    def layer(self, prefix: str, rows: int, batch: int = 1) -> Layer:
        """The product with `rows` rows of features, by each of `batch` matrices."""
        return Layer.gemm(prefix + self.name, M=rows, N=self.outputs, K=self.inputs, batch=batch)


@dataclass(frozen=True)
class GroupedAttention:
    """Attention whose heads may share keys and values, over all keys or a window of them.

    Args:
        width: Features of a token.
        heads: Query heads.
        key_heads: Key heads, a divisor of `heads`.
        head: Features of a head.
        bias: Whether query, key and value have biases.
        out_bias: Whether the output projection has one.
        window: Keys that a query sees, its own included; None for all.
    """

    width: int
    heads: int
    key_heads: int
    head: int
    bias: bool = False
    out_bias: bool = False
    window: int | None = None

    @property
    def cached(self) -> int:
        """Elements that a token adds to the cache: its keys and values."""
        return 2 * self.key_heads * self.head

    def weights(self) -> tuple[Linear, ...]:
        """Query, key, value and output."""
        own, shared = self.heads * self.head, self.key_heads * self.head
        return (
            Linear("query", self.width, own, self.bias),
            Linear("key", self.width, shared, self.bias),
            Linear("value", self.width, shared, self.bias),
            Linear("output", own, self.width, self.out_bias),
        )

    def draw(self, graph: GraphBuilder, prefix: str, run: ForwardPass, given: str) -> str:
        """Projections and the two products of each group of queries."""
        *projections, output = self.weights()
        query, key, value = (
            graph.mac(linear.layer(prefix, run.new_tokens), given) for linear in projections
        )
        found = []
        for rows, columns, count in query_groups(run, self.window):
            products = attention(
                f"{prefix}attention", run.batch * count, self.heads, rows, columns, self.head,
                self.head, self.key_heads,
            )  # fmt: skip
            found.append(add_attention(graph, products, query, key, value))
        shape = (run.new_tokens, output.inputs)
        context = found[0] if len(found) == 1 else graph.join(f"{prefix}attention", found, shape)
        return graph.mac(output.layer(prefix, run.new_tokens), context)


def query_groups(run: ForwardPass, window: int | None) -> Iterator[tuple[int, int, int]]:
    """Split a sequence's queries into groups of at most one window each.

    A group's product covers the keys that any of its queries sees, masked pairs included: without
    a window there is one group, over the whole context.

    Yields:
        Queries of a group, keys that it reads, and groups of this shape.
    """
    if window is None:
        yield run.tokens, run.context, 1
        return
    rows = min(window, run.tokens)
    seen = rows + window - 1
    groups, rest = divmod(run.tokens, rows)
    if run.cache + rows < seen:  # the first group has fewer keys before it
        yield rows, run.cache + rows, 1
        groups -= 1
    if groups:
        yield rows, seen, groups
    if rest:
        yield rest, min(run.context, rest + window - 1), 1


@dataclass(frozen=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1).

    A token's keys and values are kept as one latent vector and one rotary key that all heads share.

    Args:
        width: Features of a token.
        heads: Heads.
        query_rank: Features of a query's latent vector; None where queries have none.
        rank: Features of a key's and value's latent vector.
        plain: Features of a head's query and key without a position.
        rotary: Features of a head's query and key with one.
        value: Features of a head's value.
        bias: Whether the projections to latent vectors and the output have biases.
    """

    width: int
    heads: int
    query_rank: int | None
    rank: int
    plain: int
    rotary: int
    value: int
    bias: bool = False

    @property
    def cached(self) -> int:
        """Elements that a token adds to the cache: its latent vector and its rotary key."""
        return self.rank + self.rotary

    def weights(self) -> tuple[Linear, ...]:
        """Query (one matrix or two), latent vector, keys and values, output."""
        queries = self.heads * (self.plain + self.rotary)
        if self.query_rank is None:
            query: tuple[Linear, ...] = (Linear("query", self.width, queries),)
        else:
            query = (
                Linear("query_down", self.width, self.query_rank, self.bias),
                Linear("query_up", self.query_rank, queries),
            )
        return (
            *query,
            Linear("latent", self.width, self.cached, self.bias),
            Linear("key_value", self.rank, self.heads * (self.plain + self.value)),
            Linear("output", self.heads * self.value, self.width, self.bias),
        )

    def draw(self, graph: GraphBuilder, prefix: str, run: ForwardPass, given: str) -> str:
        """Projections and products, in whichever form of the two has fewer MACs."""
        *projections, latent, _, output = self.weights()
        query = given
        for linear in projections:
            query = graph.mac(linear.layer(prefix, run.new_tokens), query)
        kept = graph.mac(latent.layer(prefix, run.new_tokens), given)
        expanded, absorbed = self._expanded(prefix, run), self._absorbed(prefix, run)
        if sum(layer.macs for layer in expanded) <= sum(layer.macs for layer in absorbed):
            up, *products = expanded
            size = run.batch * run.context * self.rank
            latents = graph.part(f"{prefix}latents", kept, (size,))
            both = graph.mac(up, latents)
            key = graph.part(f"{prefix}keys", both, (products[0].filter_size,))
            value = graph.part(f"{prefix}values", both, (products[1].filter_size,))
            context = add_attention(graph, products, query, key, value)
        else:
            into, *products, out = absorbed
            plain = graph.part(f"{prefix}plain_queries", query, (into.input_size,))
            turned = graph.mac(into, plain)
            size = products[0].input_size
            query = graph.join(f"{prefix}latent_queries", (turned, query), (size,))
            value = graph.part(f"{prefix}values", kept, (run.new_tokens, self.rank))
            context = graph.mac(out, add_attention(graph, products, query, kept, value))
        return graph.mac(output.layer(prefix, run.new_tokens), context)

    def _expanded(self, prefix: str, run: ForwardPass) -> list[Layer]:
        """Keys and values of each head are computed from the latent vectors of the context."""
        return [
            self.weights()[-2].layer(prefix, run.batch * run.context),
            *attention(
                f"{prefix}attention", run.batch, self.heads, run.tokens, run.context,
                self.plain + self.rotary, self.value,
            ),
        ]  # fmt: skip

    def _absorbed(self, prefix: str, run: ForwardPass) -> list[Layer]:
        """Queries are turned into the latent space, which all heads attend to."""
        rows = run.new_tokens
        key = Linear("absorbed_key", self.plain, self.rank)
        value = Linear("absorbed_value", self.rank, self.value)
        return [
            key.layer(prefix, rows, self.heads),
            *attention(
                f"{prefix}attention", run.batch, self.heads, run.tokens, run.context,
                self.cached, self.rank, 1,
            ),
            value.layer(prefix, rows, self.heads),
        ]  # fmt: skip


@dataclass(frozen=True)
class FeedForward:
    """Two matrices, or three where a gate multiplies what the first one gives.

    Args:
        width: Features of a token.
        inner: Features between the matrices.
        gated: Whether there is a gate.
        bias: Whether the matrices have biases.
    """

    width: int
    inner: int
    gated: bool = True
    bias: bool = False

    def weights(self) -> tuple[Linear, ...]:
        """Up, gate, and down."""
        up, gate, down = (
            Linear("up", self.width, self.inner, self.bias),
            Linear("gate", self.width, self.inner, self.bias),
            Linear("down", self.inner, self.width, self.bias),
        )
        return (up, gate, down) if self.gated else (up, down)

    def draw(self, graph: GraphBuilder, prefix: str, run: ForwardPass, given: str) -> str:
        """A product for each matrix."""
        return self.draw_rows(graph, prefix, run.new_tokens, 1, given)

    def draw_rows(
        self, graph: GraphBuilder, prefix: str, rows: int, copies: int, given: str
    ) -> str:
        """The same for so many rows by each of some copies of the matrices."""
        *into, down = (linear.layer(prefix, rows, copies) for linear in self.weights())
        inner = [graph.mac(layer, given) for layer in into]
        met = graph.add(f"{prefix}gated", *inner) if self.gated else inner[0]
        return graph.mac(down, met)


@dataclass(frozen=True)
class MixtureOfExperts:
    """A router and gated feed-forward blocks, of which each token meets some.

    Every expert is as likely as any other, and tokens choose independently of each other.

    Args:
        width: Features of a token.
        inner: Features between an expert's matrices.
        total: Experts.
        per_token: Experts that a token meets.
        shared: A block that every token meets besides; None where there is none.
    """

    width: int
    inner: int
    total: int
    per_token: int
    shared: FeedForward | None = None

    def expected(self, tokens: int) -> float:
        """Expected number of distinct experts that `tokens` tokens meet."""
        return self.total * (1 - (1 - self.per_token / self.total) ** tokens)

    def used(self, tokens: int) -> int:
        """Experts that take part: the expected number, rounded."""
        return round(self.expected(tokens))

    def spread(self, tokens: int) -> list[tuple[int, int]]:
        """Rows of an expert, and experts with so many: as even as whole rows allow."""
        experts = self.used(tokens)
        rows, more = divmod(self.per_token * tokens, experts)
        pairs = [(rows + 1, more), (rows, experts - more)]
        return [(each, count) for each, count in pairs if count]

    def weights(self) -> tuple[Linear, ...]:
        """The router, every expert's matrices, and the shared block's."""
        experts = FeedForward(self.width, self.inner).weights()
        return (
            Linear("router", self.width, self.total),
            *(Linear(one.name, one.inputs, one.outputs, copies=self.total) for one in experts),
            *(self.shared.weights() if self.shared else ()),
        )

    def draw(self, graph: GraphBuilder, prefix: str, run: ForwardPass, given: str) -> str:
        """The router, the experts that take part, each with its own matrices, the shared block."""
        router = self.weights()[0]
        chosen = graph.norm(
            f"{prefix}chosen", graph.mac(router.layer(prefix, run.new_tokens), given)
        )
        one, found = FeedForward(self.width, self.inner), []
        for rows, count in self.spread(run.new_tokens):
            name = f"{prefix}experts."
            met = graph.join(f"{name}rows", (given, chosen), (count, rows, self.width))
            found.append(one.draw_rows(graph, name, rows, count, met))
        shape = (run.new_tokens, self.width)
        output = graph.join(f"{prefix}mixed", (*found, chosen), shape)
        if self.shared:
            more = self.shared.draw(graph, f"{prefix}shared.", run, given)
            output = graph.add(f"{prefix}with_shared", output, more)
        return output


BlockPart = GroupedAttention | LatentAttention | FeedForward | MixtureOfExperts
"""A part of a block: it has matrices, and draws its nodes in a forward pass over a tensor."""


@dataclass(frozen=True)
class TransformerBlock:
    """A block of a transformer.

    Args:
        attention: Its attention.
        feed_forward: Its feed-forward part.
        norms: Parameters of its normalisations.
        norm_first: Whether these stand before its parts, and not behind them.
    """

    attention: GroupedAttention | LatentAttention
    feed_forward: FeedForward | MixtureOfExperts
    norms: int = 0
    norm_first: bool = True

    def draw(self, graph: GraphBuilder, prefix: str, run: ForwardPass, given: str) -> str:
        """Its nodes in a forward pass."""
        parts: Sequence[BlockPart] = (self.attention, self.feed_forward)
        for number, part in enumerate(parts):
            before = graph.norm(f"{prefix}norm{number}", given) if self.norm_first else given
            found = part.draw(graph, prefix, run, before)
            given = graph.add(f"{prefix}sum{number}", found, given)
            if not self.norm_first:
                given = graph.norm(f"{prefix}norm{number}", given)
        return given

    @property
    def parameters(self) -> int:
        """All its parameters."""
        parts: Sequence[BlockPart] = (self.attention, self.feed_forward)
        return self.norms + sum(one.parameters for part in parts for one in part.weights())


@dataclass(frozen=True)
class LanguageModel:
    """A decoder and one forward pass of it.

    Args:
        blocks: Its blocks.
        head: The output layer over the vocabulary.
        embeddings: Parameters of embeddings and of the last normalisation; those of the token
            embedding are left out where the output layer's weights are tied to them.
        run: The forward pass.
    """

    blocks: tuple[TransformerBlock, ...]
    head: Linear
    embeddings: int
    run: ForwardPass

    @property
    def parameters(self) -> int:
        """All parameters, tied ones once."""
        return self.embeddings + self.head.parameters + sum(one.parameters for one in self.blocks)

    @property
    def cached(self) -> int:
        """Elements that a token adds to the cache, in all blocks."""
        return sum(block.attention.cached for block in self.blocks)

    @property
    def experts(self) -> MixtureOfExperts | None:
        """The experts of a block; None where it has none."""
        found = (block.feed_forward for block in self.blocks)
        return next((one for one in found if isinstance(one, MixtureOfExperts)), None)

    def to_dict(self) -> dict[str, Any]:
        """The pass and what the model holds: numbers by name; ``experts`` where there are some."""
        run, experts = self.run, self.experts
        found: dict[str, Any] = {
            **asdict(run),
            "keys": run.context,
            "parameters": self.parameters,
            "cache_elements_per_token": self.cached,
        }
        if experts is not None:
            found["experts"] = {
                "total": experts.total,
                "per_token": experts.per_token,
                "expected_distinct": experts.expected(run.new_tokens),
                "counted": experts.used(run.new_tokens),
            }
        return found

    def draw(self, graph: GraphBuilder, prefix: str, block: str) -> None:
        """All nodes of the forward pass; new keys and values are wanted in DRAM, in the cache.

        Args:
            graph: Gets the nodes.
            prefix: What all names begin with.
            block: What a block is called, before its number.
        """
        rows = self.run.new_tokens
        at = graph.source(f"{prefix}embedded", (rows, self.head.inputs))
        for number, one in enumerate(self.blocks):
            at = one.draw(graph, f"{prefix}{block}{number}.", self.run, at)
        at = graph.norm(f"{prefix}norm", at)
        graph.mac(self.head.layer(prefix, rows), at)
        cached = (".key", ".value", ".latent")
        graph.results += [n.name for n in graph.nodes if n.layer and n.name.endswith(cached)]
