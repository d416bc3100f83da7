"""The command line: ``mst data|train|compare|flops|masks|sample|plot``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from common import LARGEST_SEED, MOST_THREADS, CommandGroup, make_app
from mst import show
from mst.errors import MstError
from runs import print_json, tell

if TYPE_CHECKING:
    from mst.experiment import SparsePretraining
    from mst.settings import Wanted


class MstGroup(CommandGroup):
    """The commands of ``mst``."""

    packages = ("common", "runs", "sparse_training", "mst")
    extra = "mst"


app = make_app(
    MstGroup,
    "mst",
    "Mixed sparsity training of small GPT models: counted savings, and what becomes time.",
)


MOST_TOKENS = 10**15
CorpusPath = Annotated[Path, typer.Option("--corpus", help="Folder that `mst data` made.")]
PresetName = Annotated[str, typer.Option("--preset", help="small, or gpt2.")]
Tokens = Annotated[
    int | None,
    typer.Option(min=1, max=MOST_TOKENS, help="Tokens of the dense run.", show_default="preset"),
]
Seeds = Annotated[
    list[int] | None,
    typer.Option("--seed", min=0, max=LARGEST_SEED, help="Repeatable.", show_default="0"),
]
Sparsity = Annotated[float | None, typer.Option(help="S.", show_default="preset")]
Phases = Annotated[
    str | None,
    typer.Option(help="NAME:START-END:LAW:ATTENTION, comma-separated.", show_default="preset"),
]
Every = Annotated[
    int | None,
    typer.Option(min=1, max=10**9, help="Updates between topology steps.", show_default="100"),
]
Drop = Annotated[float | None, typer.Option(help="z, share dropped.", show_default="0.3")]
Growth = Annotated[str | None, typer.Option(help="static, set, rigl, mixed.", show_default="mixed")]
UnitName = Annotated[str | None, typer.Option("--unit", help="free, or block4.")]
Rule = Annotated[str | None, typer.Option(help="er, or uniform.", show_default="er")]
OptimizerState = Annotated[
    str | None, typer.Option(help="local, local:W, reset, keep.", show_default="local")
]
Faithful = Annotated[
    bool, typer.Option("--faithful", help="Optimiser as in the released code of MST.")
]
MaskHead = Annotated[bool, typer.Option("--mask-head/--dense-head", help="Mask the tied head.")]
AttentionName = Annotated[
    str | None,
    typer.Option("--attention", help="dense, local, strided, local+strided, fixed."),
]
MOST_LONG, MOST_DEEP, MOST_WIDE = 2**20, 1000, 2**16
"""Positions or windows, blocks or heads, and features; with more there is no memory for them."""
Window = Annotated[
    int | None, typer.Option(min=1, max=MOST_LONG, help="Keys nearby.", show_default="preset")
]
Stride = Annotated[int | None, typer.Option(min=1, max=MOST_LONG, help="s.", show_default="preset")]
Layers = Annotated[
    int | None, typer.Option(min=1, max=MOST_DEEP, help="Blocks.", show_default="preset")
]
Width = Annotated[
    int | None, typer.Option(min=1, max=MOST_WIDE, help="Features.", show_default="preset")
]
Heads = Annotated[
    int | None, typer.Option(min=1, max=MOST_DEEP, help="Heads.", show_default="preset")
]
ContextLength = Annotated[
    int | None, typer.Option("--context", min=1, max=MOST_LONG, help="T.", show_default="preset")
]
Batch = Annotated[
    int | None,
    typer.Option(min=1, max=MOST_LONG, help="Windows of an update.", show_default="preset"),
]
MicroBatch = Annotated[
    int | None,
    typer.Option(min=1, max=MOST_LONG, help="Windows at once.", show_default="the batch"),
]
Lr = Annotated[float | None, typer.Option(help="Learning rate.", show_default="preset")]
LrLaw = Annotated[
    str | None,
    typer.Option(
        help="How the rate falls: trapezoid (constant, then down in the last tenth), or cosine.",
        show_default="trapezoid",
    ),
]
LrRise = Annotated[
    float | None,
    typer.Option(help="Share of the updates in which the rate rises.", show_default="0.1"),
]
ByDensity = Annotated[
    float | None,
    typer.Option(
        "--lr-by-density",
        help="Divide sparse layers' rate by the density to this power.",
        show_default="preset",
    ),
]
BackendName = Annotated[str, typer.Option("--backend", help="masked, or compiled.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto.")]
Repeat = Annotated[bool, typer.Option("--repeat", help="Read the text more than once.")]
Times = Annotated[
    float | None,
    typer.Option(
        help="Times less than dense that dense-short and tiny cost.", show_default="as counted"
    ),
]
Threads = Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Processor threads.")]
StorePath = Annotated[str, typer.Option("--store", help="Runs are kept here.")]
Workers = Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Runs at the same time.")]
Log = Annotated[str | None, typer.Option(help="tensorboard:FOLDER or mlflow:FOLDER.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone on standard output.")]
RunName = Annotated[str, typer.Argument(help="Number of a finished run, or how its key begins.")]


@app.command()
def data(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to make.")] = Path("mst-data"),
    package: Annotated[
        list[str] | None,
        typer.Option(help="Installed package to train on. Repeatable.", show_default="several"),
    ] = None,
    held_out: Annotated[str, typer.Option(help="Package never trained on.")] = "networkx",
    standard_library: Annotated[
        bool, typer.Option(help="Whether Python's own sources are read.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Make a corpus of the Python sources that are installed here."""
    from mst.data import PACKAGES, build
    from runs import writable

    writable(out.absolute().parent)
    manifest = build(out, package or PACKAGES, held_out, standard_library)
    rows = [{"split": name, **entry} for name, entry in manifest.splits.items()]
    if as_json:
        print_json({"versions": manifest.versions, "splits": rows, "digest": manifest.digest})
        return
    show.print_corpus(rows)
    tell(f"wrote {out}: {', '.join(f'{n} {v}' for n, v in manifest.versions.items())}")


