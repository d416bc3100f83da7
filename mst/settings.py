"""What a person asks for on top of a preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mst.arms import ArmRun, arm_run
from mst.config import PretrainConfig
from mst.errors import unknown_choice
from mst.phases import parse_phases
from mst.presets import preset as named_preset
from sparse_training import BACKENDS, Backend


@dataclass(frozen=True)
class Wanted:
    """A preset and what is different from it; None leaves a setting as the preset has it.

    Attributes:
        preset: Its name.
        tokens: Length of the dense run.
        times: See :func:`mst.arms.arm_run`.
        backend: ``masked`` or ``compiled``.
        device: ``cpu``, ``cuda`` or ``auto``.
        repeat: Whether text may be read more than once.
        sparse: Settings of :class:`mst.config.SparseSettings`; phases as text.
        shape: Settings of :class:`mst.config.GptShape`.
        adam: Settings of :class:`mst.config.AdamSettings`.
        batch: Windows of an update.
        micro_batch: Windows at once.
    """

    preset: str = "small"
    tokens: int | None = None
    times: float | None = None
    backend: Backend = "masked"
    device: str = "cpu"
    repeat: bool = False
    sparse: Mapping[str, Any] = field(default_factory=dict)
    shape: Mapping[str, Any] = field(default_factory=dict)
    adam: Mapping[str, Any] = field(default_factory=dict)
    batch: int | None = None
    micro_batch: int | None = None

    def config(self) -> PretrainConfig:
        """Settings of MST.

        Raises:
            MstError: A setting is wrong, or settings do not fit together.
        """
        base = named_preset(self.preset).config
        sparse = _given(self.sparse)
        if "phases" in sparse:
            sparse["phases"] = parse_phases(sparse["phases"])
        batch = self.batch or base.batch
        micro = self.micro_batch or (min(base.micro_batch, batch) if not self.batch else batch)
        return replace(
            base,
            shape=replace(base.shape, **_given(self.shape)),
            sparse=replace(base.sparse, **sparse),
            adam=replace(base.adam, **_given(self.adam)),
            batch=batch,
            micro_batch=micro,
            backend=self.backend,
            device=self.device,
            repeat=self.repeat,
        )

    @property
    def length(self) -> int:
        """Tokens of the dense run."""
        return self.tokens or named_preset(self.preset).tokens

    def arm_run(self, arm: str) -> ArmRun:
        """The run of an arm.

        Raises:
            MstError: There is no such arm, or a setting is wrong.
        """
        return arm_run(arm, self.config(), self.length, self.times)


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def chosen_backend(name: str) -> Backend:
    """The backend of this name.

    Raises:
        MstError: There is none.
    """
    for known in BACKENDS:
        if name == known:
            return known
    raise unknown_choice("backend", name, BACKENDS)
