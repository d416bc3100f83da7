import pytest

import baselines
from baselines import Searcher, SearcherError


@pytest.mark.parametrize("name", baselines.names())
def test_entry_point_gives_a_searcher_of_that_name(name: str) -> None:
    searcher = baselines.load(name)
    assert isinstance(searcher, Searcher)
    assert searcher.name == name
    assert searcher.source


def test_unknown_searcher_and_option_name_the_nearest() -> None:
    with pytest.raises(SearcherError, match="Did you mean 'random'"):
        baselines.load("randm")
    with pytest.raises(SearcherError, match="Did you mean 'population'"):
        baselines.load("ga", populaton=3)
    with pytest.raises(SearcherError, match="above 0"):
        baselines.load("ga", population=0)
