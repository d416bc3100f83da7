"""Models and configurations: odd, contradictory, endless, or made to forge what is printed."""

import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from tests.hostile.rows import Row
from tests.onnx_models import Shape, onnx_model

CONV: dict[str, Shape] = {"x": [1, 4, 8, 8], "w": [6, 4, 3, 3]}
PRODUCT: dict[str, Shape] = {"x": [2, 3, 4], "w": [4, 5]}


def model(
    operator: str, shapes: Mapping[str, Shape], domain: str = "", opset: int = 23, **given: Any
) -> bytes:
    """A model of one operator with attributes, whose operands are inputs of the graph."""
    from onnx import helper

    node = helper.make_node(operator, list(shapes), ["y"], name="it", domain=domain, **given)
    return bytes(onnx_model([node], shapes, opset=opset).SerializeToString())


def row(says: str, data: bytes, words: str = "") -> Row:
    return Row(f"mapper import m.onnx {words}", says, files={"m.onnx": data})


def attention(**attributes: Any) -> bytes:
    shapes: dict[str, Shape] = {name: [1, 6, 24] for name in "qkv"}
    return model("Attention", shapes, **attributes)


def microsoft(operator: str, shapes: Mapping[str, Shape], **attributes: Any) -> bytes:
    return model(operator, shapes, domain="com.microsoft", **attributes)


def products(*edges: Sequence[str]) -> bytes:
    """A model of products, each of a tensor with the same weight, by what they read and write."""
    from onnx import helper

    nodes = [helper.make_node("MatMul", [of, "w"], [to], name=f"to {to}") for of, to in edges]
    return bytes(onnx_model(nodes, dict.fromkeys("xw", (4, 4))).SerializeToString())


ATTRIBUTES: dict[str, tuple[Any, ...]] = {
    "strides": ([1], [0, 1]),
    "dilations": ([1], [-1, 1]),
    "pads": ([1, 1, 1], [-1, 0, 0, 0], [0, 0, 0, -9]),
    "kernel_shape": ([3], [0, 3], [3, 4]),
    "group": (0, 2.5, 3, "two"),
    "auto_pad": ("SAME", 3),
}
"""Attributes of a convolution, and values that it does not take."""
LACKING = {
    "Conv ConvTranspose ConvInteger QLinearConv": [1, 4, 8, 8],
    "Gemm MatMul MatMulInteger QLinearMatMul Attention": [4, 8],
}
"""Operators and their only operand's shape."""


def operator_rows() -> list[Row]:
    """Operators whose attributes and operands contradict each other, or follow the data."""
    return [
    row("If: a branch that depends on the data", model("If", {"c": []})),
    row("'to y' writes 'y', which is written already", products(("x", "y"), ("x", "y"))),
    row("'to a' reads 'b', which it writes itself or a later one", products("ba", "ab")),
    *(
        row(f"{name}: got|weight: got|contradict", model("Conv", CONV, **{name: value}))
        for name, values in ATTRIBUTES.items()
        for value in values
    ),
    *(
        row("expected|contradict|larger|without a value", model("Conv", {"x": x, "w": w}))
        for x, w in (
            ([4, 8, 8], [6, 4, 3, 3]), ([1, 4], [6, 4]), ([], [6, 4, 3, 3]),
            ([0, 4, 8, 8], [6, 4, 3, 3]), ([1, 4, 2, 2], [6, 4, 3, 3]), ([1, 4, 8, 8], []),
            ([1, 4, 8, 8, 8, 8], [6, 4, 3, 3, 3, 3]),
        )
    ),
    *(
        row("not known|expected|contradict", model(operator, {"x": None, "w": [6, 4, 3, 3]}))
        for operator in ("Conv", "ConvTranspose", "Gemm", "MatMul", "Einsum")
    ),
    *(
        row("inputs: got|expected|contradict", model(operator, {"x": shape}))
        for operators, shape in LACKING.items()
        for operator in operators.split()
    ),
    *(
        row("axis|axes|contradict|differ|expected", model("MatMul", {"x": x, "w": w}))
        for x, w in (
            ([], [4]), ([4], []), ([3, 4], [5, 6]), ([2, 3, 4], [3, 4, 5]), ([2, 0], [0, 3]),
        )
    ),
    *(
        row("expected|contradict|differ", model("Gemm", {"x": x, "w": w}, **given))
        for x, w, given in (
            ([2, 3, 4], [4, 5], {}), ([3, 4], [5, 6], {}), ([3, 4], [4, 5], {"transA": -1}),
            ([3, 4], [4, 5], {"transB": "yes"}), ([3, 4], [4, 5], {"transB": 1}),
        )
    ),
    row("equation: got None", model("Einsum", PRODUCT)),
    *(
        row("equation|contradict|operand|diagonal", model("Einsum", PRODUCT, equation=text))
        for text in (
            "", "ijk,kl,lm->im", "ij,kl->ijkl", "ijk,jl->il", "iij,kl->il", "ijk,kl->iz",
            "i1k,kl->il", "...->...", "ijk,kl->iil", "ijk,kl->->il", 3,
        )
    ),
    row("q_num_heads: got None", attention()),
    row("kv_num_heads: got None", attention(q_num_heads=4)),
    *(
        row("heads: got|inputs: got|contradict", attention(q_num_heads=q, kv_num_heads=kv))
        for q, kv in ((0, 1), (5, 5), (4, 3))
    ),
    *(
        row("heads|sizes: got", microsoft("Attention", {"x": [1, 6, 8], "w": [8, 24]}, **given))
        for given in (
            {}, {"num_heads": 0}, {"num_heads": 5}, {"num_heads": 2, "qkv_hidden_sizes": [1]}
        )
    ),
    row("weights: got", microsoft("Attention", {"x": [1, 6, 8], "w": [9, 24]}, num_heads=2)),
    row("expected 3 axes", microsoft("Attention", {"x": [6, 8], "w": [8, 24]}, num_heads=2)),
    row("QAttention", microsoft("QAttention", {"x": [1, 6, 8], "w": [8, 24]}, num_heads=2)),
    row("it: mine.Conv: an operator that is not known", model("Conv", CONV, domain="mine")),
    row("not read|unroll|depend", model("LSTM", {"x": [3, 1, 4], "w": [1, 8, 4], "r": [1, 8, 2]})),
]  # fmt: skip


