"""The prefix table and the texts made with it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelcast.errors import KernelcastError
from kernelcast.units import (
    BINARY_PREFIXES,
    DECIMAL_PREFIXES,
    format_count,
    format_quantity,
    format_seconds,
    format_si,
    parse_si,
    prefix_factor,
)

magnitudes = st.floats(min_value=1e-11, max_value=1e20)


def test_decimal_prefixes_are_steps_of_a_thousand() -> None:
    order = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"]
    assert list(DECIMAL_PREFIXES) == order
    for position, prefix in enumerate(order):
        assert DECIMAL_PREFIXES[prefix] == pytest.approx(1000.0 ** (position - 4), rel=1e-15)


def test_binary_prefixes_are_steps_of_1024() -> None:
    for position, prefix in enumerate(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]):
        assert BINARY_PREFIXES[prefix] == 1024 ** (position + 1)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (163.36e9, "B/s", "163.4 GB/s"),
        (0.020414, "s", "20.41 ms"),
        (0.0, "B", "0 B"),
        (1.0, "op", "1.000 op"),
        (999.96, "op", "1.000 kop"),
        (999.94, "op", "999.9 op"),
        (-1500.0, "B", "-1.500 kB"),
        (7.42e-6, "s", "7.420 µs"),
        (5e-13, "s", "0.5000 ps"),
        (2.5e21, "B", "2500 EB"),
        (1e3, "", "1.000 k"),
    ],
)
def test_format_si(value: float, unit: str, text: str) -> None:
    assert format_si(value, unit) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_text_for_what_is_not_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        format_si(value, "s")


@given(magnitudes, st.sampled_from([1, -1]), st.integers(2, 9))
def test_round_trip(size: float, sign: int, digits: int) -> None:
    value = sign * size
    back = parse_si(format_si(value, "B/s", digits), "B/s")
    assert back == pytest.approx(value, rel=0.51 * 10.0 ** (1 - digits))


@given(magnitudes)
def test_mantissa_lies_between_1_and_1000(value: float) -> None:
    mantissa = float(format_si(value, "B").split()[0])
    assert 1 <= mantissa < 1000 or value >= 1e20


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1.5k", "", 1500.0),
        ("1.5 K", "", 1500.0),
        ("32 KiB", "B", 32768.0),
        ("32 kB", "B", 32000.0),
        ("10ms", "s", 0.01),
        ("10 us", "s", 1e-5),
        ("10 μs", "s", 1e-5),
        ("-2e3 MB/s", "B/s", -2e9),
        (" .5 ", "", 0.5),
        ("3 s", "s", 3.0),
    ],
)
def test_parse_si(text: str, unit: str, value: float) -> None:
    assert parse_si(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit"),
    [("", ""), ("abc", ""), ("1.5x", ""), ("1 kB", "s"), ("1,5", ""), ("nan", ""), ("1e400", "")],
)
def test_parse_si_refuses(text: str, unit: str) -> None:
    with pytest.raises(KernelcastError, match="is not a number"):
        parse_si(text, unit)


def test_prefix_factor_knows_no_other_letters() -> None:
    assert prefix_factor("x") is None
    assert prefix_factor("K") == 1000


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.020414, "20.41 ms"),
        (119.0, "119.0 s"),
        (125.0, "2 min 5 s"),
        (3599.7, "1 h 0 min"),
        (3780.0, "1 h 3 min"),
        (-125.0, "-2 min 5 s"),
        (0.0, "0 s"),
    ],
)
def test_format_seconds(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_format_seconds_refuses_infinity() -> None:
    with pytest.raises(ValueError, match="finite"):
        format_seconds(math.inf)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (1218190, "1,218,190"), (56100732, "56.10 M"), (12.5, "12.5"), (-90, "-90")],
)
def test_format_count(count: float, text: str) -> None:
    assert format_count(count) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.5769, "fraction", "57.69 %"),
        (163.36e9, "B/s", "163.4 GB/s"),
        (3334823424.0, "B", "3.335 GB"),
        (0.020414, "s", "20.41 ms"),
        (0.30186, "op/B", "0.3019 op/B"),
        (7.9429, "", "7.943"),
        ("memory", "", "memory"),
    ],
)
def test_format_quantity(value: float | str, unit: str, text: str) -> None:
    assert format_quantity(value, unit) == text
