"""The laws of answers on random chains, and of optima of small spaces; each can fail."""

import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from benchmarks import levels_laws, levels_monotone
from benchmarks.levels_laws import LAWS
from cost_models.exact.nest import Nest, NestLevel, Port
from cost_models.exact.nest_counts import count
from layers import COUPLED_DIMS, LayerKind

Counts = dict[str, int]
LEVEL = NestLevel((2, 1, 2, 1, 1, 1, 1, 1), shared_bits=1 << 20, port=Port(8, 8))
NEST = Nest(
    (4, 3, 4, 1, 2, 1, 1, 1),
    (LEVEL, replace(LEVEL, tile=(1,) * 8, units=(2, 1, 1, 1, 1, 1, 1, 1))),
    COUPLED_DIMS[LayerKind.CONV],
    dram=Port(8, 8),
)


def test_no_answer_breaks_a_law(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["levels_laws", "--answers", "300"])
    failed = levels_laws.TABLE.run()
    out = capsys.readouterr().out
    assert not failed, out
    answers, refused = (int(line.split()[0]) for line in out.splitlines()[1:3])
    assert answers == 300
    assert refused > 0


def halved(name: str) -> Callable[[Counts], Counts]:
    """Counts of which one is half as large."""
    return lambda counts: counts | {name: counts[name] // 2}


WRONG: dict[str, Callable[[Counts], Counts]] = {
    "latency x bits a cycle >= bits": halved("stepwise"),
    "distinct elements <= reads": lambda c: c | {"read/0/1/0": 11},
    "reads <= reads inside": halved("read/1/2/1"),
    "read back <= read back inside": lambda c: c | {"refill/1/0": c["refill/3/2"] + 1},
    "busy <= units": lambda c: c | {"active/2": 2 * c["steps/2"] + 1},
    "energy >= its floor by level": lambda c: c | {"fill/0/1": 11},
    "counts add up": lambda c: c | {"macs": c["macs"] + 1},
}


@pytest.mark.parametrize("law", WRONG)
def test_a_wrong_count_breaks_a_law(law: str) -> None:
    counts = count(NEST)
    assert all(holds(NEST, counts) for holds in LAWS.values())
    assert not LAWS[law](NEST, WRONG[law](counts))


def test_no_better_chip_has_a_higher_optimum(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["levels_monotone", "--seeds", "3"])
    assert not levels_monotone.TABLE.run(), capsys.readouterr().out


def test_a_higher_optimum_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def dearer(nest: Nest) -> Counts:
        counts = count(nest)
        return counts | {"stepwise": counts["stepwise"] + len(nest.levels)}

    monkeypatch.setattr(levels_monotone, "count", dearer)
    found = levels_monotone.run(None, 0)
    assert found["one more entry: higher latency"] == 1
