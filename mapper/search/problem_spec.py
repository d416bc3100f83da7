"""The definition of a mapping problem as plain values: what a stored run searches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import cost_models
import layers
from cost_models import Accelerator, Chain, chip_from, recorded_options
from layers import Layer
from maestro_env import Problem
from marl_common import files_of


@dataclass(frozen=True)
class ProblemSpec:
    """The definition of a :class:`maestro_env.Problem` as plain values, with what tables call it.

    Args:
        layer: The layer.
        layer_name: What tables call it, such as ``mobilenetv2.2``.
        accelerator: The chip, of two levels or of any number.
        accelerator_name: What tables call it, such as ``edge``.
        objective: Name of the objective.
        cost_model: Name of the cost model.
        cost_model_options: Options of the cost model, all of them; none stand for those that were
            the defaults before they were recorded.
        space: Options of the map space.
        limits: Limits such as ``{"max_latency_cycles": 1e6}``.
    """

    layer: Layer
    layer_name: str
    accelerator: Accelerator | Chain
    accelerator_name: str
    objective: str
    cost_model: str = "exact"
    cost_model_options: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)

    def build(self) -> Problem:
        """The problem, with fresh counters.

        Raises:
            ValueError: An error of the layer, cost model, space, objective or limits.
        """
        return Problem(
            self.layer,
            self.accelerator,
            self.objective,
            cost_models.load(self.cost_model, **self.cost_model_options),
            dict(self.space),
            dict(self.limits),
        )

    def complete(self) -> ProblemSpec:
        """The same problem with every option of its space and cost model spelled out.

        The chip is the one that its mappings are of: a list of levels in an uneven space.

        Raises:
            ValueError: As :meth:`build`: so every mistake is found before a search begins.
        """
        problem = self.build()
        described = problem.describe()
        names = ("space", "cost_model_options", "limits")
        fields = {name: described[name] for name in names}
        return replace(self, accelerator=problem.accelerator, **fields)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; :meth:`from_dict` reads them."""
        return asdict(self) | {
            "layer": layers.to_fields(self.layer),
            "accelerator": self.accelerator.to_dict(),
            **files_of(self.cost_model_options),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ProblemSpec:
        """The problem of a stored run, also one of an older form.

        Raises:
            ValueError: The values are not those of :meth:`to_dict`.
        """
        try:
            values = {name: value for name, value in data.items() if name != "files"}
            values["cost_model_options"] = recorded_options(values)
            values["layer"] = layer_of(values["layer"])
            values["accelerator"] = chip_from(values["accelerator"])
            return cls(**values)
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"problem of a stored run: {error}; it is damaged, or a newer program wrote it"
            ) from None


def layer_of(fields: Mapping[str, Any]) -> Layer:
    """The layer of :func:`layers.to_fields`.

    Raises:
        LayerError: The fields make no layer.
        KeyError: Name or kind is missing.
    """
    values = dict(fields)
    return layers.from_fields(values.pop("name"), values.pop("kind"), values)


def accelerator_name(
    text: str,
    overrides: Mapping[str, str | None] | None = None,
    sets: Iterable[str] | None = None,
) -> str:
    """What tables call an accelerator: a preset or a file's name, and fields that were replaced."""
    changed = [f"{name}={value}" for name, value in (overrides or {}).items() if value is not None]
    changed += sets or ()
    return " ".join([Path(text).stem if text.endswith((".yaml", ".yml")) else text, *changed])
