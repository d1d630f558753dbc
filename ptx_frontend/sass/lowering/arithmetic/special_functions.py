"""Approximated functions, and the test whether a division needs its slow path.

`MUFU` gives the exact value rounded to its type (neighbours of it in the JIT engine), so that
Newton's steps behind it find what they find on hardware. What PTX asks of each approximation is in
`ACCURACIES`, which the tests hold against machine code.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.ptx_frontend.sass.lowering.arithmetic.half_operands import half, placed
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["ACCURACIES", "Accuracy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How far results of an approximating instruction may be from PTX execution.

    A result is within the largest of: `ulp` units in the last place, `absolute`, and `relative`
    times the exact value. `limit`: it holds for operands up to that magnitude.
    """

    ulp: float = 0.0
    absolute: float = 0.0
    relative: float = 0.0
    limit: float = float("inf")


ACCURACIES = {
    "rcp.approx.f32": Accuracy(ulp=1),
    "rsqrt.approx.f32": Accuracy(relative=2**-22.9),
    "sqrt.approx.f32": Accuracy(relative=2**-23),
    "ex2.approx.f32": Accuracy(ulp=2),
    "lg2.approx.f32": Accuracy(absolute=2**-22, relative=2**-22),
    "sin.approx.f32": Accuracy(absolute=2**-20.5, limit=3.1415927),
    "cos.approx.f32": Accuracy(absolute=2**-20.5, limit=3.1415927),
    "tanh.approx.f32": Accuracy(relative=2**-11),
    "div.approx.f32": Accuracy(ulp=2, limit=2.0**126),
    "div.full.f32": Accuracy(ulp=2),
    "ex2.approx.f16": Accuracy(relative=2**-9.9),
    "ex2.approx.bf16": Accuracy(relative=2**-7),
    "tanh.approx.f16": Accuracy(absolute=2**-10.987),
    "tanh.approx.bf16": Accuracy(absolute=2**-8),
    "rcp.approx.ftz.f64": Accuracy(relative=2**-20),
    "rsqrt.approx.f64": Accuracy(relative=2**-20),
}
"""The approximating instructions of PTX with the bounds of the PTX ISA manual (8.8).

It gives none for f64: there they are the digits that the upper half of a double has. Everything
that is not in this table is bit-equal.
"""

_HALVES = {"F16": "f16", "BF16": "bf16"}
_OF_SINGLE = {
    "RCP": "rcp.approx.ftz",
    "RSQ": "rsqrt.approx.ftz",
    "SQRT": "sqrt.approx.ftz",
    "LG2": "lg2.approx.ftz",
    "EX2": "ex2.approx.ftz",
    "TANH": "tanh.approx",
}
"""Subnormal numbers are zeros but for tanh; the assembler scales around it where PTX wants them."""
_OF_HALF = {
    ("EX2", "f16"): "ex2.approx",
    ("EX2", "bf16"): "ex2.approx.ftz",
    ("TANH", "f16"): "tanh.approx",
    ("TANH", "bf16"): "tanh.approx",
}
_OF_TURNS = {"SIN": "opencl.sinpi.f32", "COS": "opencl.cospi.f32"}
_OF_UPPER_HALF = {"RCP64H": "rcp.approx.ftz.f64", "RSQ64H": "rsqrt.approx.ftz.f64"}
_INVERSE_OF_TURN = 0x3E22F983
"""1 / (2 * pi) as f32."""
_TWO = 0x40000000


@lowers("MUFU")
def lower_function(site: Site) -> None:
    """`d, a`; of half precision it takes the lower half unless it says H1."""
    kind = site.choose(_HALVES, "")
    names = (*_OF_SINGLE, *_OF_TURNS, *_OF_UPPER_HALF)
    name = site.choose({name: name for name in names}, "")
    if kind:
        _lower_half(site, name, kind)
    elif name in _OF_UPPER_HALF:
        _lower_upper_half(site, name)
    elif name in _OF_TURNS:
        value = site.word(site.operand(1), "f32")
        turns = site.compute("mul.ftz.f32", 32, value, Immediate(_TWO))
        site.main(_OF_TURNS[name], site.destination(site.operand(0)), turns)
    elif name:
        value = site.word(site.operand(1), "f32")
        site.main(f"{_OF_SINGLE[name]}.f32", site.destination(site.operand(0)), value)
    else:
        raise site.refuse("an unknown function")


def _lower_half(site: Site, name: str, kind: str) -> None:
    mnemonic = _OF_HALF.get((name, kind))
    if mnemonic is None:
        raise site.refuse(f"a function of {kind}")
    found = site.register(16)
    site.main(f"{mnemonic}.{kind}", found, half(site, site.operand(1)))
    placed(site, site.operand(0), found)


def _lower_upper_half(site: Site, name: str) -> None:
    """The upper half of a double's function, from the upper half of the double."""
    upper = site.word(site.operand(1), "f32")  # of a number the bits, not the integer
    value: Register = site.register(64)
    site.part("mov.b64", value, Immediate(0), upper)
    found = site.register(64)
    site.main(_OF_UPPER_HALF[name], found, value)
    site.part("mov.b64", None, site.destination(site.operand(0)), found, results=2)


@lowers("RRO")
def lower_range_reduction(site: Site) -> None:
    """`d, a`: what stands before `MUFU` up to Pascal: turns for `.SINCOS`, nothing for `.EX2`."""
    value = site.word(site.operand(1), "f32")
    destination = site.destination(site.operand(0))
    if site.take("SINCOS"):
        site.main("mul.rz.ftz.f32", destination, value, Immediate(_INVERSE_OF_TURN))
    elif site.take("EX2"):
        site.main("mov.b32", destination, value)
    else:
        raise site.refuse("an unknown reduction")


_EXPONENT_PLACE, _EXPONENT_BITS = Immediate(23), Immediate(8)
_LEAST_DIVIDEND, _DIVIDENDS = 26, 228
_LEAST_DIVISOR, _DIVISORS = 1, 251
_LEAST_DIFFERENCE, _DIFFERENCES = -125, 251


@lowers("FCHK")
def lower_division_check(site: Site) -> None:
    """`p, a, b`: whether a / b needs its slow path.

    Without it no step of the fast one may overflow or lose digits to subnormal numbers: that of the
    remainder, a multiple of 2**-46 * a, of the reciprocal and of the quotient. Hardware's own
    limits are not published; these are true wherever the fast path could be wrong.
    """
    site.ignore("DIVIDE")
    a, b = (_exponent(site, site.word(site.operand(i), "f32")) for i in (1, 2))
    difference = site.compute("sub.s32", 32, a, b)
    checks = [
        _is_outside(site, a, _LEAST_DIVIDEND, _DIVIDENDS),
        _is_outside(site, b, _LEAST_DIVISOR, _DIVISORS),
    ]
    held = site.compute("or.pred", 1, *checks)
    shifted = site.compute("sub.s32", 32, difference, Immediate(_LEAST_DIFFERENCE & 0xFFFFFFFF))
    last = site.register(1)
    site.main("setp.gt.u32", last, shifted, Immediate(_DIFFERENCES))
    site.part("or.pred", site.destination(site.operand(0)), held, last)


def _exponent(site: Site, value: Operand) -> Operand:
    word = site.in_register(value, 32)
    return site.compute("bfe.u32", 32, word, _EXPONENT_PLACE, _EXPONENT_BITS)


def _is_outside(site: Site, exponent: Operand, least: int, count: int) -> Operand:
    shifted = site.compute("sub.s32", 32, exponent, Immediate(least))
    return site.compute("setp.gt.u32", 1, shifted, Immediate(count))
