"""NSGA-II over designs, where there are too many to try all: Optuna's, by ask and tell.

Source: Deb et al., A fast and elitist multiobjective genetic algorithm: NSGA-II, 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mapper.explore.design_ranges import ExploreError, Value
from mapper.explore.design_space import DesignSpace, SweptChip

POPULATION = 50
"""Designs of a generation."""
MOST_REPEATS = 20
"""Generations in a row without a new design after which the draw ends."""

Evaluate = Callable[[Sequence[SweptChip]], Sequence[tuple[Sequence[float], float]]]
"""Objectives of designs, and by how much each breaks the limits (0 where it keeps them)."""


def draw_by_nsga2(
    space: DesignSpace, designs: int, seed: int, objectives: int, evaluate: Evaluate
) -> list[SweptChip]:
    """Different designs, generation by generation, each from the best of those before.

    Args:
        space: What there is.
        designs: How many different ones.
        seed: The seed.
        objectives: How many objectives.
        evaluate: Gives a generation's objectives.

    Raises:
        ExploreError: Optuna is not installed.
    """
    try:
        import optuna
    except ImportError:
        raise ExploreError(
            "NSGA-II needs Optuna, which is not installed; install it with: "
            "pip install 'marl-mapper[bo]', or draw by chance with --draw uniform"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    size = min(POPULATION, designs)
    sampler = optuna.samplers.NSGAIISampler(population_size=size, seed=seed)
    study = optuna.create_study(directions=["minimize"] * objectives, sampler=sampler)
    places = {
        name: optuna.distributions.IntDistribution(0, len(values) - 1)
        for name, values in space.values.items()
    }
    found: dict[SweptChip, None] = {}
    idle = 0
    while len(found) < min(designs, space.size) and idle < MOST_REPEATS:
        trials = [study.ask(places) for _ in range(size)]
        chips = [space.with_fields(_fields(space, trial.params)) for trial in trials]
        room = designs - len(found)
        fresh = list(dict.fromkeys(chip for chip in chips if chip not in found))[:room]
        idle = 0 if fresh else idle + 1
        found.update(dict.fromkeys(fresh))
        for trial, (values, over) in zip(trials, evaluate(chips), strict=True):
            trial.set_constraint("limits", over)
            study.tell(trial, list(values))
    return list(found)


def _fields(space: DesignSpace, places: Mapping[str, int]) -> dict[str, Value]:
    return {name: values[places[name]] for name, values in space.values.items()}
