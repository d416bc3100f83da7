"""Parts of a learner by name: a file each, in which a class is registered.

A part is a frozen dataclass. Its fields are its settings: one that :class:`mast.MastConfig` has,
such as ``alpha``, is the configuration's; any other is the part's own, with its own default, and is
set with ``--set NAME=VALUE`` as well. A part of another package is named ``module:Class``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from marl_common import named, not_known
from mast.errors import MastError

if TYPE_CHECKING:
    from mast.config import MastConfig

P = TypeVar("P")
C = TypeVar("C", bound=type)


class UpdateSize(NamedTuple):
    """How much an update reads, and how wide its networks are.

    Attributes:
        steps: Steps of all episodes of a batch.
        seen: Observations that agents read, those after the last steps too.
        n_agents: Agents.
        n_actions: Actions of an agent.
        hidden: Width of the agents.
        mixer: Width of the mixing layer.
    """

    steps: int
    seen: int
    n_agents: int
    n_actions: int
    hidden: int
    mixer: int


class LearnerPart:
    """Base of parts."""

    def flops(self, size: UpdateSize) -> int:
        """Operations of one pass over a batch outside of layers, an exponential counted as one."""
        return 0


class Registry(Generic[P]):
    """Parts of one kind by name.

    Args:
        what: The kind, which is also the setting that names a part, such as ``"mixer"``.
        package: Package whose modules register parts, a file each; empty: there is none.
        offers: Attributes that a part must have.
    """

    def __init__(self, what: str, package: str, offers: Sequence[str] = ("flops",)) -> None:
        self.what, self._package, self._offers = what, package, offers
        self._known: dict[str, Callable[..., P]] = {}

    def add(self, name: str) -> Callable[[C], C]:
        """Register the class that follows."""

        def added(kind: C) -> C:
            self._known[name] = kind
            return kind

        return added

    def names(self) -> list[str]:
        """Names of all registered parts."""
        if self._package:
            package = importlib.import_module(self._package)
            for module in pkgutil.iter_modules(package.__path__):
                importlib.import_module(f"{self._package}.{module.name}")
        return list(self._known)

    def find(self, name: str) -> Any:
        """The class of a part, by its name or ``module:Class``.

        Raises:
            MastError: There is none, or it is no part.
        """
        if name not in self._known and ":" not in name and name not in self.names():
            raise MastError(not_known(self.what, name, [*self._known, "module:Class"]))
        if name in self._known:
            return self._known[name]
        return self._imported(name)

    def make(self, name: str, config: MastConfig) -> P:
        """A part with the settings that a configuration has for it."""
        kind = self.find(name)
        values = {f.name: config.setting(f.name, f.default) for f in fields(kind)}
        made: P = kind(**{key: value for key, value in values.items() if value is not MISSING})
        return made

    def _imported(self, place: str) -> Any:
        try:
            kind = named(place)
        except (ImportError, AttributeError, ValueError) as error:
            raise MastError(
                f"{self.what} {place!r} cannot be imported ({error}); expected module:Class, of an "
                "installed package or of the working folder."
            ) from None
        lacks = [offer for offer in self._offers if not hasattr(kind, offer)]
        if lacks or not (isinstance(kind, type) and is_dataclass(kind)):
            raise MastError(
                f"{self.what} {place!r} is none: it lacks {', '.join(lacks) or 'fields'}; expected "
                "a dataclass that derives from mast.LearnerPart."
            )
        return kind
