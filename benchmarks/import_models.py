"""Models of other tools: time of import and of a whole-network EDP, and MACs beside torch's.

    python benchmarks/import_models.py [--csv docs/data/import.csv]

ResNet-50, MobileNet-v2 and ViT-B/16 are built from their configs with random weights and written as
ONNX; BERT is read from its `config.json` alone; a chain of 10,000 nodes is made by hand. Needs the
extras dev and import.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

NODES = 10_000
CHIP = "cloud"
"""A chip whose L1 holds the 16 x 16 filters of ViT."""


def models() -> dict[str, Any]:
    """Modules and what they are called with, by name."""
    import torch
    import transformers as t

    picture = (torch.zeros(1, 3, 224, 224),)
    bert = t.BertConfig()
    vit = t.ViTConfig()
    for config in (bert, vit):
        config._attn_implementation = "eager"
    return {
        "resnet50": (t.ResNetForImageClassification(t.ResNetConfig(num_labels=1000)), picture),
        "mobilenetv2": (
            t.MobileNetV2ForImageClassification(t.MobileNetV2Config(num_labels=1001)),
            picture,
        ),
        "vit_b16": (t.ViTModel(vit, add_pooling_layer=False), picture),
        "bert": (t.BertModel(bert), (torch.zeros(1, 128, dtype=torch.long),)),
    }


def counted_macs(module: Any, inputs: tuple[Any, ...]) -> int:
    """MACs by torch's own counter."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops() // 2


def write_model(name: str, module: Any, inputs: tuple[Any, ...], folder: Path) -> Path:
    """The model as ONNX, or as its config."""
    import torch

    if name == "bert":
        folder.joinpath(name).mkdir()
        path = folder / name / "config.json"
        path.write_text(module.config.to_json_string(), encoding="utf-8")
        return path
    path = folder / f"{name}.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, str(path), dynamo=True, verbose=False)
    return path


def write_chain(folder: Path) -> Path:
    """A graph of `NODES` matrix products, one after the other."""
    import onnx
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"], name=f"n{i}")
        for i in range(NODES)
    ]
    first = helper.make_tensor_value_info("x0", TensorProto.FLOAT, [4, 8])
    last = helper.make_tensor_value_info(f"x{NODES}", TensorProto.FLOAT, None)
    weight = helper.make_tensor("w", TensorProto.FLOAT, [8, 8], bytes(256), raw=True)
    graph = helper.make_graph(nodes, "chain", [first], [last], [weight])
    model = helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    path = folder / "chain.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def timed(words: list[str]) -> tuple[str, float, float]:
    """Output, wall and processor time [s] of a command."""
    program = [sys.executable, "-m", "mapper", *words]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(program, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, time.perf_counter() - began, cpu


def measured(name: str, path: Path, counted: int, folder: Path) -> dict[str, Any]:
    """Times of importing and mapping a model."""
    text, wall, cpu = timed(["import", str(path), "--json"])
    found = json.loads(text)
    row = {
        "model": name,
        "layers": len(found["layers"]),
        "shapes": found["distinct_shapes"],
        "macs": found["macs"],
        "macs_counted": counted,
        "import_wall_s": round(wall, 1),
        "import_cpu_s": round(cpu, 1),
    }
    store = str(folder / f"{name}.sqlite")
    words = ["search", "--network", str(path), "--accelerator", CHIP, "--json", "--store", store]
    text, wall, cpu = timed(words)
    totals = json.loads(text)["totals"]
    return row | {
        "edp_cycles_nj": totals["edp"],
        "search_wall_s": round(wall, 1),
        "search_cpu_s": round(cpu, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for model, (module, inputs) in models().items():
            module.eval()
            path = write_model(model, module, inputs, folder)
            rows.append(measured(model, path, counted_macs(module, inputs), folder))
            print(rows[-1], flush=True)
        rows.append(measured("chain of 10,000", write_chain(folder), NODES * 4 * 8 * 8, folder))
        print(rows[-1])
    if options.csv is not None:
        with options.csv.open("w", encoding="utf-8", newline="") as text:
            writer = csv.DictWriter(text, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
