"""The paper's Table III: every method on layers of MobileNet-v2 and VGG16, under equal budgets.

A thin call of `mapper compare`: 4 layers of each network, latency and EDP, 20,000 samples, 5 seeds.
Interrupted, the same command goes on where it was. Further options go to `mapper compare`, such as
``--cost-model maestro``, ``--format markdown``, ``--plots DIR`` or ``--no-run``.
"""

from __future__ import annotations

import sys

from mapper.cli import main as mapper

LAYERS = {
    # Early pointwise, early depthwise, late pointwise, late depthwise.
    "mobilenetv2": (2, 7, 32, 46),
    # High and wide, middle, deep, deepest convolution.
    "vgg16": (1, 4, 8, 11),
}
DEFAULTS = {
    "--layers": ",".join(f"{net}.{index}" for net, found in LAYERS.items() for index in found),
    "--objectives": "latency,edp",
    "--methods": "all",
    "--budget": "20000",
    "--seeds": "5",
    "--accelerator": "edge",
    "--cost-model": "exact",
    "--store": "table3.sqlite",
}


def main() -> None:
    """Run the comparison; an option that is given takes the place of the default."""
    words = sys.argv[1:]
    if "-h" in words or "--help" in words:
        print(__doc__)
        print("Defaults:", *(f"  {name} {value}" for name, value in DEFAULTS.items()), sep="\n")
        return
    given = {word.partition("=")[0] for word in words}
    defaults = [word for item in DEFAULTS.items() if item[0] not in given for word in item]
    mapper(["compare", *defaults, *words])