def shapes() -> list[Row]:
    """Axes without a value, and options that do not apply."""
    symbolic = model("Conv", {"x": ["batch", 4, 8, 8], "w": [6, 4, 3, 3]})
    return [
    row("axes without a value: batch", symbolic),
    *(
        row("--shape", symbolic, words)
        for words in (
            "--shape batch=0", "--shape batch=x", "--shape batch", "--shape =1",
            "--shape batch=9999999999", "--shape batch=1 --shape bach=2",
        )
    ),
    row("--tokens: .* expected a config.json", symbolic, "--tokens 5"),
    row("--batch: .* expected a config.json", symbolic, "--batch 5"),
    row("--cache: .* expected a config.json", symbolic, "--cache 5"),
    row("truncated|no ONNX model", symbolic[:-30]),
    row("opset 999", model("Conv", CONV, opset=999)),
    row("no operator with multiply-accumulates", model("Relu", {"x": [2]}), "-o m.yaml"),
    row("expected a name ending in .yaml", model("Conv", CONV), "-o m.txt"),
    Row("mapper search --network m.onnx", "--shape batch=1", {"m.onnx": symbolic}),
]  # fmt: skip


BERT = {
    "model_type": "bert", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 128,
}  # fmt: skip
LLAMA = BERT | {"model_type": "llama", "vocab_size": 100, "num_key_value_heads": 2}
VIT = BERT | {"model_type": "vit", "patch_size": 8, "image_size": 32}
GPT2 = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100}


MIXTRAL = LLAMA | {
    "model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2,
}  # fmt: skip
QWEN = LLAMA | {"model_type": "qwen3", "use_sliding_window": True}
DEEPSEEK = {k: v for k, v in LLAMA.items() if k != "num_key_value_heads"} | {
    "model_type": "deepseek_v3", "n_routed_experts": 16,
}  # fmt: skip


def config(fields: Any, says: str, words: str = "") -> Row:
    return Row(
        f"mapper import config.json {words}", says, files={"config.json": json.dumps(fields)}
    )


