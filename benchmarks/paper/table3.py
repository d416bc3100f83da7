"""Table III: every method on layers of MobileNet-v2 and VGG16; see `benchmarks/table3.py`.

python benchmarks/paper/table3.py --seeds 1 --methods marl,ga,random
"""

from __future__ import annotations

import runpy
from pathlib import Path

if __name__ == "__main__":
    runpy.run_path(str(Path(__file__).parent.parent / "table3.py"), run_name="__main__")
