"""Language models: MACs and parameters beside those of transformers, windows, experts, caches."""

import itertools
import json
from typing import Any

import pytest

import layers
from layers import ForwardPass
from layers.importing.decoder import (
    GroupedAttention,
    MixtureOfExperts,
    query_groups,
)
from layers.importing.huggingface import CONFIGS as FORMS
from layers.importing.huggingface import from_config
from layers.zoo.language_models import CONFIGS

SMALL = {
    "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 96, "vocab_size": 100,
}  # fmt: skip
LATENT = SMALL | {
    "model_type": "deepseek_v3", "num_key_value_heads": 4, "q_lora_rank": 24, "kv_lora_rank": 16,
    "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 12, "moe_intermediate_size": 20,
    "n_routed_experts": 8, "num_experts_per_tok": 2, "first_k_dense_replace": 1,
    "n_group": 2, "topk_group": 1,
}  # fmt: skip
SLIDING = ["sliding_attention", "full_attention", "sliding_attention"]
MODELS: dict[str, dict[str, Any]] = {
    **{name: fields | {"num_hidden_layers": 4} for name, fields in CONFIGS.items()},
    "biases": SMALL | {"model_type": "llama", "attention_bias": True, "mlp_bias": True},
    "tied": SMALL | {"model_type": "llama", "tie_word_embeddings": True, "head_dim": 16},
    "mistral": SMALL | {"model_type": "mistral", "sliding_window": 80},
    "mixtral": SMALL | {"model_type": "mixtral", "num_local_experts": 6, "sliding_window": None},
    "qwen2": SMALL | {"model_type": "qwen2", "use_sliding_window": True, "layer_types": SLIDING},
    "qwen3": SMALL | {"model_type": "qwen3", "attention_bias": True, "head_dim": 16},
    "gpt2": {"model_type": "gpt2", "n_embd": 48, "n_layer": 2, "n_head": 3, "vocab_size": 100},
    "latent": LATENT,
    "plain-queries": LATENT | {"q_lora_rank": None, "attention_bias": True, "n_shared_experts": 2},
}
DECODED = [name for name in MODELS if MODELS[name]["model_type"] != "deepseek_v3"]


def drawn(part: Any, run: ForwardPass) -> list[layers.Layer]:
    """The layers of a part of a block."""
    nodes = layers.Imported().nodes
    part.draw(nodes, "", run, nodes.source("given", (run.new_tokens, part.width)))
    return list(nodes.graph().layers)


def peer(fields: dict[str, Any]) -> Any:
    """The model that transformers builds: shapes alone, no memory."""
    torch = pytest.importorskip("torch", reason="needs the extra rl")
    t = pytest.importorskip("transformers", reason="needs the extra dev")
    given = {name: value for name, value in fields.items() if name != "model_type"}
    config = t.AutoConfig.for_model(fields["model_type"], **given)
    config._attn_implementation = "eager"
    config._experts_implementation = "batched_mm"  # the others look at which expert is met
    with torch.device("meta"):
        return t.AutoModelForCausalLM.from_config(config)