WRONG = (0, True, "4", 10**12)
FIELDS: tuple[tuple[dict[str, Any], str, tuple[Any, ...]], ...] = (
    (LLAMA, "num_key_value_heads", (0, 3)),
    (LLAMA, "head_dim", (0, "x")),
    (LLAMA, "attention_bias", (1, None)),
    (LLAMA, "tie_word_embeddings", ("no",)),
    (GPT2, "n_head", (0, 5)),
    (GPT2, "n_layer", (0, 1_000_000)),
    (VIT, "patch_size", (0, 64)),
    (VIT, "image_size", (0, None)),
    (MIXTRAL, "sliding_window", (0, 1.5)),
    (MIXTRAL, "num_local_experts", (0, None)),
    (MIXTRAL, "num_experts_per_tok", (0, 5, 4.0)),
    (QWEN, "sliding_window", (0,)),
    (DEEPSEEK, "kv_lora_rank", (0, None)),
    (DEEPSEEK, "moe_layer_freq", (2,)),
)
"""Fields of a configuration of a model, and values that they do not take."""
CONFIGS = [
    *(
        config(BERT | {name: value}, f"{name}: got")
        for name in ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size")
        for value in WRONG
    ),
    *(
        config(model | {name: value}, f"{name}: got|attention_heads: got")
        for model, name, values in FIELDS
        for value in values
    ),
    *(config({k: v for k, v in BERT.items() if k != name}, f"{name} is missing") for name in BERT
      if name != "model_type"),
    config(VIT, "--tokens: a vit", "--tokens 9"),
    config(BERT, "--shape: .* expected an ONNX model", "--shape batch=1"),
    *(
        config(fields, "cache: a (bert|vit) has none, expected a language model", "--cache 5")
        for fields in (BERT, VIT)
    ),
    *(
        config(LLAMA, f"--{name}: got|{name}: got", f"--{name} {value}")
        for name in ("tokens", "cache", "batch")
        for value in ("1.5", "99999999999")
    ),
    *(
        config(model | {name: value}, f"{name}: got .* changes the layers")
        for model, name, value in (
            (BERT, "num_local_experts", 8), (BERT, "is_encoder_decoder", True),
            (BERT, "kv_lora_rank", 4), (BERT, "attention_chunk_size", 8),
            (LLAMA, "sliding_window", 16), (LLAMA, "num_experts", 8),
            (LLAMA, "layer_types", ["full_attention"] * 2), (LLAMA, "add_cross_attention", True),
        )
    ),
    config(QWEN | {"layer_types": ["full_attention"]}, "layer_types: got 1 types, expected .* 2"),
    config(QWEN | {"layer_types": ["chunked", "full_attention"]}, "layer_types.0: got 'chunked'"),
    config(
        QWEN | {"use_sliding_window": False, "layer_types": ["sliding_attention"] * 2},
        "layer_types: got sliding_attention",
    ),
    config(DEEPSEEK | {"num_key_value_heads": 2}, "num_key_value_heads: got 2, expected"),
    config(DEEPSEEK | {"num_experts_per_tok": 17}, "per_tok: got 17, expected at most n_routed"),
    config({}, "model_type '' is not known"),
    config([], "expected the fields"),
    config(BERT | {"model_type": "bart"}, "Did you mean 'bert'"),
    Row("mapper import /dev/zero", "expected a .onnx model or"),
    *(
        Row(f"{make}; mapper import {name}; e=$?; rm {name}; exit $e", says, process=True)
        for make, name, says in (
            ("ln -s /dev/zero z.json", "z.json", "no file of at most"),
            ("mkfifo z.json", "z.json", "no file of at most"),
            ("ln -s /dev/zero z.onnx", "z.onnx", "not found"),
        )
    ),
]  # fmt: skip

PASSES = [
    *(
        Row(f"mapper search --network {network} --{name} 4", says)
        for name in ("tokens", "cache", "batch")
        for network, says in (
            ("mobilenetv2", "mobilenetv2 has no tokens and no cache; expected one of llama"),
            ("net.yaml", f"net.yaml: {name}=4: its layers are fixed"),
        )
    ),
    *(Row(f"mapper search --layer mlp.0 --{name} 4", f"--{name}: a single layer")
      for name in ("tokens", "cache", "batch")),
    Row("mapper search --network llama-3-8b:tokens=1 --cache 4", "says its forward pass"),
    *(
        Row(f"mapper layers {text}", says)
        for text, says in (
            ("llama-3-8b:", "'': expected tokens=N"),
            ("llama-3-8b:token=1", "Did you mean 'tokens'"),
            ("llama-3-8b:tokens=1,tokens=2", "tokens: given twice"),
            ("llama-3-8b:tokens=", "tokens: got ''"),
            ("llama-3-8b:batch=2000000000,tokens=2", "is too large"),
            ("llama-3-8b:cache=-1", "cache: got '-1'"),
            ("llama3-8b:cache=1", "Did you mean 'llama-3-8b'"),
            ("mlp:batch=2", "mlp has no tokens"),
        )
    ),
]  # fmt: skip

ROWS = [*CONFIGS, *PASSES, *(operator_rows() + shapes() if find_spec("onnx") else [])]