@app.command()
def train(
    preset: PresetName = "small",
    arm: Annotated[
        str,
        typer.Option(
            help="dense, dense-short, tiny, static, rigl, mst, mst-block4, mst-long.",
        ),
    ] = "mst",
    tokens: Tokens = None,
    seed: Seeds = None,
    corpus: CorpusPath = Path("mst-data"),
    sparsity: Sparsity = None,
    phases: Phases = None,
    every: Every = None,
    drop: Drop = None,
    growth: Growth = None,
    unit: UnitName = None,
    rule: Rule = None,
    optimizer_state: OptimizerState = None,
    faithful: Faithful = False,
    mask_head: MaskHead = False,
    attention: AttentionName = None,
    window: Window = None,
    stride: Stride = None,
    layers: Layers = None,
    width: Width = None,
    heads: Heads = None,
    context: ContextLength = None,
    batch: Batch = None,
    micro_batch: MicroBatch = None,
    lr: Lr = None,
    lr_law: LrLaw = None,
    lr_rise: LrRise = None,
    lr_by_density: ByDensity = None,
    backend: BackendName = "masked",
    device: Device = "cpu",
    repeat: Repeat = False,
    times: Times = None,
    threads: Threads = 1,
    store: StorePath = "mst-runs.db",
    workers: Workers = 1,
    log: Log = None,
    as_json: AsJson = False,
) -> None:
    """Train one arm and keep it in the store; the same command continues where it was stopped."""
    from mst.settings import Wanted, chosen_backend

    wanted = Wanted(
        preset=preset, tokens=tokens, times=times, repeat=repeat,
        backend=chosen_backend(backend), device=device,
        sparse={
            "sparsity": sparsity, "phases": phases, "every": every, "drop": drop,
            "growth": growth, "unit": unit, "rule": rule, "optimizer_state": optimizer_state,
            "faithful": faithful, "mask_head": mask_head, "pattern": attention,
            "window": window, "stride": stride,
        },
        shape={"layers": layers, "width": width, "heads": heads, "context": context},
        adam={"lr": lr, "law": lr_law, "warm_up": lr_rise, "by_density": lr_by_density},
        batch=batch, micro_batch=micro_batch,
    )  # fmt: skip
    runs = _planned([arm], wanted, seed, corpus, threads, log)
    rows, failed = _done(runs, store, workers)
    if as_json:
        print_json(rows)
    else:
        show.print_training(rows)
    if failed:
        raise typer.Exit(1)


