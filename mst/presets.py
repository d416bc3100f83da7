"""Named settings: models, phases and windows.

Lengths of the phases are ours: the released code of MST has none in it. There the local window and
the stride are one number, 128, which `gpt2` has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from marl_common import check_name
from mst.config import AdamSettings, GptShape, PretrainConfig, SparseSettings
from mst.errors import MstError
from mst.phases import RESTORATION, ULTRA, WARM_UP, Phase, parse_phases


@dataclass(frozen=True)
class Preset:
    """A model and how it is trained.

    Attributes:
        config: The settings, of arm ``mst``.
        tokens: Length of a whole run.
    """

    config: PretrainConfig
    tokens: int


def three_phases(warm_up: float, restoration: float) -> tuple[Phase, ...]:
    """Warm-up, ultra-sparse phase and restoration, by the lengths of the first and the last."""
    end = 1 - restoration
    return (
        Phase(WARM_UP, 0.0, warm_up),
        Phase(ULTRA, warm_up, end),
        Phase(RESTORATION, end, 1.0),
    )


SMALL = Preset(
    PretrainConfig(
        sparse=SparseSettings(sparsity=0.9, phases=three_phases(0.02, 0.15)),
        adam=AdamSettings(lr=4e-3, by_density=0.5),
    ),
    tokens=4_000 * 16 * 256,
)
PRESETS = {
    "small": SMALL,
    "close": replace(  # 0.054 +- 0.066 bits a byte above dense at 16.4 M tokens, 2.07 times counted
        SMALL,
        config=replace(
            SMALL.config,
            sparse=replace(
                SMALL.config.sparse,
                phases=parse_phases(
                    "warm-up:0-.02,ultra:.02-.6,restoration:.6-.7:cubic,dense:.7-1"
                ),
                growth="set",
            ),
        ),
    ),
    "gpt2": Preset(
        PretrainConfig(
            shape=GptShape(layers=12, width=768, heads=12, context=1024, vocabulary=50_257),
            sparse=SparseSettings(
                sparsity=0.8, phases=three_phases(0.05, 0.05), window=128, stride=128
            ),
            batch=64,
            micro_batch=4,
        ),
        tokens=10_000 * 64 * 1024,
    ),
}


ALSO = {"fast": "small"}
"""Another name -> a preset's."""


def preset(name: str) -> Preset:
    """The preset of this name; a name of :data:`ALSO` serves, too.

    Raises:
        MstError: There is none.
    """
    name = ALSO.get(name, name)
    check_name("preset", name, PRESETS, MstError)
    return PRESETS[name]
