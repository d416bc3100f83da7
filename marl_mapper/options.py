"""The options of the library's calls, checked once, before anything is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cost_models import CostModel, load
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


class MapNetworkOptions(TypedDict, total=False):
    """The keyword arguments of :func:`marl_mapper.map_network`, which explains them."""

    fuse: str
    passes: str
    inputs: int
    gap: float
    cost_model: CostModel | str | Mapping[str, Any]
    space: Mapping[str, Any] | None
    store: str | Path
    workers: int


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


_Number = Annotated[int, Field(ge=1), _NUMPY_TOO, expected("a whole number of at least 1")]


class CheckedNetworkOptions(BaseModel):
    """Options of a network that passed; those of model and space are checked where they are made.

    A cost model given by its options alone is `exact`.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    fuse: Annotated[Literal["keep", "tiles"], expected("keep or tiles")] = "keep"
    passes: Annotated[Literal["free", "counted"], expected("free or counted")] = "free"
    inputs: _Number = 1
    gap: Annotated[
        float, Field(ge=0, lt=1), expected("a share of at least 0 and below 1, such as 0.01")
    ] = 0.01
    cost_model: Any = "exact"
    space: Annotated[
        Mapping[str, Any] | None, expected("options of the space, such as {'tiles': 'divisors'}")
    ] = None
    store: Annotated[str | Path, expected("a path such as 'proofs.sqlite'")] = ":memory:"
    workers: _Number = 1

    @property
    def model(self) -> CostModel | str:
        """The cost model, or its name."""
        if isinstance(self.cost_model, Mapping):
            return load("exact", **self.cost_model)
        return "exact" if self.cost_model is None else self.cost_model


def checked_options(options: Mapping[str, Any]) -> CheckedOptions:
    """Options with their defaults.

    Raises:
        LibraryError: One is misspelt or of a wrong type; names it and what is expected.
    """
    return read_fields(CheckedOptions, options, "map", LibraryError, "options")
