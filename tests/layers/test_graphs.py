"""Networks as graphs: what the zoo, files and importers give, and what is no graph."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

import layers
from layers import GraphNode, Layer, LayerError, NetworkGraph, NodeKind
from layers.graph_builder import GraphBuilder
from layers.importing.huggingface import from_config
from mapper.show.graph_drawing import graph_rows, graph_svg
from tests.layers.test_language_models import MODELS

NET = """
sources: {image: [1, 3, 10, 10]}
results: [pool]
layers:
  - {name: a, kind: conv, K: 4, C: 3, Y: 10, X: 10, R: 3, S: 3, inputs: [image]}
  - {name: b, kind: conv, K: 4, C: 4, Y: 10, X: 10, R: 3, S: 3, padding: [1, 1, 1, 1], inputs: [a]}
  - {name: sum, kind: elementwise, inputs: [b, a], shape: [1, 4, 8, 8], bits: 16}
  - {name: pool, kind: pooling, inputs: [sum], shape: [4]}
  - {name: fc, kind: gemm, M: 1, N: 2, K: 4, inputs: [pool]}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "net.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", layers.networks())
def test_the_zoos_networks_are_connected_and_come_back_from_a_file(name, tmp_path):
    graph = layers.graph_of(name)
    assert graph.layers == layers.network(name)
    reached = set(graph.sources)
    for node in graph.nodes:
        assert reached.intersection(node.reads) or not node.reads
        reached.add(node.name)
    assert len(graph.leaving - set(graph.results)) == 1  # nothing is computed in vain
    if len(graph.nodes) < 400:  # the others are of the same kinds
        path = tmp_path / "net.yaml"
        layers.write_yaml(path, graph)
        assert layers.read_graph(path) == graph
        assert layers.read_file(path) == layers.network(name)


def test_residual_blocks_read_what_they_add() -> None:
    graph = layers.graph_of("resnet18")
    reads = {node.name: node.reads for node in graph.nodes}
    block = "resnet18.conv3_1"
    assert reads[f"{block}_add"] == (f"{block}b", f"{block}s")
    assert reads[f"{block}s"] == reads[f"{block}a"] == ("resnet18.conv2_2_add",)
    assert sum("_add" in node.name for node in layers.graph_of("mobilenetv2").nodes) == 10


@pytest.mark.parametrize("name", MODELS)
def test_transformers_are_graphs_in_prefill_and_in_decode(name: str) -> None:
    for run in (layers.ForwardPass(96), layers.ForwardPass(1, 16, 2)):
        found = from_config(MODELS[name], run, name)
        graph = found.graph()
        assert graph.layers == tuple(found.layers)
        cached = sum(node.elements for node in graph.nodes if node.name in graph.results)
        assert cached == found.language.cached * run.new_tokens


def test_a_file_is_a_graph_and_a_list(tmp_path: Path) -> None:
    path = written(tmp_path, NET)
    graph = layers.read_graph(path)
    assert [layer.name for layer in layers.read_file(path)] == ["a", "b", "fc"]
    assert [node.bits for node in graph.nodes] == [None, None, 16, None, None]
    assert graph.readers["a"] == (1, 2)
    assert graph.leaving == {"pool", "fc"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("inputs: [image]", "inputs: [imag]"), "'imag', which is never written.*'image'"),
        (("shape: [4]", "shape: [5]"), "shapes do not meet: its input has 5 elements, expected 4"),
        (("kind: elementwise", "kind: relu"), "unknown kind 'relu'.*gemm.*elementwise, pooling"),
        (("results: [pool]", "results: [pol]"), "'pol' is never written.*'pool'"),
        ((", inputs: [pool]}", "}"), "line 9: 'fc' has no inputs.*without edges"),
        ((", shape: [4]", ""), "line 8: shape: missing"),
        (("shape: [4]", "shape: [4], K: 3"), "unknown field 'K'"),
        (("inputs: [sum]", "inputs: []"), "reads nothing"),
    ],
)
def test_what_is_no_graph_says_why(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    with pytest.raises(LayerError, match=says):
        layers.read_graph(written(tmp_path, NET.replace(*change)))


def test_unmapped_operators_have_no_graph() -> None:
    found = layers.Imported()
    found.fail("If_3", "a branch that depends on the data")
    with pytest.raises(LayerError, match="'If_3' is not mapped"):
        found.graph()
    layer = Layer.gemm("a", M=2, N=3, K=4)
    with pytest.raises(LayerError, match="its filter has 8 elements, expected 12"):
        NetworkGraph((GraphNode("a", NodeKind.MAC, ("x", "x"), (2, 3), layer),), {"x": (2, 4)})


def test_modules_of_torch_and_their_onnx_files_are_graphs(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra rl")
    pytest.importorskip("onnxscript", reason="needs the extra dev")

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
            self.second = torch.nn.Conv2d(8, 8, 3, padding=1)
            self.up = torch.nn.ConvTranspose2d(8, 4, 2, stride=2)

        def forward(self, x: "torch.Tensor") -> "torch.Tensor":
            x = torch.relu(self.first(x))
            left, right = torch.max_pool2d(self.second(x) + x, 2).split(4, 1)
            return self.up(torch.cat([right, left], 1))

    inputs = (torch.zeros(1, 3, 16, 16),)
    module = layers.from_torch(Block(), inputs).graph()
    path = tmp_path / "block.onnx"
    torch.onnx.export(Block().eval(), inputs, path, dynamo=True, verbose=False)
    onnx = layers.graph_of(str(path))
    kinds = ["mac", "elementwise", "mac", "elementwise", "pooling", *["concat"] * 3]
    for graph in (module, onnx):
        assert [str(node.kind) for node in graph.nodes] == [*kinds, *["mac"] * 4, "concat"]
        places = {node.name: place for place, node in enumerate(graph.nodes)}
        assert sorted(places[name] for name in graph.nodes[3].reads) == [1, 2]
        assert [places[name] for name in graph.nodes[7].reads] == [6, 5]


def test_outputs_that_no_tap_of_a_wide_stride_meets_are_part_of_the_tensor() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra rl")
    module = torch.nn.Sequential(torch.nn.ConvTranspose2d(4, 4, 1, stride=2), torch.nn.ReLU())
    graph = layers.from_torch(module, (torch.zeros(1, 4, 5, 5),)).graph()
    assert [node.shape for node in graph.nodes] == [(1, 4, 5, 5), (1, 4, 9, 9), (1, 4, 9, 9)]


def deep(nodes: int) -> NetworkGraph:
    graph = GraphBuilder()
    tensors = [graph.source("x", (8, 8))]
    for number in range(nodes // 2):
        product = graph.mac(Layer.gemm(f"l{number}", M=8, N=8, K=8), tensors[-1])
        tensors.append(graph.add(f"a{number}", product, tensors[-min(7, len(tensors))]))
    return graph.graph()


@pytest.mark.parametrize(
    "network", [lambda: layers.graph_of("resnet50"), lambda: deep(10_000)], ids=["zoo", "deep"]
)
def test_a_picture_has_every_node(network: Callable[[], NetworkGraph]) -> None:
    graph = network()
    root = ElementTree.fromstring(graph_svg("a < b", graph))
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}rect")) == len(graph.nodes) == len(graph_rows(graph))
    assert root.findtext(f"{space}text") == "a < b"
