"""Runs read back from a store: model, settings, masks and tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mst.checkpoints import LAST, LEARNT, model_file
from mst.config import PretrainConfig
from mst.errors import CorpusError, MstError
from mst.experiment import KIND

if TYPE_CHECKING:
    import torch

    from marl_runs import StoredRun
    from mst.data import Corpus, Tokenizer
    from mst.model import SparseGpt


@dataclass(frozen=True)
class SavedRun:
    """What a run has kept.

    Attributes:
        run: Its row in the store.
        config: Its settings.
        state: What the model's file holds.
        metrics: Name of a figure -> tokens and values.
    """

    run: StoredRun
    config: PretrainConfig
    state: dict[str, Any]
    metrics: dict[str, Any]

    def model(self, device: str | torch.device = "cpu") -> SparseGpt:
        """The model, dense: kept weights and zeros."""
        from mst.model import SparseGpt

        model = SparseGpt(self.config.shape, patterns=self.config.patterns, device=device)
        model.load_state_dict(self.state["model"])
        return model.eval()

    def tokenizer(self) -> Tokenizer:
        """What makes tokens of text for it, and text of its tokens."""
        from mst.data import ByteTokenizer, PairTokenizer

        text = self.state.get("tokenizer")
        return ByteTokenizer() if text is None else PairTokenizer(text)

    def check_corpus(self, corpus: Corpus, folder: Path) -> None:
        """Refuse a corpus of other tokens than the model has learned.

        Raises:
            CorpusError: It has another tokenizer.
        """
        ours, theirs = self.tokenizer(), corpus.tokenizer
        if ours.digest != theirs.digest:
            raise CorpusError(
                f"{folder}: its tokens are of {_named(theirs)}, expected {_named(ours)}, by which "
                f"run {self.run.id} has learned; give `mst data --tokenizer FILE` that one "
                "(tokenizer.json of its corpus)"
            )

    def judged(self, folder: Path, windows: int) -> dict[str, float]:
        """Bits per byte on each split of a corpus that is held out and longer than a window.

        Args:
            folder: The corpus.
            windows: Windows of each split, at most.

        Raises:
            CorpusError: There is none, or it has another tokenizer.
            MstError: It has no such split.
        """
        from mst.data import Corpus
        from mst.evaluating import judged

        corpus = Corpus.open(folder)
        self.check_corpus(corpus, folder)
        bits = judged(self.model(), corpus, windows)
        if not bits:
            raise MstError(
                f"{folder}: no split that is held out is longer than a window of "
                f"{self.config.shape.context}; give a larger corpus"
            )
        return bits


def _named(tokenizer: Tokenizer) -> str:
    return tokenizer.name if tokenizer.digest is None else f"tokenizer {tokenizer.digest[:12]}"


def saved_run(
    name: str, store: str, metrics: tuple[str, ...] = (), checkpoint: str = LAST
) -> SavedRun:
    """A run of a store that has kept a model.

    Args:
        name: Its number, or how its key begins.
        store: The store.
        metrics: Figures to read as well.
        checkpoint: ``last``, ``best``, or the number of an update.

    Raises:
        StoreError: It is no run of `mst train`.
        MstError: It has kept no such model.
    """
    from marl_runs import Store, kept_run

    with Store.open(store, create=False) as opened:
        found = kept_run(opened, name, [KIND], finished=False)
        read = {one: opened.metrics(found.id, one) for one in metrics}
        state = LEARNT.load(model_file(opened.folder(found.key), checkpoint))
    return SavedRun(found, PretrainConfig.of(state["config"]), state, read)
