"""The zoo against the figures that others have published."""

from collections import Counter

import pytest

import layers
from layers import Layer

PUBLISHED_MACS = {
    # Documentation of torchvision's weights, "GFLOPS" (multiply-accumulates), alexnet 0.71,
    # resnet18 1.81, resnet50 4.09, vgg16 15.47.
    "alexnet": 0.71e9,
    "resnet18": 1.81e9,
    "resnet50": 4.09e9,
    "vgg16": 15.47e9,
    # Sandler et al., CVPR 2018, table 4: 300 M multiply-adds.
    "mobilenetv2": 300e6,
    # Sun et al., MobileBERT, ACL 2020, table 4: BERT-base 22.5 G FLOPs at sequence length 128;
    # two a multiply-accumulate.
    "bert_base": 22.5e9 / 2,
    # Karpathy, nanoGPT, transformer_sizing: 291,648,307,200 FLOPs forward at 1,024 tokens.
    "gpt2": 291_648_307_200 / 2,
    # Parameters that each token meets, times 128 tokens: Llama-3-8B has 8.03 G and Qwen3-8B's model
    # card says 6.95 G without embeddings; the look-up of the embedding has no MACs, the head has.
    "llama-3-8b": 128 * (8.03e9 - 128_256 * 4096),
    "qwen3-8b": 128 * (6.95e9 + 151_936 * 4096),
    # Jiang et al., arXiv:2401.04088: 13 G of 47 G parameters are active (12.9 G in the release).
    "mixtral-8x7b": 128 * 12.9e9,
    # DeepSeek-AI, arXiv:2412.19437: 37 G of 671 G parameters are activated.
    "deepseek-v3": 128 * 37e9,
    # 784 * 512 + 512 * 256 + 256 * 10, by definition.
    "mlp": 535_040,
}
LAYER_COUNTS = {
    "alexnet": 8,
    "bert_base": 12 * 8,
    "deepseek-v3": 3 * (7 + 3) + 58 * (7 + 1 + 2 * 3 + 3) + 1,  # experts of two sizes of batch
    "gpt2": 12 * 6 + 1,
    "llama-3-8b": 32 * 9 + 1,
    "mixtral-8x7b": 32 * 10 + 1,
    "mlp": 3,
    "mobilenetv2": 53,
    "qwen3-8b": 36 * 9 + 1,
    "resnet18": 21,
    "resnet50": 54,
    "vgg16": 16,
}
# Parameters in torchvision's documentation, less those of batch normalisation and biases.
WEIGHTS = {
    "alexnet": 61_100_840 - 10_344,
    "mobilenetv2": 3_504_872 - 34_112 - 1_000,
    "resnet18": 11_689_512 - 9_600 - 1_000,
    "resnet50": 25_557_032 - 53_120 - 1_000,
    "vgg16": 138_357_544 - 13_416,
}


@pytest.mark.parametrize("name", layers.networks())
def test_total_macs_are_within_one_percent_of_the_published_figure(name: str) -> None:
    total = sum(layer.macs for layer in layers.network(name))
    assert total == pytest.approx(PUBLISHED_MACS[name], rel=0.01)


@pytest.mark.parametrize("name", WEIGHTS)
def test_filters_hold_the_published_number_of_weights(name: str) -> None:
    assert sum(layer.filter_size for layer in layers.network(name)) == WEIGHTS[name]


@pytest.mark.parametrize("name", layers.networks())
def test_every_layer_is_there_trimmed_and_found_by_index_and_by_name(name: str) -> None:
    network, shapes = layers.network(name), layers.distinct(name)
    assert len({layer.name for layer in network}) == len(network) == LAYER_COUNTS[name]
    for index, layer in enumerate(network):
        assert layers.get(f"{name}.{index}") == layer == layers.get(layer.name)
        assert (layer.given_y, layer.given_x) == (layer.Y, layer.X)
    assert Counter(layer.shape for layer in network) == {a.shape: count for a, count in shapes}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Sandler et al., table 2: first bottleneck projects 32 channels to 16 on 112 x 112.
        ("mobilenetv2.2", (16, 32, 112, 112, 1, 1)),
        ("mobilenetv2.3", (96, 16, 112, 112, 1, 1)),
        ("mobilenetv2.52", (1000, 1280, 1, 1, 1, 1)),
        ("resnet18.0", (64, 3, 112, 112, 7, 7)),
        ("resnet18.2", (64, 64, 56, 56, 3, 3)),
        ("resnet18.7", (128, 64, 28, 28, 1, 1)),
        ("resnet50.4", (256, 64, 56, 56, 1, 1)),
        ("resnet50.12", (128, 128, 28, 28, 3, 3)),
        ("vgg16.1", (64, 64, 224, 224, 3, 3)),
        ("alexnet.0", (64, 3, 55, 55, 11, 11)),
        ("bert_base.3", (128, 64, 128, 1, 1, 1)),
        ("gpt2.72", (50257, 768, 1024, 1, 1, 1)),
    ],
)
def test_known_extents(name: str, expected: tuple[int, ...]) -> None:
    heads = 12 if name == "bert_base.3" else 1
    assert layers.get(name).extents == (*expected, heads, 1)


def test_the_bounds_that_gamma_reports_follow_from_unpadded_layers() -> None:
    # MACs / 1,024 PEs of GAMMA's unpadded tables: VGG16 layer 1, ResNet18 layer 2, MobileNetV2
    # layer 3; our layers are the same ones with their padding.
    figures = {"vgg16.1": 1_774_224, "resnet18.2": 104_976, "mobilenetv2.3": 18_816}
    for name, bound in figures.items():
        layer = layers.get(name)
        pad = layer.R - 1
        unpadded = Layer(
            name, layer.kind, layer.K, layer.C, layer.Y - pad, layer.X - pad, layer.R, layer.S
        )
        assert unpadded.macs == bound * 1024


def test_distinct_takes_layers_too() -> None:
    a = Layer.gemm("a", 2, 3, 4)
    assert layers.distinct([a, a.renamed("b"), Layer.gemm("c", 3, 3, 4)])[0] == (a, 2)


def test_rows_that_only_maestro_counts_keep_layers_apart() -> None:
    wide, narrow = (layers.parse(f"conv:K=8,C=8,Y={n},X={n},R=1,S=1,stride=2") for n in (8, 7))
    assert wide.shape == narrow.shape
    assert layers.distinct([wide, narrow, wide]) == ((wide, 2), (narrow, 1))
