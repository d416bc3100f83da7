"""A port of MAESTRO's analysis, and the guard in front of it."""

from cost_models.maestro.binary import BinaryModel
from cost_models.maestro.model import MaestroModel

__all__ = ["BinaryModel", "MaestroModel"]
