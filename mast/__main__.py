"""``python -m mast``."""

from marl_start import mast

if __name__ == "__main__":
    mast()
