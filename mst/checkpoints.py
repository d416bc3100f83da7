"""What the checkpoint of a run is called, and the models that a run keeps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from marl_runs import CheckpointFormat
from mst.errors import MstError

if TYPE_CHECKING:
    from mst.data import Tokenizer
    from mst.trainer import Pretrainer

FORMAT = CheckpointFormat("sparse pre-training", 1)
"""A run on its way."""
LEARNT = CheckpointFormat("a pre-trained model", 1)
"""A model: ``config``, its tensors as ``model``, its ``masks``, and since 0.3 ``tokenizer``, the
``update`` and the ``bpb`` on held-out text."""
LAST, BEST = "last", "best"
FILES = {LAST: "model.pt", BEST: "best.pt"}


def model_file(folder: Path, which: str) -> Path:
    """The file of a model that a run has kept.

    Args:
        folder: Of the run.
        which: ``last``, ``best``, or the number of an update.

    Raises:
        MstError: The run has kept none of this name.
    """
    path = folder / FILES.get(which, f"update-{which}.pt")
    if path.exists():
        return path
    kept = [name for name, file in FILES.items() if (folder / file).exists()]
    numbered = (p.stem.removeprefix("update-") for p in folder.glob("update-*.pt"))
    kept += sorted(numbered, key=lambda number: (len(number), number))
    raise MstError(
        f"checkpoint {which!r}: the run has kept {', '.join(kept) or 'none yet'}; give one of "
        "these with --checkpoint (`mst train --save-every N` keeps more)"
    )


class ModelKeeper:
    """Writes models of a run: the last one, the best one, and every n-th if wanted.

    Args:
        folder: Of the run.
        tokenizer: Makes text of tokens; kept beside the model, so that it can write.
        every: Updates between models that all stay; None: none do.

    Attributes:
        kept: Update of the last model.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer, every: int | None) -> None:
        self._folder, self._every = folder, every
        best = folder / FILES[BEST]
        self._best = LEARNT.load(best)["bpb"] if best.exists() else float("inf")
        self._tokenizer = getattr(tokenizer, "text", None)
        self.kept: int | None = None

    def tick(self, trainer: Pretrainer) -> None:
        """Keep the model of an update that is a multiple of `every`."""
        if self._every and trainer.done % self._every == 0:
            self._write(trainer, f"update-{trainer.done}.pt", None)

    def evaluated(self, trainer: Pretrainer, bits: float) -> None:
        """Keep a model that was just judged: as the last, and as the best if it is."""
        self._write(trainer, FILES[LAST], bits)
        self.kept = trainer.done
        if bits < self._best:
            self._best = bits
            self._write(trainer, FILES[BEST], bits)

    def _write(self, trainer: Pretrainer, file: str, bits: float | None) -> None:
        """Settings, weights written out, and masks where most sparse."""
        from sparse_training import SparseLinear

        weights = trainer.model.state_dict()
        for name, layer in trainer.model.named_modules():
            if isinstance(layer, SparseLinear):
                weights[f"{name}.weight"] = layer.dense()
        state: dict[str, Any] = {
            "config": trainer.config.plain(), "model": weights, "masks": trainer.sparsest,
            "tokenizer": self._tokenizer, "update": trainer.done, "bpb": bits,
        }  # fmt: skip
        LEARNT.save(self._folder / file, state)
