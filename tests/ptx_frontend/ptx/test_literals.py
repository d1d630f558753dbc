"""Numbers and constant expressions; Python's own evaluation is the oracle."""

from __future__ import annotations

import ast
import math
import struct

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kernelcast.errors import PtxSyntaxError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.ptx.text.lexer import Tokens
from kernelcast.ptx_frontend.ptx.text.literals import constant_expression, number
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.syntax import Float, Integer


def value_of(text: str) -> int:
    found = constant_expression(Tokens(SourceText("t.ptx", text)))
    assert isinstance(found, Integer)
    return found.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("42", 42),
        ("42U", 42),
        ("0x1F", 31),
        ("0XffU", 255),
        ("017", 15),
        ("0b101U", 5),
        ("WARP_SZ", 32),
    ],
)
def test_integers(text: str, value: int) -> None:
    assert number(text) == Integer(value)


@given(st.floats(width=32, allow_nan=False))
def test_single_precision_bits(value: float) -> None:
    raw = struct.unpack("<I", struct.pack("<f", value))[0]
    assert number(f"0f{raw:08X}") == Float(value, 32, raw)


@given(st.floats(allow_nan=False))
def test_double_precision_bits(value: float) -> None:
    raw = struct.unpack("<Q", struct.pack("<d", value))[0]
    assert number(f"0D{raw:016x}") == Float(value, 64, raw)


def test_not_a_number_keeps_its_bits() -> None:
    found = number("0f7FC01234")
    assert isinstance(found, Float)
    assert math.isnan(found.value)
    assert found.raw == 0x7FC01234


@pytest.mark.parametrize(
    "text",
    [
        "0f3F80",
        "0f3F80000V",
        "0dVVVVVVVVVVVVVVVV",
        "0d3F800000",
        "09",
        "12ab",
        "0b12",
        "%r1",
        "",
        "0x",
    ],
)
def test_malformed_numbers_are_no_numbers(text: str) -> None:
    assert number(text) is None


_LITERALS = st.integers(0, 99).map(str)
_EXPRESSIONS = st.recursive(
    _LITERALS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "&", "|", "^"]), inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"~({text})"),
        inner.map(lambda text: f"-({text})"),
        st.tuples(inner, st.sampled_from(("<<", ">>")), st.integers(0, 5).map(str)).map(" ".join),
    ),
    max_leaves=12,
)


@given(_EXPRESSIONS)
def test_constant_expressions_have_the_precedence_of_c(text: str) -> None:
    """Python shares it for these operators; `eval` sees nothing but digits and operators."""
    try:
        expected = eval(text)
    except ValueError:  # a negative shift count
        return
    assume(not any(count > 63 for count in _shift_counts(text)))
    assert value_of(text) == expected


def _shift_counts(text: str) -> list[int]:
    """Shifts by 64 and more are refused: a constant has 64 bits."""
    shifts = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.BinOp))
    return [
        eval(ast.unparse(node.right))
        for node in shifts
        if isinstance(node.op, (ast.LShift, ast.RShift))
    ]


@pytest.mark.parametrize(("text", "value"), [("-7 / 2", -3), ("-7 % 2", -1), ("7 / -2", -3)])
def test_division_rounds_toward_zero(text: str, value: int) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    "text", ["4 / 0", "4 % (1 - 1)", "1.5 + 1", "~0f3F800000", "(1", "+", "1 << -1"]
)
def test_impossible_expressions(text: str) -> None:
    with pytest.raises(PtxSyntaxError):
        value_of(text)


def test_minus_flips_the_sign_bit_of_a_float() -> None:
    found = constant_expression(Tokens(SourceText("t.ptx", "-0f3F800000")))
    assert found == Float(-1.0, 32, 0xBF800000)


@pytest.mark.parametrize("mask", ["0xVF00", "0x"])
def test_malformed_masks_of_addresses(mask: str) -> None:
    text = f".version 8.0\n.target sm_80\n.address_size 64\n.global .b8 x[8] = {{{mask}(y)}};"
    with pytest.raises(PtxSyntaxError, match=f"expected a mask for the address, found '{mask}'"):
        read_ptx(text, "t")


def test_an_array_without_a_size_is_as_long_as_its_initialiser() -> None:
    header = ".version 8.0\n.target sm_80\n.address_size 64\n"
    variables = ".global .u8 x[] = {1, 2, 3}; .global .s16 y[][2] = {{1, 2}, {3, -4}};\n"
    body = ".entry k() { .reg .b64 %d<2>; mov.b64 %d0, x; mov.b64 %d1, y; ret; }"
    symbols = read_ptx(header + variables + body, "t").kernels["k"].symbols
    assert symbols["x"].data == bytes((1, 2, 3))
    assert np.frombuffer(symbols["y"].data, np.int16).tolist() == [1, 2, 3, -4]
