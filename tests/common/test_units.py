"""Quantities and texts as a person sees them."""

import math
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marl_common import engineering, percent, printable


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (31_037_410, "um^2", "31.0 mm²"),
        (50_000, "um^2", "0.0500 mm²"),
        (950, "um^2", "950 µm²"),
        (44_449.55, "nJ", "44.4 µJ"),
        (999.6, "nJ", "1.00 µJ"),
        (0, "nJ", "0 J"),
        (666.4, "mW", "666 mW"),
        (0.00123, "s", "1.23 ms"),
        (1_525_030, "cycles", "1.53 Mcycles"),
        (9_999, "cycles", "9,999 cycles"),
        (380, "B", "380 B"),
        (108_000, "B", "108 kB"),
        (0.0386, "MACs/cycle", "0.0386 MACs/cycle"),
        (4.89669e11, "cycles * nJ", "490 J·cycles"),
        (4.65e13, "cycles * um^2", "46.5 m²·cycles"),
        (118_013_952, "", "118 M"),
        (-20.7488, "", "-20.7"),
        (1e40, "nJ", "1.00e+31 J"),
        (None, "nJ", "-"),
        (math.inf, "nJ", "inf"),
        (math.nan, "", "nan"),
    ],
)
def test_a_quantity_has_a_prefix_and_three_digits(value, unit, text):
    assert engineering(value, unit) == text


def test_more_digits_where_asked() -> None:
    assert engineering(1_525_030, "cycles", digits=4) == "1.525 Mcycles"


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.floats(1e-15, 1e20), st.sampled_from(["nJ", "mW", "cycles", "B", "s"]))
def test_what_is_shown_is_the_value_to_three_digits(value: float, unit: str) -> None:
    powers = {"a": -18, "f": -15, "p": -12, "n": -9, "µ": -6, "m": -3, "k": 3, "M": 6, "G": 9}
    powers |= {"T": 12, "P": 15, "E": 18}
    number, _, rest = engineering(value, unit).partition(" ")
    symbol = {"nJ": "J", "mW": "W"}.get(unit, unit)
    assert rest.endswith(symbol)
    scale = 10.0 ** powers.get(rest.removesuffix(symbol), 0)
    base = {"nJ": 1e-9, "mW": 1e-3}.get(unit, 1.0)
    assert float(number.replace(",", "")) * scale == pytest.approx(value * base, rel=6e-3)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("vgg16.conv1_1", "vgg16.conv1_1"),
        ("conv[/x]", "conv[/x]"),
        ("größe µ²", "größe µ²"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines\t", "two\\nlines\\t"),
        ("\u202eturned", "\\u202eturned"),
        ("half\ud800", "half\\ud800"),
    ],
)
def test_nothing_that_a_terminal_obeys_is_left(text: str, seen: str) -> None:
    assert printable(text) == seen


def test_every_character_can_be_printed_in_one_line() -> None:
    seen = printable("".join(map(chr, range(sys.maxunicode + 1))))
    assert len(seen.splitlines()) == 1
    assert "\x1b" not in seen
    seen.encode("utf-8")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (1e-9, "less than 0.01 %"),
        (0.0004, "0.04 %"),
        (0.018, "1.8 %"),
        (0.36, "36 %"),
        (1.4, "140 %"),
        (32.5, "3,250 %"),
        (math.inf, "unknown"),
    ],
)
def test_a_share_never_reads_as_none(share: float, text: str) -> None:
    assert percent(share) == text
