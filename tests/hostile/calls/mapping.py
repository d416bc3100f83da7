"""Hostile calls of `marl_mapper.map` and `map_many`."""

from __future__ import annotations

import marl_mapper
from layers import LayerError
from tests.hostile.calls import Row

ROWS = [
    Row(
        "a layer that is not there", lambda: marl_mapper.map("resnet18.l9"), LayerError, "resnet18"
    ),
]
