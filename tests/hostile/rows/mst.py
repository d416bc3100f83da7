"""Command lines of mst."""

from tests.hostile.rows import Row, holding, table

NO_STORE = "there is no such file; give --store"

COMMANDS = {
    "mst": {
        "tain": "Did you mean 'train'",
        "data --package no_such_package_at_all": "is not installed",
        "flops --sparsity 1": "sparsity=1.0",
        "data --package numpy --held-out numpy": "is held out and trained on",
        "data --out /proc/x": "cannot write to /proc",
        "data nowhere.txt": "nowhere.txt: there is no such file or folder",
        "data /dev/zero": "is neither a file nor a folder",
        "compare --tokens 1000000000000": "training takes about .* days or more",
        "compare --by flop": "--by 'flop'.*Did you mean 'flops'",
        "flops --tokens 1000000000000": "topology steps in .*; raise --every",
        "compare --times inf": "smaller --times",
        "evaluate 1": NO_STORE,
        "masks 1": NO_STORE,
        "sample 1": NO_STORE,
        "plot .": "is a folder, expected a file",
    },
    "mst train": {
        "": "make a corpus with `mst data` first",
        "--preset big": "preset 'big' is not known; expected one of small, close, gpt2",
        "--arm denser": "Did you mean 'dense'",
        "--tokens 1000000000000 --repeat --arm dense": "lower --tokens, or take a smaller",
        "--phases x": "expected NAME:START-END",
        "--phases a:0-1:er": "expected one of warm-up, ultra, restoration",
        "--drop 2": "drop=2.0: expected a number from 0 to 1",
        "--optimizer-state lokal": "Did you mean 'local'",
        "--attention sparse": "expected one of dense, local",
        "--stride 60": "stride: got 60, expected a divisor of the context 256",
        "--phases ultra:.1-1": "begins at 0.1, expected 0",
        "--phases ultra:0-.5": "phases.*add up to 1",
        "--phases warm-up:0-.2,ultra:.1-1": "overlap; begin it at 0.2",
        "--phases warm-up:0-.1,ultra:.2-1": "add up to 1: begin it at 0.1",
        "--phases ultra:.5-.2": "expected 0 <= start < end",
        "--phases warm-up:0-.1:cubc,ultra:.1-1": "Did you mean 'cubic'",
        "--phases warm-up:0-.1:linear:dens,ultra:.1-1": "phase warm-up: .*mean 'dense'",
        "--attention blocks:0": "whole number from 1",
        "--score magnitude:1": "does not take",
        "--arm mst-block4 --width 126 --heads 2": "block4.*take 128",
        "--tokens 5": "tokens: got 5, .*one update",
        "--backend compiled --device cuda": "compiled.*--device cpu",
        "--sparsity 0.99999": "0.99999.*leaves",
        "--width 7": "expected a multiple of the 4 heads; take 4",
        "--micro-batch 3": "expected a divisor of the batch 16",
        "--lr nan": "lr=nan: expected a number above 0",
        "--score big": "drop score 'big' is not known; expected one of magnitude, mest",
        "--score mest:-1": "factor -1, expected 0 or more",
        "--growth nowhere:Rule": "growth 'nowhere:Rule' is not known and cannot be imported",
        "--attention blocks:7": "attention blocks: got 7, expected a divisor",
        "--dtype float16": "expected one of float32, bfloat16",
        "--dtype bfloat16 --backend compiled": "use --backend masked, or --dtype float32",
        "--processes 2 --micro-batch 4 --device cuda": "processes: got 2 on device 'cuda'",
        "--processes 3": "processes: got 3, expected a divisor of the 1 parts",
        "--config nowhere.yaml": "nowhere.yaml: not found",
    },
}
ROWS = [
    *table(COMMANDS),
    Row("mst data empty.txt", "has 0 bytes of text, expected at least 1,000", {"empty.txt": ""}),
    Row("mst data a.bin", "a zero byte at 2.; expected UTF-8", {"a.bin": b"ab\0c" * 999}),
    Row("mst data a.txt", "no UTF-8 at about byte 3,000", {"a.txt": b"abc" * 1000 + b"\xff"}),
    Row("mst data .", "has 0 bytes of text .1 files are not text", {"a.bin": b"\0" * 2000}),
    Row("mst data . --out .", "is the text itself; give another folder", {"a.txt": "a b\n" * 999}),
    Row(
        "mst data a.txt --tokenizer bp", "expected bytes, bpe, or a file", {"a.txt": "a b\n" * 999}
    ),
    Row(
        "mst data a.txt --tokenizer t.json",
        "is no tokenizer",
        {"a.txt": "a b\n" * 999, "t.json": "{}"},
    ),
    Row("mst data a.txt --held-out-share 1", "held-out share: got 1.0", {"a.txt": "a b\n" * 999}),
    Row("mst train --corpus .", "manifest.json", {"manifest.json": "{"}),
    *holding(
        "a.yaml",
        {
            "mst train --config a.yaml": [
                ("layer: 1", "option 'layer' is not known.*Did you mean 'layers'"),
                ("layers: x", "a.yaml: layers: got 'x'"),
                ("layers: {a: 1}", "expected one value"),
            ]
        },
    ),
]
