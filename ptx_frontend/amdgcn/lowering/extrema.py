"""The least, the greatest and the middle one of three numbers.

AMD Instinct MI200 Instruction Set Architecture, chapter 12.11; RDNA 3 Instruction Set Architecture,
chapter 16.12, for `v_minmax` and `v_maxmin`, which bound a number from both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.halves import half_operand, write_half
from kernelcast.ptx_frontend.amdgcn.lowering.shorts import short_operand, with_halves
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Operand

__all__ = ["EXTREMA"]

_TYPES = {"f32": "f32", "i32": "s32", "u32": "u32"}
_SHORT_TYPES = {"f16": "f16", "i16": "s32", "u16": "u32"}
_PAIRS = {
    "minimum3": ("min.NaN", "min.NaN"),
    "maximum3": ("max.NaN", "max.NaN"),
    "minimummaximum": ("min.NaN", "max.NaN"),
    "maximumminimum": ("max.NaN", "min.NaN"),
    "min3": ("min", "min"),
    "max3": ("max", "max"),
    "minmax": ("min", "max"),
    "maxmin": ("max", "min"),
}
"""What is done to the first two numbers, then to that and the third one."""


def _chained(pair: tuple[str, str], type_: str, site: Site, operands: list[Operand]) -> Operand:
    first, second = pair
    bits = 16 if type_ == "f16" else 32
    half = site.code.compute(f"{first}.{type_}", bits, *operands[:2])
    return site.main(f"{second}.{type_}", bits, half, operands[2])


def _middle(type_: str, site: Site, operands: list[Operand]) -> Operand:
    """The smaller one of two, or of the larger one of these and the third, what is larger.

    Where one is no number: the least of the others (ISA, 12.11: V_MED3_F32).
    """
    code, bits = site.code, 16 if type_ == "f16" else 32
    low = code.compute(f"min.{type_}", bits, *operands[:2])
    high = code.compute(f"max.{type_}", bits, *operands[:2])
    inner = code.compute(f"min.{type_}", bits, high, operands[2])
    found = site.main(f"max.{type_}", bits, low, inner)
    if not type_.startswith("f"):
        return found
    least = code.compute(f"min.{type_}", bits, low, operands[2])
    is_nan = code.compute(f"setp.nan.{type_}", 1, *operands[:2])
    is_third = code.compute(f"setp.nan.{type_}", 1, operands[2], operands[2])
    is_nan = code.compute("or.pred", 1, is_nan, is_third)
    return code.compute(f"selp.b{bits}", bits, least, found, is_nan)


def _of_words(name: str, type_: str, site: Site) -> None:
    read = site.number if type_ == "f32" else site.integer
    operands = [read(index) for index in (1, 2, 3)]
    site.code.set_vector(site.operands[0], _found(name, type_, site, operands))


def _of_halves(name: str, type_: str, site: Site) -> None:
    if type_ == "f16":
        write_half(site, _found(name, type_, site, [half_operand(site, n) for n in (1, 2, 3)]))
        return
    kind = ".s" if type_ == "s32" else ""
    operands = [short_operand(site, index, kind) for index in (1, 2, 3)]
    site.code.set_half(site.operands[0], _found(name, type_, site, operands))


def _found(name: str, type_: str, site: Site, operands: list[Operand]) -> Operand:
    if name == "med3":
        return _middle(type_, site, operands)
    return _chained(_PAIRS[name], type_, site, operands)


EXTREMA: Mapping[str, Lowering] = {
    **{
        f"v_{name}_{kind}": partial(_of_words, name, type_)
        for name in (*_PAIRS, "med3")
        for kind, type_ in _TYPES.items()
        if "mum" not in name or kind == "f32"
    },
    **{
        f"v_{name}_{kind}": with_halves(partial(_of_halves, name, type_))
        for name in (*_PAIRS, "med3")
        for kind, type_ in _SHORT_TYPES.items()
        if "mum" not in name or kind == "f16"
    },
}
