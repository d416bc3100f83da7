import math

import pytest

from layers import Layer
from maestro_env.complexity import (
    layer_class,
    mapping_space_size,
    order_of_magnitude,
    table_sizes,
)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("linear", 4, 13), ("attention", 8, 26), ("convolution", 13, 39)]
)
def test_table_of_the_paper(name: str, low: int, high: int) -> None:
    # MARL for DNN mapping, Table II: 10^4-10^13, 10^8-10^26, 10^13-10^39
    fewest, most = table_sizes()[name]
    assert (order_of_magnitude(fewest), order_of_magnitude(most)) == (low, high)


def test_loop_orders_of_the_paper() -> None:
    # the same text: 7! orders a level, 25 million for two levels, 128 billion for three
    orders = [mapping_space_size(7, 1, 1, levels) // 7**levels for levels in (1, 2, 3)]
    assert orders[0] == math.factorial(7)
    assert round(orders[1] / 1e6) == 25
    assert round(orders[2] / 1e9) == 128


def test_equation_counts_what_it_says() -> None:
    tiles, orders, spread = 4**3, math.factorial(3), 3 * 2
    assert mapping_space_size(3, 4, 2, 1) == tiles * orders * spread
    assert mapping_space_size(3, 4, 2, 2) == (tiles * orders * spread) ** 2


@pytest.mark.parametrize("arguments", [(0, 1, 1, 1), (3, 0, 1, 1), (3, 1, 4, 1), (3, 1, 1, 0)])
def test_bad_arguments_are_named(arguments: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="expected at"):
        mapping_space_size(*arguments)


def test_classes() -> None:
    assert layer_class(Layer.gemm("fc", 1, 10, 256)).name == "linear"
    assert layer_class(Layer.gemm("heads", 128, 128, 64, batch=12)).name == "attention"
    assert layer_class(Layer("dw", "DSCONV", 1, 32, 10, 10, 3, 3)).name == "convolution"


@pytest.mark.parametrize(("size", "power"), [(1, 0), (9, 0), (10, 1), (10**400 - 1, 399)])
def test_order_of_magnitude_is_exact(size: int, power: int) -> None:
    assert order_of_magnitude(size) == power
