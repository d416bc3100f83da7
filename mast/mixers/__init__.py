"""Mixers: the values that agents give their actions, to the value of the joint action."""

from __future__ import annotations

from mast.mixers.central import CentralMixer
from mast.mixers.qmix import QmixMixer
from mast.mixers.vdn import VdnMixer

__all__ = ["CentralMixer", "QmixMixer", "VdnMixer"]
