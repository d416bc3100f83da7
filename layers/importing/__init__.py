"""Models of other tools as layers: ONNX, PyTorch, and transformers by their configuration."""

from layers.importing.huggingface import from_huggingface
from layers.importing.onnx_model import from_onnx
from layers.importing.report import Imported, ImportingError
from layers.importing.torch_module import from_torch

__all__ = ["Imported", "ImportingError", "from_huggingface", "from_onnx", "from_torch"]
