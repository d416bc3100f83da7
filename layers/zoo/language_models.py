"""Language models, as the fields of their published configurations.

Each stands for one forward pass, :class:`layers.ForwardPass`: ``llama-3-8b`` takes the defaults,
``llama-3-8b:tokens=1,cache=2048,batch=8`` says them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from layers.network_graph import NetworkGraph

if TYPE_CHECKING:
    from layers.importing import Imported

CONFIGS: Mapping[str, Mapping[str, Any]] = {
    # Grattafiori et al., The Llama 3 Herd of Models, arXiv:2407.21783, table 3
    "llama-3-8b": {
        "model_type": "llama", "vocab_size": 128_256, "hidden_size": 4096,
        "intermediate_size": 14_336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
    # Yang et al., Qwen3 Technical Report, arXiv:2505.09388, table 1
    "qwen3-8b": {
        "model_type": "qwen3", "vocab_size": 151_936, "hidden_size": 4096,
        "intermediate_size": 12_288, "num_hidden_layers": 36, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128,
    },
    # Jiang et al., Mixtral of Experts, arXiv:2401.04088, table 1
    "mixtral-8x7b": {
        "model_type": "mixtral", "vocab_size": 32_000, "hidden_size": 4096,
        "intermediate_size": 14_336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "num_local_experts": 8,
        "num_experts_per_tok": 2,
    },
    # DeepSeek-AI, DeepSeek-V3 Technical Report, arXiv:2412.19437, section 4.2
    "deepseek-v3": {
        "model_type": "deepseek_v3", "vocab_size": 129_280, "hidden_size": 7168,
        "intermediate_size": 18_432, "num_hidden_layers": 61, "num_attention_heads": 128,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "moe_intermediate_size": 2048,
        "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
        "first_k_dense_replace": 3,
    },
}  # fmt: skip


@cache
def read(name: str, settings: str | None) -> Imported:
    """A model in a forward pass; its layers are called ``<name>:<settings>.<layer>``.

    Args:
        name: One of `CONFIGS`.
        settings: Of the pass, as :meth:`ForwardPass.parse` reads them; None for the defaults.

    Raises:
        ImportingError: They are wrong, or the pass has too many rows.
    """
    from layers.importing.forward_pass import ForwardPass
    from layers.importing.huggingface import from_config

    run = ForwardPass() if settings is None else ForwardPass.parse(settings)
    full = f"{name}:{run}".rstrip(":")
    return from_config(CONFIGS[name], run, full, f"{full}.")


@cache
def graph(name: str, settings: str | None) -> NetworkGraph:
    """The graph of :func:`read`."""
    return read(name, settings).graph()
