"""Assignments: which agent chooses which parameters, as files that can be edited and reused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from marl_common import parse_yaml, read_text, suggest, write_text

_SUFFIXES = (".yaml", ".yml", ".json")


class AssignmentError(ValueError):
    """An assignment that is not a partition of the parameters, or a file that holds none."""


@dataclass(frozen=True)
class Assignment:
    """A partition of named parameters over agents.

    Args:
        agents: One tuple of parameter names for each agent.
        source: Where it came from (layer, objective, policy, samples ...), as plain values.

    Raises:
        AssignmentError: An agent is empty or a parameter appears twice.
    """

    agents: tuple[tuple[str, ...], ...]
    source: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seen: dict[str, int] = {}
        for number, names in enumerate(self.agents):
            if not names:
                raise AssignmentError(
                    f"agents.{number}: is empty; expected at least one parameter; remove the agent"
                )
            for name in names:
                if name in seen:
                    raise AssignmentError(
                        f"agents.{number}: parameter {name!r} already belongs to agent "
                        f"{seen[name]}; expected each parameter once"
                    )
                seen[name] = number

    def __len__(self) -> int:
        return len(self.agents)

    @classmethod
    def single(cls, names: Iterable[str]) -> Assignment:
        """One agent for all parameters."""
        return cls((tuple(names),), {"policy": "single"})

    @classmethod
    def decentralised(cls, names: Iterable[str]) -> Assignment:
        """One agent for each parameter."""
        return cls(tuple((name,) for name in names), {"policy": "decentralised"})

    @property
    def names(self) -> tuple[str, ...]:
        """Every parameter, agent by agent."""
        return tuple(name for agent in self.agents for name in agent)

    def check(self, names: Sequence[str]) -> None:
        """Raise unless this is a partition of exactly `names`.

        Raises:
            AssignmentError: A parameter is unknown (with the nearest name) or missing.
        """
        known = set(names)
        for number, agent in enumerate(self.agents):
            for name in agent:
                if name not in known:
                    hint = suggest(name, names)
                    raise AssignmentError(
                        f"agents.{number}: unknown parameter {name!r}; expected one of "
                        f"{', '.join(names)}.{hint}"
                    )
        missing = [name for name in names if name not in set(self.names)]
        if missing:
            raise AssignmentError(
                f"agents: parameters {', '.join(missing)} belong to no agent; add each to one"
            )

    def fit(self, names: Sequence[str]) -> Assignment:
        """This assignment on another layer's parameters.

        Parameters that the layer does not have are dropped (an extent of 1 has no tile to choose);
        parameters that the assignment does not know become agents of their own.

        Raises:
            AssignmentError: Not one parameter is shared.
        """
        known = set(names)
        kept = [tuple(n for n in agent if n in known) for agent in self.agents]
        kept = [agent for agent in kept if agent]
        if not kept:
            raise AssignmentError(
                f"assignment shares no parameter with the layer; it has {', '.join(self.names)}, "
                f"the layer has {', '.join(names)}"
            )
        covered = {name for agent in kept for name in agent}
        rest: list[tuple[str, ...]] = [(name,) for name in names if name not in covered]
        return Assignment(tuple(kept + rest), dict(self.source))

    def columns(self, names: Sequence[str]) -> list[list[int]]:
        """Column indices of each agent's parameters in an action array over `names`."""
        self.check(names)
        place = {name: column for column, name in enumerate(names)}
        return [[place[name] for name in agent] for agent in self.agents]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the files hold them."""
        return {"agents": [list(agent) for agent in self.agents], "source": dict(self.source)}

    @classmethod
    def from_dict(cls, data: Any, path: str = "assignment") -> Assignment:
        """Read what `to_dict` gives; `path` begins the error messages.

        Raises:
            AssignmentError: The data has another form.
        """
        from mapper.clustering.assignment_file import check

        given = check(data, path, AssignmentError)
        try:
            return cls(tuple(map(tuple, given.agents)), given.source or {})
        except AssignmentError as error:
            raise AssignmentError(f"{path}: {error}") from None

    @classmethod
    def load(cls, path: str | Path) -> Assignment:
        """Read a YAML or JSON file.

        Raises:
            AssignmentError: The file cannot be read or holds no assignment.
        """
        from mapper.clustering.assignment_file import check_members

        path = Path(path)
        text = read_text(path, AssignmentError, "an assignment as YAML or JSON")
        check_members(text, str(path), AssignmentError)
        return cls.from_dict(parse_yaml(text, str(path), AssignmentError), str(path))

    def save(self, path: str | Path) -> None:
        """Write YAML or JSON by the file's ending; the file is whole or untouched.

        Raises:
            AssignmentError: The ending is another.
        """
        path = Path(path)
        if path.suffix not in _SUFFIXES:
            raise AssignmentError(f"{path}: expected a name ending in {', '.join(_SUFFIXES)}")
        if path.suffix == ".json":
            text = json.dumps(self.to_dict(), indent=2) + "\n"
        else:
            text = yaml.safe_dump(self.to_dict(), sort_keys=False, default_flow_style=None)
        write_text(path, text)
