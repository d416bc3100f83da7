"""Readers: the project's YAML and GAMMA's tables; bad rows name file, line and field."""

from pathlib import Path

import pytest

import cost_models
import layers
from cost_models import Accelerator
from layers import Layer, LayerError, LayerKind
from maestro_env import MapSpace


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_yaml_without_the_key(tmp_path: Path) -> None:
    path = write(tmp_path / "net.yml", "- {kind: GEMM, M: 2, N: 3, K: 4}\n")
    assert layers.read_file(path) == (Layer.gemm("layer0", 2, 3, 4),)


@pytest.mark.parametrize(("upsampling", "top", "left"), [(2, 1, 0), ([3, 2], 2, 1), ([1, 4], 0, 3)])
def test_a_transposed_convolution_is_read_as_its_phases(tmp_path, upsampling, top, left):
    text = (
        "- {name: up, kind: trconv, K: 3, C: 2, Y: 11, X: 12, R: 4, S: 3, "
        f"padding: [{top}, 0, {left}, 0], upsampling: {upsampling}}}"
    )
    found = layers.read_file(write(tmp_path / "net.yaml", text))
    steps = upsampling if isinstance(upsampling, list) else [upsampling] * 2
    true = [
        sum((place + tap - before) % step == 0 for place in range(outputs) for tap in range(taps))
        for outputs, taps, before, step in ((8, 4, top, steps[0]), (10, 3, left, steps[1]))
    ]
    assert sum(layer.macs for layer in found) == 3 * 2 * true[0] * true[1]
    assert sum(layer.output_size for layer in found) <= 3 * 8 * 10
    assert found[0].name == "up.phase00"
    chip = Accelerator(16)
    space = MapSpace(found[0], chip)
    mapping = space.decode(space.sample(1, 0))[0]
    exact, executed = (
        cost_models.load(name, energy="maestro", area="maestro").evaluate(found[0], chip, mapping)
        for name in ("exact", "simulator")
    )
    assert exact == executed
    assert exact.macs == found[0].macs
    one = text.replace(f"upsampling: {upsampling}", "upsampling: 1")
    (whole,) = layers.read_file(write(tmp_path / "one.yaml", one))
    assert whole.macs == 3 * 2 * 8 * 10 * 4 * 3


def test_phases_need_a_plain_transposed_convolution() -> None:
    with pytest.raises(LayerError, match="makes it 4 dense convolutions, expected one layer"):
        layers.parse("trconv:K=3,C=2,Y=9,X=9,R=4,S=4,upsampling=2")
    with pytest.raises(LayerError, match=r"needs kind TRCONV with stride, .* got TRCONV with 2"):
        layers.parse("trconv:K=3,C=2,Y=9,X=9,R=4,S=4,upsampling=2,stride=2")
    with pytest.raises(LayerError, match="upsampling"):
        layers.parse("conv:K=3,C=2,Y=9,X=9,R=4,S=4,upsampling=2")


def test_gamma_tables_are_read_by_their_type_column(tmp_path: Path) -> None:
    path = write(
        tmp_path / "net.csv",
        "K,C,Y,X,R,S,T\n32,3,224,224,3,3,1\n1,32,112,112,3,3,2\n512,768,64,1,1,1,3\n10,20,0,0,0,0,0\n",
    )
    assert layers.read_file(path) == (
        Layer("net.0", LayerKind.CONV, 32, 3, 224, 224, 3, 3),
        Layer("net.1", LayerKind.DSCONV, 1, 32, 112, 112, 3, 3),
        Layer.gemm("net.2", M=512, N=768, K=64),
        Layer("net.3", LayerKind.CONV, 10, 20, 1, 1, 1, 1),
    )
    assert layers.parse(f"{path}:2").name == "net.2"


@pytest.mark.parametrize(
    ("text", "layer"),
    [
        ("C,K,Y,X,R,S,T\n8,4,8,8,3,3,1\n", Layer("net.0", LayerKind.CONV, 4, 8, 8, 8, 3, 3)),
        ("16,32,112,112,1,1,1\n\n", Layer("net.0", LayerKind.CONV, 16, 32, 112, 112, 1, 1)),
    ],
)
def test_gamma_tables_with_another_header_or_none(tmp_path: Path, text: str, layer: Layer) -> None:
    assert layers.read_file(write(tmp_path / "net.csv", text)) == (layer,)
