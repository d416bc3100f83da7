"""What a mixer is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from torch import Tensor

from mast.parts import LearnerPart, Registry

if TYPE_CHECKING:
    from mast.episodes import TaskShape
    from mast.widths import NetworkWidths


class JointChoice(NamedTuple):
    """What agents chose, for mixers that tell a choice from the best one.

    Attributes:
        best: ``(N, rows)`` values of the best available actions.
        taken: ``(N, A, rows)``, 1 at the action that was taken.
    """

    best: Tensor
    taken: Tensor


class Mixer(LearnerPart):
    """A kind of mixer.

    Attributes:
        reads_choices: It needs :class:`JointChoice`.
    """

    reads_choices: ClassVar[bool] = False

    def build(self, shape: TaskShape, widths: NetworkWidths, make: Any) -> Any:
        """Its network, a module that mixes the values of chosen actions.

        It is called with ``(N, rows)`` values and ``(S, rows)`` states, and where the mixer
        `reads_choices` with these, or None where the best were chosen. It gives ``(rows,)`` values
        of the joint actions.

        Args:
            shape: The task's.
            widths: `mixer` and `hyper` are meant for it; tiny networks have smaller ones.
            make: Makes its layers, see :data:`mast.nets.MakeLayer`.
        """
        raise NotImplementedError  # every mixer has its own


MIXERS: Registry[Mixer] = Registry("mixer", "mast.mixers", ("build", "reads_choices", "flops"))
