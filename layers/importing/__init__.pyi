from .decoder import LanguageModel as LanguageModel
from .errors import ImportingError as ImportingError
from .forward_pass import ForwardPass as ForwardPass
from .huggingface import from_huggingface as from_huggingface
from .onnx_model import from_onnx as from_onnx
from .report import Imported as Imported
from .torch_module import from_torch as from_torch
