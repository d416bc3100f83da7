"""A pre-training run as the runner and the store know it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from marl_common import write_text
from marl_runs import Context, Experiment, TrainingSession, training_session
from mst.config import PretrainConfig
from mst.errors import CorpusError, NotFiniteError

if TYPE_CHECKING:
    from mst.checkpoints import ModelKeeper
    from mst.data import Corpus
    from mst.trainer import Pretrainer

REPORTS = 20
"""Points of the learning curve."""
WINDOWS = 512
"""Windows of each kind of text that a finished model is judged by, at most."""
KIND = "mst"
SETTINGS = "config.yaml"
"""The options of a run, resolved, in its folder."""


@dataclass(frozen=True)
class Keeping:
    """What a run reports and keeps; nothing here changes what is learned.

    Attributes:
        label: What differs from the preset, in the run's name.
        options: Every option and its value, kept as :data:`SETTINGS`.
        evaluate_every: Updates between points of the learning curve; None: a twentieth of the run.
        save_every: Updates between models that stay; None: only the last and the best do.
        log: ``"tensorboard:FOLDER"`` or ``"mlflow:FOLDER"``.
    """

    label: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    evaluate_every: int | None = None
    save_every: int | None = None
    log: str | None = None


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
        keeping: What it reports and keeps.
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
    keeping: Keeping = field(default_factory=Keeping)

    @property
    def name(self) -> str:
        """Arm, what differs from its preset, and seed."""
        return " ".join(filter(None, [self.arm, self.keeping.label, f"seed {self.seed}"]))

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

        from mst.following import job_of
        from mst.switching import dense_above
        from mst.team import team_of

        torch.set_num_threads(self.threads)
        corpus = self._open_corpus()
        write_settings(context.folder / SETTINGS, self.keeping.options)
        above = dense_above(self.config, context.folder.parent)
        updates = self.config.updates(self.budget)
        checkpoint = context.folder / "checkpoint.pt"
        job = job_of(
            self.config, seed=self.seed, updates=updates, corpus=self.corpus, above=above,
            threads=self.threads, checkpoint=str(checkpoint) if checkpoint.exists() else None,
        )  # fmt: skip
        with team_of(self.config.processes, job, context.folder) as team:
            from mst.trainer import Pretrainer

            trainer = Pretrainer(self.config, self.seed, updates, corpus, above, team)
            return self._trained(context, trainer, corpus)

    def _open_corpus(self) -> Corpus:
        from mst.data import Corpus

        corpus = Corpus.open(Path(self.corpus))
        if corpus.manifest.digest != self.text:
            raise CorpusError(
                f"{self.corpus}: its text is {corpus.manifest.digest[:12]}, expected "
                f"{self.text[:12]}, which this run began with; make that corpus again, or start "
                "a run of its own"
            )
        return corpus

    def _trained(self, context: Context, trainer: Pretrainer, corpus: Corpus) -> Mapping[str, Any]:
        """The loop: an update, a look at held-out text now and then, a checkpoint each minute."""
        from mst.checkpoints import FORMAT, ModelKeeper
        from mst.evaluating import result_of

        keeper = ModelKeeper(context.folder, corpus.tokenizer, self.keeping.save_every)
        each = self.config.tokens_per_update
        with training_session(
            self, context, trainer, FORMAT, lambda: trainer.done * each
        ) as session:
            trainer.team.wait()
            try:
                while trainer.team.go_on(trainer.done < trainer.updates):
                    trainer.step()
                    if self._due(trainer):
                        _judge(trainer, corpus, session, keeper)
                    else:
                        context.progress(trainer.done * each)
                    keeper.tick(trainer)
                    session.tick()
            except NotFiniteError as error:
                raise NotFiniteError(f"{error}; {_kept(keeper)}") from None
        return result_of(trainer, corpus, self.windows)

    def _due(self, trainer: Pretrainer) -> bool:
        """Whether the model is judged after this update."""
        if trainer.done == trainer.updates:
            return True
        if self.keeping.evaluate_every:
            return trainer.done % self.keeping.evaluate_every == 0
        return trainer.done in {trainer.updates * i // REPORTS for i in range(1, REPORTS + 1)}

    @property
    def log(self) -> str | None:
        """The board that draws its figures."""
        return self.keeping.log


def _kept(keeper: ModelKeeper) -> str:
    if keeper.kept is None:
        return "no model was kept yet"
    return f"the model of update {keeper.kept} is kept (`mst sample RUN`)"


def write_settings(path: Path, options: Mapping[str, Any]) -> None:
    """Write options as a configuration file, which `--config` takes."""
    import yaml

    if options:
        write_text(path, yaml.safe_dump(dict(options), sort_keys=False))


def _judge(
    trainer: Pretrainer, corpus: Corpus, session: TrainingSession, keeper: ModelKeeper
) -> None:
    """Judge the model, send a point of the learning curve, and keep it.

    Raises:
        NotFiniteError: The model says no numbers.
    """
    from mst.evaluating import WHILE_TRAINING, bits_per_byte

    text, lengths = corpus.texts["files"], corpus.lengths
    bits = bits_per_byte(trainer.model, text, WHILE_TRAINING, lengths=lengths)
    if not math.isfinite(bits):
        raise NotFiniteError(
            f"update {trainer.done}: held-out text has {bits} bits per byte, expected a number "
            f"(learning rate {trainer.lr(trainer.done - 1):.3g}, density {trainer.density:.3g})"
            "; the run has failed. Lower --lr"
        )
    figures = {
        "bpb": bits,
        "train_loss": float(trainer.losses[-10:].mean()),
        "density": trainer.density,
        "flops": trainer.work.theory.total,
        "executed_flops": trainer.work.executed.total,
        "cpu_s": trainer.cpu_s,
    }
    session.send(figures, trainer.done * trainer.config.tokens_per_update, bits)
    keeper.evaluated(trainer, bits)