def _planned(
    arms: Sequence[str],
    wanted: Wanted,
    seeds: Sequence[int] | None,
    corpus: Path,
    threads: int,
    log: str | None,
) -> list[SparsePretraining]:
    """The runs that a command asks for, checked before the first begins."""
    from mst.data import Corpus
    from mst.duration import check_duration
    from mst.experiment import SparsePretraining
    from runs import check_board, usable_device

    if log is not None:
        check_board(log)
    check_duration(wanted.config(), wanted.length, threads)
    chosen = [(arm, wanted.arm_run(arm)) for arm in arms]
    for _, run in chosen:
        check_duration(run.config, run.tokens, threads)
    usable_device(wanted.device)
    text = Corpus.open(corpus)
    for _, run in chosen:
        text.check_length(run.tokens, run.config.shape.context, run.config.repeat)
    digest = text.manifest.digest
    return [
        SparsePretraining(arm, run.config, digest, str(corpus), seed, run.tokens, threads, log=log)
        for seed in seeds or [0]
        for arm, run in chosen
    ]


def _done(
    runs: Sequence[SparsePretraining], store: str, workers: int
) -> tuple[list[dict[str, Any]], bool]:
    """Rows of runs after all are done, and whether one is not."""
    from runs import Store, run_all

    with Store.open(store) as opened:
        summary = run_all(runs, opened, workers=workers)
        rows = [_run_row(r) for key in summary.keys for r in opened.runs(key=key)[:1]]
    return rows, bool(summary.failed or summary.interrupted)


def _run_row(run: Any) -> dict[str, Any]:
    result = run.result or {}
    bits = result.get("bpb", {})
    return {
        "run": run.id, "name": run.name, "status": str(run.standing), "tokens": run.samples,
        **{split: bits.get(split) for split in ("files", "package", "prose")},
        "pattern": result.get("pattern_bpb"), "density": result.get("density"),
        "flops": result.get("flops"), "executed": result.get("executed_flops"),
        "cpu_s": result.get("training_cpu_s"),
    }  # fmt: skip