def peer_macs(model: Any, run: ForwardPass) -> int:
    """MACs of a forward pass, as torch counts them, once the cache is filled."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    def forward(tokens: int, context: int, past: Any = None) -> Any:
        def zeros(*shape: int, **how: Any) -> Any:
            return torch.zeros(*shape, device="meta", **how)

        return model(
            zeros(run.batch, tokens, dtype=torch.long),
            attention_mask=zeros(run.batch, 1, tokens, context),
            position_ids=zeros(run.batch, tokens, dtype=torch.long),
            past_key_values=past,
            use_cache=run.cache > 0,
        )

    with torch.no_grad():
        past = forward(run.cache, run.cache).past_key_values if run.cache else None
        with FlopCounterMode(display=False) as counter:
            forward(run.tokens, run.context, past)
    return int(counter.get_total_flops()) // 2


@pytest.mark.parametrize("name", MODELS)
def test_macs_and_parameters_are_those_of_transformers(name: str) -> None:
    model, run = peer(MODELS[name]), ForwardPass(64, 0, 2)
    found = from_config(MODELS[name], run, name)
    assert found.language.parameters == sum(p.numel() for p in model.parameters())
    assert found.macs == peer_macs(model, run)


@pytest.mark.parametrize("name", DECODED)
def test_macs_of_decode_are_those_of_transformers(name: str) -> None:
    run = ForwardPass(1, 16, 3)
    assert from_config(MODELS[name], run, name).macs == peer_macs(peer(MODELS[name]), run)


def test_latent_attention_takes_the_form_with_fewer_macs() -> None:
    fields = CONFIGS["deepseek-v3"] | {"num_hidden_layers": 4}
    model = peer(fields)
    many, one = ForwardPass(512, 16), ForwardPass(1, 64)
    assert from_config(fields, many, "").macs == peer_macs(model, many)  # keys of every head
    absorbed = from_config(fields, one, "")
    assert absorbed.macs < peer_macs(model, one) / 1.2  # which always expands them
    # every query element times a latent element: (q_nope W_uk^T) c = q_nope (W_uk^T c)
    by_name = {layer.name: layer for layer in absorbed.layers}
    scores = by_name["layer0.attention.scores"]
    assert (scores.Y, scores.C, scores.K, scores.N) == (128, 512 + 64, 65, 1)
    assert by_name["layer0.absorbed_key"].extents[:3] == (512, 128, 1)
    assert by_name["layer0.attention.values"].K == by_name["layer0.absorbed_value"].C == 512


def test_published_numbers_of_parameters() -> None:
    published = {"llama-3-8b": 8.03e9, "qwen3-8b": 8.19e9, "mixtral-8x7b": 46.7e9}
    for name, number in (published | {"deepseek-v3": 671e9}).items():
        found = layers.language_of(name)
        assert found.parameters == pytest.approx(number, rel=2e-3)


@pytest.mark.parametrize("window", [1, 2, 3, 5, 8, 40])
@pytest.mark.parametrize("cache", [0, 1, 4, 30])
def test_groups_of_queries_read_the_keys_that_they_see_and_no_others(window, cache):
    for tokens in range(1, 20):
        groups = [
            (rows, columns)
            for rows, columns, count in query_groups(ForwardPass(tokens, cache), window)
            for _ in range(count)
        ]
        first = cache
        for rows, columns in groups:
            queries = range(first, first + rows)
            seen = {key for q in queries for key in range(max(0, q - window + 1), q + 1)}
            assert len(seen) == columns
            assert rows <= window
            first += rows
        assert first == cache + tokens


def test_a_window_of_the_whole_context_is_none() -> None:
    for run in (ForwardPass(7), ForwardPass(1, 40), ForwardPass(5, 9, 3)):
        whole = GroupedAttention(32, 4, 2, 8)
        seen = GroupedAttention(32, 4, 2, 8, window=run.context)
        assert drawn(whole, run) == drawn(seen, run)


@pytest.mark.parametrize(("total", "met", "tokens"), [(4, 2, 2), (5, 2, 3), (3, 3, 2), (6, 1, 3)])
def test_expected_experts_are_the_mean_over_all_choices(total: int, met: int, tokens: int) -> None:
    choices = list(itertools.combinations(range(total), met))
    seen = [len(set().union(*some)) for some in itertools.product(choices, repeat=tokens)]
    experts = MixtureOfExperts(8, 8, total, met)
    assert experts.expected(tokens) == pytest.approx(sum(seen) / len(seen))


def test_experts_take_all_rows_between_them() -> None:
    for total, met, tokens in itertools.product((1, 3, 8, 256), (1, 2, 8), (1, 2, 7, 128, 5000)):
        if met > total:
            continue
        experts = MixtureOfExperts(8, 8, total, met)
        spread = experts.spread(tokens)
        assert sum(rows * count for rows, count in spread) == met * tokens
        assert sum(count for _, count in spread) == experts.used(tokens)
        assert met <= experts.used(tokens) <= min(total, met * tokens)
        assert min(rows for rows, _ in spread) >= 1
        assert max(rows for rows, _ in spread) - min(rows for rows, _ in spread) <= 1


def test_decode_reads_the_context_and_writes_what_is_new() -> None:
    text = "llama-3-8b:tokens=1,cache=2048,batch=8"
    by_name = {layer.name.removeprefix(f"{text}."): layer for layer in layers.layers_of(text)}
    scores, values = (by_name[f"layer5.attention.{what}"] for what in ("scores", "values"))
    # for each sequence and key head: the queries of 4 heads, 2,049 keys of 128 elements
    assert (scores.N, scores.Y, scores.K, scores.C) == (8 * 8, 4, 2049, 128)
    assert (values.N, values.Y, values.K, values.C) == (8 * 8, 4, 128, 2049)
    model = layers.language_of(text)
    written = sum(
        layer.output_size for name, layer in by_name.items() if name.endswith((".key", ".value"))
    )
    assert written == 8 * model.cached == 8 * 32 * 2 * 8 * 128
    latent = layers.layers_of("deepseek-v3:tokens=1,cache=2048,batch=8")
    assert sum(x.output_size for x in latent if x.name.endswith("latent")) == 8 * 61 * (512 + 64)


def test_names_say_the_pass_in_one_way() -> None:
    text = "llama-3-8b:batch=1,cache=5,tokens=1"
    found = layers.layers_of(text)
    assert found[0].name == "llama-3-8b:tokens=1,cache=5.layer0.query"
    assert layers.parse(found[3].name) == found[3] == layers.parse(f"{text}.3")
    assert layers.layers_of("llama-3-8b:tokens=128") == layers.layers_of("llama-3-8b")
    assert layers.in_pass("llama-3-8b", 1, 5) == "llama-3-8b:tokens=1,cache=5"
    assert layers.in_pass("mlp") == "mlp"


def test_a_config_file_takes_a_pass_too(tmp_path: Any) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(MODELS["tied"]))
    text = f"{path}:tokens=1,cache=9,batch=2"
    assert layers.is_file(text)
    assert list(layers.layers_of(text)) == layers.from_huggingface(path, 1, 2, 9).layers
    model = layers.language_of(text)
    assert model.run == ForwardPass(1, 9, 2)
    assert layers.language_of("mlp") is None


def test_every_model_type_is_tried() -> None:
    tried = {fields["model_type"] for fields in MODELS.values()}
    assert tried == {name for name, form in FORMS.items() if hasattr(form, "language_model")}
