"""A small model, its settings, and how it is trained."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mst.checkpoints import FORMAT
from mst.config import GptShape, PretrainConfig, SparseSettings
from mst.data import Corpus
from mst.presets import three_phases
from mst.trainer import Pretrainer

SHAPE = GptShape(layers=1, width=16, heads=2, context=32)
SPARSE = SparseSettings(
    sparsity=0.8, phases=three_phases(0.2, 0.2), every=5, moves=3, window=8, stride=16
)
CONFIG = PretrainConfig(shape=SHAPE, sparse=SPARSE, batch=4, micro_batch=4)


def config_of(given: PretrainConfig = CONFIG, **sparse: Any) -> PretrainConfig:
    """Settings with other ones of what is sparse."""
    return replace(given, sparse=replace(given.sparse, **sparse))


def train(trainer: Pretrainer, until: int | None = None) -> Pretrainer:
    """Train on, to the end or until a number of updates is done."""
    while trainer.done < (trainer.updates if until is None else until):
        trainer.step()
    return trainer


def trained(
    config: PretrainConfig,
    corpus: Corpus,
    updates: int = 20,
    until: int | None = None,
    seed: int = 3,
    above: dict[str, float] | None = None,
) -> Pretrainer:
    """A run of some updates, to its end or less far."""
    return train(Pretrainer(config, seed, updates, corpus, above), until)


def continued(
    config: PretrainConfig,
    corpus: Corpus,
    path: Path,
    updates: int = 20,
    until: int = 7,
    above: dict[str, float] | None = None,
) -> tuple[Pretrainer, Pretrainer]:
    """A run to its end, and one that goes on from a checkpoint: they must be equal."""
    straight = trained(config, corpus, updates, above=above)
    FORMAT.save(path, trained(config, corpus, updates, until, above=above).state_dict())
    second = Pretrainer(config, 3, updates, corpus)  # what it measures is not what counts
    FORMAT.restore(path, second.load_state_dict)
    train(second)
    assert straight.losses.tolist() == second.losses.tolist()
    assert straight.work == second.work
    return straight, second


OPTIONS = (
    *("--layers", 1, "--width", 8, "--heads", 2, "--context", 16, "--batch", 2),
    *("--window", 4, "--stride", 8, "--every", 5),
)
"""The options of a run of very little."""