@app.command()
def compare(
    arms: Annotated[str, typer.Option(help="Comma-separated.")] = "dense,tiny,mst",
    by: Annotated[str, typer.Option(help="flops, seconds, or tokens.")] = "flops",
    preset: PresetName = "small",
    tokens: Tokens = None,
    seed: Seeds = None,
    corpus: CorpusPath = Path("mst-data"),
    sparsity: Sparsity = None,
    mask_head: MaskHead = False,
    lr: Lr = None,
    lr_law: LrLaw = None,
    lr_rise: LrRise = None,
    lr_by_density: ByDensity = None,
    backend: BackendName = "masked",
    device: Device = "cpu",
    repeat: Repeat = False,
    times: Times = None,
    threads: Threads = 1,
    store: StorePath = "mst-runs.db",
    workers: Workers = 1,
    figures: Annotated[Path | None, typer.Option(help="Folder for pictures; else none.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train arms, unless the store has them, and put them beside each other."""
    from mst import comparing
    from mst.figures import draw_curves
    from mst.settings import Wanted, chosen_backend
    from runs import Store, writable

    comparing.check_by(by)
    if figures is not None:
        writable(figures)
    wanted = Wanted(
        preset=preset, tokens=tokens, times=times, repeat=repeat,
        backend=chosen_backend(backend), device=device,
        sparse={"sparsity": sparsity, "mask_head": mask_head},
        adam={"lr": lr, "law": lr_law, "warm_up": lr_rise, "by_density": lr_by_density},
    )  # fmt: skip
    names = [name.strip() for name in arms.split(",")]
    runs = _planned(names, wanted, seed, corpus, threads, None)
    _, failed = _done(runs, store, workers)
    if failed:
        raise typer.Exit(1)
    with Store.open(store, create=False) as opened:
        found = [opened.runs(key=run.identity().key)[0] for run in runs]
        curves = comparing.read_curves(opened, found)
    rows = comparing.comparison(curves, by)
    if figures is not None:
        _report(draw_curves(curves, figures))
    if as_json:
        print_json(rows)
    else:
        show.print_comparison(rows, by)


@app.command()
def flops(
    preset: PresetName = "small",
    tokens: Tokens = None,
    sparsity: Sparsity = None,
    phases: Phases = None,
    every: Every = None,
    attention: AttentionName = None,
    window: Window = None,
    stride: Stride = None,
    as_json: AsJson = False,
) -> None:
    """Count the training operations of every arm, with the tied head dense and masked."""
    from mst.counting import flops_rows
    from mst.settings import Wanted

    wanted = Wanted(
        preset=preset, tokens=tokens,
        sparse={
            "sparsity": sparsity, "phases": phases, "every": every, "pattern": attention,
            "window": window, "stride": stride,
        },
    )  # fmt: skip
    rows = [{"preset": preset, **row} for row in flops_rows(wanted.config(), wanted.length)]
    if as_json:
        print_json(rows)
    else:
        show.print_flops(rows)


@app.command()
def masks(run: RunName, store: StorePath = "mst-runs.db", as_json: AsJson = False) -> None:
    """Show what the masks of a finished run were like where it was most sparse."""
    from mst.masks import mask_rows
    from mst.saved import saved_run

    found = saved_run(run, store, ("density",))
    rows = mask_rows(found.state["masks"])
    tokens, densities = found.metrics["density"]
    evolution = [
        {"tokens": int(t), "density": float(d)} for t, d in zip(tokens, densities, strict=True)
    ]
    if as_json:
        print_json({"layers": rows, "evolution": evolution})
    else:
        show.print_masks(rows, evolution)


@app.command()
def sample(
    run: RunName,
    prompt: Annotated[str, typer.Option(help="How the text begins.")] = "def ",
    length: Annotated[int, typer.Option(min=1, max=10**6, help="Bytes to write.")] = 200,
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest byte.")] = 0.8,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Draws the bytes.")] = 0,
    store: StorePath = "mst-runs.db",
) -> None:
    """Let a finished run go on with a text."""
    from mst.sampling import sample as go_on
    from mst.saved import saved_run

    model = saved_run(run, store).model()
    text = go_on(model, prompt.encode(), length, temperature, seed)
    typer.echo(text.decode("utf-8", errors="replace"))


@app.command()
def plot(
    stores: Annotated[
        list[Path] | None,
        typer.Argument(help="Stores with finished runs.", show_default="mst-runs.db"),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for pictures.")] = Path(
        "figures"
    ),
) -> None:
    """Draw learning curves of all runs of the stores by tokens, operations and seconds."""
    from mst.comparing import read_curves
    from mst.experiment import KIND
    from mst.figures import draw_curves
    from runs import RunStatus, Store

    places = stores or [Path("mst-runs.db")]
    curves = []
    for place in places:
        with Store.open(place, create=False) as opened:
            done = [r for r in opened.runs(kind=KIND) if r.status is RunStatus.FINISHED]
            curves += read_curves(opened, done)
    if not curves:
        named = ", ".join(map(str, places))
        raise MstError(f"{named}: has no finished runs of `mst train` to draw; train some first")
    _report(draw_curves(curves, out))


def _report(paths: Sequence[Path]) -> None:
    for path in paths:
        tell(f"wrote {path}")


def main(arguments: list[str] | None = None) -> None:
    """Run ``mst`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mst``; the process's own by default. ``--debug`` among them
            shows the traceback of an error.
    """
    app(arguments, prog_name="mst")
