"""Layers as text: in line, and as entries of files."""

import json
from pathlib import Path

import pytest
from hypothesis import given

import layers
from layers import Layer, LayerError, LayerKind
from tests.layers.strategies import any_layer


@given(any_layer())
def test_a_layer_in_line_reads_back(layer: Layer) -> None:
    read = layers.parse(layers.inline(layer))
    assert read.shape == layer.shape
    assert (read.given_y, read.given_x) == (layer.given_y, layer.given_x)
    assert layers.parse(read.name) == read


@given(any_layer())
def test_named_fields_read_back(layer: Layer) -> None:
    fields = json.loads(json.dumps(layers.to_fields(layer)))
    assert layers.from_fields(fields.pop("name"), fields.pop("kind"), fields) == layer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GEMM:M=128,N=768,K=64", Layer.gemm("", 128, 768, 64)),
        ("gemm:M=128,N=128,K=64,batch=12", Layer.gemm("", 128, 128, 64, batch=12)),
        (
            "ngconv: K=4, C=4, Y=30, X=30, R=3, S=3, groups=32",
            Layer("", LayerKind.NGCONV, 4, 4, 30, 30, 3, 3, groups=32),
        ),
        (
            "conv:K=8,C=4,Y=11,X=9,R=3,S=3,stride=2x1,dilation=2,padding=1x1x0x0",
            Layer("", "conv", 8, 4, 11, 9, 3, 3, stride=(2, 1), dilation=2, padding=(1, 1, 0, 0)),
        ),
    ],
)
def test_inline_layers(text: str, expected: Layer) -> None:
    assert layers.parse(text).shape == expected


def test_a_zoo_name_parses() -> None:
    assert layers.parse(" mobilenetv2.2 ") == layers.get("mobilenetv2.2")


def test_entries_of_files(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(
        "layers:\n"
        "  - {name: stem, kind: conv, K: 32, C: 3, Y: 225, X: 225, R: 3, S: 3, stride: 2}\n"
        "  - {name: fc, kind: gemm, M: 1, N: 1000, K: 1280}\n"
    )
    assert layers.parse(f"{path}:fc") == Layer.gemm("fc", 1, 1000, 1280)
    assert layers.parse(f"{path}:0").out_y == 112
    with pytest.raises(LayerError, match=r"no layer 'stam'.*Did you mean 'stem'"):
        layers.parse(f"{path}:stam")
