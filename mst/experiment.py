"""A pre-training run as the runner and the store know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mst.config import PretrainConfig
from mst.errors import CorpusError
from runs import Autosave, Context, Experiment, MetricBoard

if TYPE_CHECKING:
    from mst.data import Corpus
    from mst.trainer import Pretrainer

REPORTS = 20
"""Points of the learning curve."""
WINDOWS = 512
"""Windows of each kind of text that a finished model is judged by, at most."""
KIND = "mst"


@dataclass(frozen=True)
class SparsePretraining(Experiment):
    """Pre-training with one seed; the budget is in tokens.

    Attributes:
        arm: What the arm is called.
        config: Its settings.
        text: Digest of the corpus that it learns from.
        corpus: Folder of the corpus.
        seed: The seed.
        budget: Tokens.
        threads: Processor threads of the tensor library.
        windows: Windows of each kind of text that the finished model is judged by.
        log: ``"tensorboard:FOLDER"`` or ``"mlflow:FOLDER"``.
    """

    kind: ClassVar[str] = KIND
    continues: ClassVar[bool] = True
    counts: ClassVar[str] = "tokens"
    before_first: ClassVar[str] = "not evaluated yet"

    arm: str = "mst"
    config: PretrainConfig = field(default_factory=PretrainConfig)
    text: str = ""
    corpus: str = "mst-data"
    seed: int = 0
    budget: int = 0
    threads: int = 1
    windows: int = WINDOWS
    log: str | None = None

    @property
    def name(self) -> str:
        """Arm, model, sparsity, backend, learning rate and seed."""
        c = self.config
        model = f"L{c.shape.layers}d{c.shape.width}T{c.shape.context}"
        sparse = f" S{c.sparse.sparsity:g} {c.sparse.unit}" if c.sparse.phases else ""
        return f"{self.arm} {model}{sparse} {c.backend} lr {c.adam.lr:g} seed {self.seed}"

    def spec(self) -> Mapping[str, Any]:
        """See :meth:`Experiment.spec`."""
        config = self.config.plain()
        return {"arm": self.arm, "config": config, "text": self.text, "windows": self.windows}

    def standing(self, best: float) -> str:
        """Bits per byte on held-out files."""
        return f"{best:.3f} bits/byte"

    def run(self, context: Context) -> Mapping[str, Any]:
        """See :meth:`Experiment.run`."""
        import torch

        from mst.checkpoints import FORMAT
        from mst.data import Corpus
        from mst.switching import dense_above
        from mst.trainer import Pretrainer

        torch.set_num_threads(self.threads)
        corpus = Corpus.open(Path(self.corpus))
        if corpus.manifest.digest != self.text:
            raise CorpusError(
                f"{self.corpus}: its text is {corpus.manifest.digest[:12]}, expected "
                f"{self.text[:12]}, which this run began with; make that corpus again, or start "
                "a run of its own"
            )
        above = dense_above(self.config, context.folder.parent)
        updates = self.config.updates(self.budget)
        trainer = Pretrainer(self.config, self.seed, updates, corpus, above)
        autosave = Autosave(context, trainer, FORMAT)
        if autosave.resume():
            context.rewind(trainer.done * self.config.tokens_per_update)
        with MetricBoard(self.log, f"{self.name} {self.identity().key[:8]}") as board:
            report = _CurveReport(context, board, corpus, trainer.updates)
            while trainer.done < trainer.updates:
                trainer.step()
                report(trainer)
                autosave.tick()
        keep_model(trainer, context.folder)
        autosave.finish()
        return result_of(trainer, corpus, self.windows)


class _CurveReport:
    """Sends a point of the learning curve at equal shares of the run."""

    def __init__(self, context: Context, board: MetricBoard, corpus: Corpus, updates: int) -> None:
        self._context, self._board, self._corpus = context, board, corpus
        self._at = {updates * i // REPORTS for i in range(1, REPORTS + 1)}

    def __call__(self, trainer: Pretrainer) -> None:
        tokens = trainer.done * trainer.config.tokens_per_update
        if trainer.done not in self._at:
            self._context.progress(tokens)
            return
        from mst.evaluating import WHILE_TRAINING, bits_per_byte

        bits = bits_per_byte(trainer.model, self._corpus.texts["files"], WHILE_TRAINING)
        figures = {
            "bpb": bits,
            "train_loss": float(trainer.losses[-10:].mean()),
            "density": trainer.density,
            "flops": trainer.work.theory.total,
            "executed_flops": trainer.work.executed.total,
            "cpu_s": trainer.cpu_s,
        }
        for name, value in figures.items():
            self._context.metric(name, value, tokens)
            self._board.add(name, value, tokens)
        self._context.progress(tokens, bits)


def keep_model(trainer: Pretrainer, folder: Path) -> None:
    """Write what was learnt: settings, weights written out, and masks where most sparse."""
    from mst.checkpoints import LEARNT, MODEL
    from sparse_training import SparseLinear

    weights = trainer.model.state_dict()
    for name, layer in trainer.model.named_modules():
        if isinstance(layer, SparseLinear):
            weights[f"{name}.weight"] = layer.dense()
    state = {"config": trainer.config.plain(), "model": weights, "masks": trainer.sparsest}
    LEARNT.save(folder / MODEL, state)


def result_of(trainer: Pretrainer, corpus: Corpus, windows: int) -> dict[str, Any]:
    """What the store keeps of a finished run."""
    from mst.evaluating import bits_per_byte
    from mst.flops import attention_of
    from mst.phases import ULTRA
    from mst.trainer import loss_rise

    config, texts = trainer.config, corpus.texts
    judged = {
        name: bits_per_byte(trainer.model, texts[name], windows)
        for name in ("files", "package", "prose")
        if len(texts.get(name, ())) > config.shape.context
    }
    phases = trainer.schedule.phases
    pattern = attention_of(config.sparse, phases[0] if phases else None)
    steps = [m for m in trainer.schedule.moments() if m.phase == ULTRA]
    return {
        "samples": trainer.done * config.tokens_per_update,
        "best_value": judged["files"],
        "bpb": judged,
        "pattern_bpb": bits_per_byte(trainer.model, texts["files"], windows, pattern),
        "density": trainer.density,
        "updates": trainer.done,
        "train_loss": float(trainer.losses[-50:].mean()),
        "loss_rise": _number(loss_rise(trainer.losses, steps)),
        "flops": trainer.work.theory.total,
        "executed_flops": trainer.work.executed.total,
        "training_cpu_s": trainer.cpu_s,
        "versions": dict(corpus.manifest.versions),
        "text": corpus.manifest.digest,
    }


def _number(value: float) -> float | None:
    """None for nan, which JSON has not."""
    return None if value != value else value
