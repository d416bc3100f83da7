"""The mapping paper's spaces: their columns, and where they may be used."""

import gymnasium

from maestro_env import Problem


def names_of(layer: str, space: str) -> list[str]:
    """Parameters with more than one choice."""
    problem = Problem(layer, "archgym", "latency", "maestro", space)
    return [p.name for p in problem.space.parameters if len(p) > 1]


def test_the_space_has_the_columns_of_figure_2_and_the_cluster_size() -> None:
    names = names_of("vgg16.4", "paper")
    for level in ("outer", "inner"):
        assert {f"{level}_order", f"{level}_parallel"} < set(names)
        assert {f"{level}_tile_{dim}" for dim in "KCYXRS"} < set(names)
    assert sorted(set(names) - {n for n in names if n[:5] in ("outer", "inner")}) == [
        "cluster_size",
        "num_pes",
    ]
    assert len(names) == 18


def test_the_space_of_ten_agents_searches_the_outer_level() -> None:
    names = names_of("vgg16.4", "paper-10")
    assert len(names) == 10
    assert not [n for n in names if n.startswith("inner_tile") or n == "inner_order"]
    space = Problem("vgg16.4", "archgym", "latency", "maestro", "paper-10").space
    mapping = space.decode(space.sample(50, 0))
    inner = mapping.tiles[:, 1]
    assert (inner[:, :4] == 1).all()
    assert (inner[:, 4:6] == mapping.tiles[:, 0, 4:6]).all()


def test_the_environment_and_the_name_are_one_space() -> None:
    environment = gymnasium.make("maestro_env:MaestroEnvPaper-v0", layer="vgg16.4")
    problem = environment.unwrapped.problem
    named = Problem("vgg16.4", "archgym", "latency", "maestro", "paper")
    assert problem.space.options == named.space.options
