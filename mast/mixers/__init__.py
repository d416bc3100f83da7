"""Mixers: the values that agents give their actions, to the value of the joint action."""

from __future__ import annotations

from mast.mixers.central import CentralMixer
from mast.mixers.mixer import MIXERS, JointChoice, Mixer
from mast.mixers.qmix import QmixMixer

__all__ = ["MIXERS", "CentralMixer", "JointChoice", "Mixer", "QmixMixer"]
