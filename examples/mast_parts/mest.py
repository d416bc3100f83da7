"""A drop rule: MEST keeps weights that are large or still change (Yuan et al. 2021).

mast train --arm set+ --set drop_rule=mest:Mest --set pull=1
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from sparse_training import DropRule


@dataclass(frozen=True)
class Mest(DropRule):
    """Scores are magnitudes plus those of gradients; the lowest are dropped.

    Attributes:
        pull: What a gradient counts beside a weight.
    """

    by_gradient: ClassVar[bool] = True
    pull: float = 1.0

    def scores(self, weights: Any, gradients: Any) -> Any:
        """``(kept,)`` magnitudes of weights and gradients to ``(kept,)`` scores."""
        return weights + self.pull * gradients
