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
        (
            "conv:K=37,C=53,Y=31,X=47,R=5,S=3,stride=1",
            Layer("", LayerKind.CONV, 37, 53, 31, 47, 5, 3),
        ),
        ("dsconv:C=144,Y=58,X=58,R=3,S=3", Layer("", LayerKind.DSCONV, 1, 144, 58, 58, 3, 3)),
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
        ("trconv:K=8,C=4,Y=10,X=10,R=3,S=3", Layer("", LayerKind.TRCONV, 8, 4, 10, 10, 3, 3)),
    ],
)
def test_inline_layers(text: str, expected: Layer) -> None:
    assert layers.parse(text).shape == expected


def test_a_zoo_name_parses() -> None:
    assert layers.parse(" mobilenetv2.2 ") == layers.get("mobilenetv2.2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("conv:", "expected FIELD=NUMBER"),
        ("conv:K=4,K=5", "K is given twice"),
        ("conv:K=x", "K='x' is not a whole number"),
        ("conv:K=4", "missing C, Y, X, R, S"),
        ("conv:K=0,C=1,Y=1,X=1,R=1,S=1", "K=0 is not a positive integer"),
        ("conv:K=1,C=1,Y=1,X=1,R=3,S=1", "R=3 is larger than the input"),
        ("conv:K=1,C=1,Y=1,X=1,R=1,S=1,strid=2", "unknown field 'strid'.*Did you mean 'stride'"),
        ("gemm:M=1,C=2,K=3", "a gemm takes M, N, K, batch"),
        ("gemm:M=0,N=2,K=3", "M=0 is not a positive integer; give M"),
        ("gemm:M=1,N=2,K=3,batch=0", "batch=0 is not a positive integer; give batch"),
        ("conv:K=1,C=1,Y=9,X=9,R=3,S=3,stride=2x", "stride='2x' is not a whole number"),
        ("conv:K=1,C=1,Y=9,X=9,R=3,S=3,stride=2x0", r"stride\[1\]=0 is not a positive integer"),
        ("conv:K=1,C=1,Y=9,X=9,R=3,S=3,dilation=5", r"R=3 \(dilated to 11\) is larger"),
        ("cnv:K=4", "unknown kind 'cnv'.*Did you mean 'conv'"),
        ("mobilenetv2.99", "mobilenetv2.0 to mobilenetv2.52"),
        ("nowhere.yaml:stem", "nowhere.yaml: not found"),
        ("nowhere.yaml", "whole file"),
    ],
)
def test_bad_text_says_what_and_how_to_mend_it(text: str, message: str) -> None:
    with pytest.raises(LayerError, match=message):
        layers.parse(text)


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
