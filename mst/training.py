"""Runs that a command asks for: checked, done, and told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marl_runs import StoredRun, usable_device
from mst.data import Corpus
from mst.duration import check_duration
from mst.experiment import Keeping, SparsePretraining
from mst.settings import PretrainingOptions, TextOptions, Wanted

ROUND = 64
"""Rows of an embedding are a multiple of this where a tokenizer says how many are needed."""


def planned_runs(
    arms: Sequence[str], wanted: Wanted, text: TextOptions, running: PretrainingOptions
) -> list[SparsePretraining]:
    """The runs of each arm and seed, checked before the first begins.

    Raises:
        MstError: A setting is wrong, or the runs would take too long.
        CorpusError: There is no such text, or too little.
    """
    running.check()
    check_duration(wanted.config(), wanted.length, running.threads)
    usable_device(wanted.config().device)
    planned = [(arm, wanted.arm_run(arm)) for arm in arms]
    corpus = Corpus.open(text.corpus)
    rows = -(-corpus.tokenizer.size // ROUND) * ROUND
    if rows > wanted.config().shape.vocabulary:
        wanted = wanted.for_vocabulary(rows, corpus.tokenizer.size)
        planned = [(arm, wanted.arm_run(arm)) for arm in arms]
    for _, run in planned:
        check_duration(run.config, run.tokens, running.threads)
        corpus.check_length(run.tokens, run.config.shape.context, run.config.repeat)
    return [
        SparsePretraining(
            arm, run.config, corpus.manifest.digest, str(text.corpus), seed, run.tokens,
            running.threads, keeping=_keeping(arm, wanted, text, running, seed),
        )
        for seed in text.seed
        for arm, run in planned
    ]  # fmt: skip


def _keeping(
    arm: str, wanted: Wanted, text: TextOptions, running: PretrainingOptions, seed: int
) -> Keeping:
    """What a run reports and keeps."""
    options = {
        "arm": arm,
        **wanted.resolved(),
        "seed": [seed],
        "corpus": str(text.corpus),
        **{name: value for name, value in vars(running).items() if value is not None},
    }
    return Keeping(wanted.label(), options, running.evaluate_every, running.save_every, running.log)


def run_row(run: StoredRun) -> dict[str, Any]:
    """A run as a row of the table of trained runs."""
    result = run.result or {}
    bits = result.get("bpb", {})
    return {
        "run": run.id, "name": run.name, "status": str(run.standing), "tokens": run.samples,
        **{split: bits.get(split) for split in ("files", "package", "prose")},
        "pattern": result.get("pattern_bpb"), "density": result.get("density"),
        "flops": result.get("flops"), "executed": result.get("executed_flops"),
        "cpu_s": result.get("training_cpu_s"),
    }  # fmt: skip
