"""``python -m mapper`` is ``mapper``."""

from marl_start import mapper

mapper()
