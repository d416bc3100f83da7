"""What is mapped: layers, the model zoo, importers."""

from layers.layer import DIMS, Layer, LayerError, LayerKind

__all__ = ["DIMS", "Layer", "LayerError", "LayerKind"]
