"""The command line: ``mst data|train|compare|flops|evaluate|sample|masks|plot``.

Options of settings are written where the settings are (`mst.config`, `mst.settings`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marl_common import AsJson, CommandGroup, check_name, command_of, make_app, takes_records
from marl_runs import RunName, leave_unless, print_result, tell, tell_written, writable
from mst import show
from mst.errors import MstError
from mst.settings import CorpusOptions, Drawing, PretrainingOptions, TextOptions, Wanted


class MstGroup(CommandGroup):
    """The commands of ``mst``."""

    packages = ("marl_common", "marl_runs", "sparse_training", "mst")
    extra = "mst"


app = make_app(
    MstGroup,
    "mst",
    "Mixed sparsity training of small GPT models: counted savings, and what becomes time.",
)

INSTALLED = "corpus"
"""Word for the Python sources that are installed here."""
StorePath = Annotated[str, typer.Option("--store", help="Runs are kept here.")]
Checkpoint = Annotated[str, typer.Option(help="last, best, or the number of an update.")]


@app.command()
@takes_records
def data(
    corpus: CorpusOptions,
    source: Annotated[
        str, typer.Argument(help="A file or folder of text, or the word corpus: Python sources.")
    ] = INSTALLED,
    as_json: AsJson = False,
) -> None:
    """Make a corpus of your own text, or of the Python sources that are installed here."""
    manifest = corpus.make(None if source == INSTALLED else Path(source))
    about = {"versions": manifest.versions, "splits": manifest.rows(), "digest": manifest.digest}
    print_result(about, as_json, show.print_corpus)
    if not as_json:
        skipped = manifest.not_text
        left = f"; left out: {skipped} files that are no text" if skipped else ""
        of = ", ".join(f"{n} {v}" for n, v in manifest.versions.items()) or source
        tell(f"wrote {corpus.out}: {of}{left}")


@app.command()
@takes_records
def train(
    wanted: Wanted,
    text: TextOptions,
    running: PretrainingOptions,
    arm: Annotated[
        str,
        typer.Option(
            help="dense, dense-short, tiny, static, rigl, mst, mst-block4, mst-long.",
        ),
    ] = "mst",
    as_json: AsJson = False,
) -> None:
    """Train one arm and keep it in the store; the same command continues where it was stopped."""
    from mst.training import planned_runs, run_row

    stored, complete = running.done(planned_runs([arm], wanted, text, running))
    print_result(list(map(run_row, stored)), as_json, show.print_training)
    leave_unless(complete)


@app.command()
@takes_records
def compare(
    wanted: Wanted,
    text: TextOptions,
    running: PretrainingOptions,
    arms: Annotated[str, typer.Option(help="Comma-separated.")] = "dense,tiny,mst",
    by: Annotated[str, typer.Option(help="flops, seconds, or tokens.")] = "flops",
    figures: Annotated[Path | None, typer.Option(help="Folder for pictures; else none.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train arms, unless the store has them, and put them beside each other."""
    from marl_runs import Store
    from mst import comparing
    from mst.figures import draw_curves
    from mst.training import planned_runs

    check_name("--by", by, comparing.BY, MstError)
    if figures is not None:
        writable(figures)
    runs = planned_runs([name.strip() for name in arms.split(",")], wanted, text, running)
    stored, complete = running.done(runs)
    leave_unless(complete)
    with Store.open(running.store, create=False) as opened:
        curves = comparing.read_curves(opened, stored)
    rows = comparing.comparison(curves, by)
    if figures is not None:
        tell_written(draw_curves(curves, figures))
    print_result(rows, as_json, show.print_comparison, by)


@app.command()
@takes_records
def flops(wanted: Wanted, as_json: AsJson = False) -> None:
    """Count the training operations of every arm, with the tied head dense and masked."""
    from mst.counting import flops_rows

    config = wanted.config()
    rows = [{"preset": wanted.preset, **row} for row in flops_rows(config, wanted.length)]
    print_result(rows, as_json, show.print_flops)


@app.command()
def evaluate(
    run: RunName,
    corpus: Annotated[Path, typer.Option(help="Folder that `mst data` made.")] = Path("mst-data"),
    checkpoint: Checkpoint = "last",
    windows: Annotated[int, typer.Option(min=1, max=10**6, help="Of each split, at most.")] = 512,
    store: StorePath = "mst-runs.db",
    as_json: AsJson = False,
) -> None:
    """Judge a model of a run by held-out text: bits per byte."""
    from mst.saved import saved_run

    bits = saved_run(run, store, checkpoint=checkpoint).judged(corpus, windows)
    rows = [{"split": name, "bits per byte": value} for name, value in bits.items()]
    print_result(rows, as_json, show.print_bits)


@app.command()
def masks(run: RunName, store: StorePath = "mst-runs.db", as_json: AsJson = False) -> None:
    """Show what the masks of a finished run were like where it was most sparse."""
    from mst.masks import evolution, mask_rows
    from mst.saved import saved_run

    found = saved_run(run, store, ("density",))
    layers, changes = mask_rows(found.state["masks"]), evolution(*found.metrics["density"])
    print_result({"layers": layers, "evolution": changes}, as_json, show.print_masks)


@app.command()
@takes_records
def sample(
    run: RunName,
    drawing: Drawing,
    prompt: Annotated[str, typer.Option(help="How the text begins.")] = "def ",
    checkpoint: Checkpoint = "last",
    store: StorePath = "mst-runs.db",
) -> None:
    """Let a finished run go on with a text."""
    from mst.sampling import sample as go_on
    from mst.saved import saved_run

    found = saved_run(run, store, checkpoint=checkpoint)
    written = go_on(found.model(), found.tokenizer(), prompt.encode(), drawing)
    typer.echo(written.decode("utf-8", errors="replace"))


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
    from mst.comparing import stored_curves
    from mst.figures import draw_curves

    tell_written(draw_curves(stored_curves(stores or [Path("mst-runs.db")]), out))


def main(arguments: list[str] | None = None) -> None:
    """Run ``mst`` and exit: 0 done, 1 failed, 2 wrong command or input.

    Args:
        arguments: The words after ``mst``; the process's own by default. ``--debug`` among them
            shows the traceback of an error.
    """
    command_of(app)(arguments, prog_name="mst")
