"""Finished runs read back from a store: model, settings and masks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mst.checkpoints import LEARNT, MODEL
from mst.config import PretrainConfig
from mst.errors import MstError
from mst.experiment import KIND

if TYPE_CHECKING:
    import torch

    from mst.model import SparseGpt
    from runs import StoredRun


@dataclass(frozen=True)
class SavedRun:
    """What a finished run left.

    Attributes:
        run: Its row in the store.
        config: Its settings.
        state: What ``model.pt`` holds.
        metrics: Name of a figure -> tokens and values.
    """

    run: StoredRun
    config: PretrainConfig
    state: dict[str, Any]
    metrics: dict[str, Any]

    def model(self, device: str | torch.device = "cpu") -> SparseGpt:
        """The model, dense: kept weights and zeros."""
        from mst.model import SparseGpt

        model = SparseGpt(self.config.shape, mask_head=False, device=device)
        model.load_state_dict(self.state["model"])
        return model.eval()


def saved_run(name: str, store: str, metrics: tuple[str, ...] = ()) -> SavedRun:
    """A finished run of a store.

    Args:
        name: Its number, or how its key begins.
        store: The store.
        metrics: Figures to read as well.

    Raises:
        MstError: It is no finished run of `mst train`.
    """
    from runs import RunStatus, Store

    with Store.open(store, create=False) as opened:
        found = opened.run(name)
        if found.kind != KIND or found.status is not RunStatus.FINISHED:
            raise MstError(
                f"run {name!r} is a {found.kind} run, {found.standing}; expected a finished run of "
                "`mst train`. The same command continues it."
            )
        read = {one: opened.metrics(found.id, one) for one in metrics}
        state = LEARNT.load(opened.folder(found.key) / MODEL)
    return SavedRun(found, PretrainConfig.of(state["config"]), state, read)
