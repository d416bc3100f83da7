"""The options of the library's calls, checked once, before anything is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cost_models import CostModel
from maestro_env import MapSpace, Problem
from marl_common import LARGEST_SEED, expected, read_fields

Watcher = Callable[[Problem], object]


class LibraryError(ValueError):
    """What is to be mapped is neither a layer nor a model, or an option that no call takes."""


class Options(TypedDict, total=False):
    """The keyword arguments of :func:`marl_mapper.map`, which explains them."""

    method: str | None
    budget: int | None
    seed: int
    cost_model: CostModel | str
    space: MapSpace | Mapping[str, Any] | None
    limits: Mapping[str, float] | None
    searcher: Mapping[str, Any] | None
    on_batch: Watcher | None
    patience: int | None
    timeout: float | None
    gap: float | None
    agents: str | None
    store: str | Path | None


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, np.integer) else value


_NUMPY_TOO = BeforeValidator(_plain)


class CheckedOptions(BaseModel):
    """Options that passed; a part of the problem or an end is checked where that is made."""

    model_config = ConfigDict(extra="forbid", strict=True)

    method: Annotated[
        str | None, expected("a method's name such as 'ga'; its options go into searcher={...}")
    ] = None
    budget: Annotated[
        Annotated[int, Field(ge=1)] | None,
        _NUMPY_TOO,
        expected("a whole number of samples, at least 1, or None"),
    ] = None
    seed: Annotated[
        int, Field(ge=0, le=LARGEST_SEED), _NUMPY_TOO, expected("a whole number from 0 to 2^63 - 1")
    ] = 0
    cost_model: Any = "exact"
    space: Any = None
    limits: Any = None
    searcher: Annotated[
        Mapping[str, Any] | None,
        expected(
            "the method's options as a dict such as {'population': 50}; name the method itself "
            "with method='ga'"
        ),
    ] = None
    on_batch: Annotated[
        Watcher | None, expected("a function that takes the problem, such as print")
    ] = None
    patience: Any = None
    timeout: Any = None
    gap: Annotated[
        Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] | None,
        expected("a share from 0 to below 1, such as 0.05, or None"),
    ] = None
    agents: Annotated[
        str | None, expected("'auto', 'none', or a file of `mapper pretrain`, or None")
    ] = None
    store: Annotated[str | Path | None, expected("a path such as 'answers.db', or None")] = None

    @property
    def of_method(self) -> dict[str, Any]:
        """Options of the method, those that have a name of their own included."""
        named = {"gap": self.gap, "pretrained": self.agents}
        given = {name: value for name, value in named.items() if value is not None}
        return {**(self.searcher or {}), **given}


def checked_options(options: Mapping[str, Any]) -> CheckedOptions:
    """Options with their defaults.

    Raises:
        LibraryError: One is misspelt or of a wrong type; names it and what is expected.
    """
    return read_fields(CheckedOptions, options, "map", LibraryError, "options")
