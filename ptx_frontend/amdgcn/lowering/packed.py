"""Vector instructions on two numbers of 16 bits each (VOP3P).

AMD Instinct MI200 Instruction Set Architecture, chapters 6.3 and 12.10: `op_sel` chooses the halves
that make the lower result, `op_sel_hi` those of the upper one, which are the upper halves where
nothing is said.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["PACKED", "flag", "half_number", "half_word", "write_halves"]

_INTEGERS = {
    **{f"v_pk_{name}_u16": f"{name}.u32" for name in ("add", "sub", "min", "max")},
    **{f"v_pk_{name}_i16": f"{name}.s32" for name in ("add", "sub", "min", "max")},
    "v_pk_mul_lo_u16": "mul.lo.u32",
    "v_pk_mad_u16": "mad.lo.u32",
    "v_pk_mad_i16": "mad.lo.s32",
}
_SHIFTS = {
    "v_pk_lshlrev_b16": "shl.b32",
    "v_pk_lshrrev_b16": "shr.u32",
    "v_pk_ashrrev_i16": "shr.s32",
}
_FLOATS = {
    **{f"v_pk_{name}_f16": f"{name}.f16" for name in ("add", "mul", "min", "max")},
    "v_pk_fma_f16": "fma.rn.f16",
}
_LOW, _HALF = Immediate(0xFFFF), Immediate(16)
_SIGN = Immediate(0x8000)
_CHOSEN = (("op_sel", "0", "neg_lo"), ("op_sel_hi", "1", "neg_hi"))
"""Which modifier chooses, what it is by default, and that of signs, for each half of a result."""


def flag(site: Site, name: str, index: int, default: str) -> bool:
    """Modifier `name` of a source, the first one with `index` 0."""
    text = site.instruction.modifiers.get(name, "").strip("[]")
    flags = text.split(",") if text else []
    return (flags[index] if index < len(flags) else default) == "1"


def _part(site: Site, half: int, index: int) -> Operand:
    """16 bits of operand `index`, as a word."""
    code, (chooser, default, _) = site.code, _CHOSEN[half]
    text = site.operands[index]
    word = code.single(text)
    if "." in text and not code.names(text):  # a constant is that of a half, in the lower one
        word = Immediate(*struct.unpack("<H", struct.pack("<e", float(text))))
    if flag(site, chooser, index - 1, default):
        word = code.compute("shr.u32", 32, word, _HALF)
    return code.compute("and.b32", 32, word, _LOW)


def write_halves(site: Site, low: Operand, high: Operand) -> None:
    """Writes the lower halves of two words into a register."""
    code = site.code
    kept = code.compute("and.b32", 32, low, _LOW)
    moved = code.compute("shl.b32", 32, high, _HALF)
    code.set_vector(site.operands[0], code.compute("or.b32", 32, kept, moved))


def half_word(site: Site, half: int, index: int, mnemonic: str) -> Operand:
    """An integer of 16 bits as a word, with its sign where the operation is signed."""
    signs = _CHOSEN[half][2]
    if flag(site, signs, index - 1, "0"):
        raise site.code.refused("the negation of an integer")
    part = _part(site, half, index)
    if ".s" not in mnemonic:
        return part
    return site.code.compute("bfe.s32", 32, part, Immediate(0), _HALF)


def _of_integers(mnemonic: str, site: Site) -> None:
    count = len(site.operands)
    results = [
        site.main(mnemonic, 32, *(half_word(site, half, n, mnemonic) for n in range(1, count)))
        for half in range(2)
    ]
    write_halves(site, *results)


def _shift(mnemonic: str, site: Site) -> None:
    results = []
    for half in range(2):
        amount = site.code.compute("and.b32", 32, _part(site, half, 1), Immediate(15))
        results.append(site.main(mnemonic, 32, half_word(site, half, 2, mnemonic), amount))
    write_halves(site, *results)


def half_number(site: Site, half: int, index: int) -> Operand:
    """A number of half precision, with its sign turned where a modifier says so."""
    code = site.code
    part = _part(site, half, index)
    if flag(site, _CHOSEN[half][2], index - 1, "0"):
        part = code.compute("xor.b32", 32, part, _SIGN)
    return code.compute("cvt.u16.u32", 16, part)


def _of_floats(mnemonic: str, site: Site) -> None:
    count = len(site.operands)
    results = []
    for half in range(2):
        numbers = (half_number(site, half, n) for n in range(1, count))
        results.append(site.code.compute("cvt.u32.u16", 32, site.main(mnemonic, 16, *numbers)))
    write_halves(site, *results)


PACKED: Mapping[str, Lowering] = {
    **{name: partial(_of_integers, mnemonic) for name, mnemonic in _INTEGERS.items()},
    **{name: partial(_shift, mnemonic) for name, mnemonic in _SHIFTS.items()},
    **{name: partial(_of_floats, mnemonic) for name, mnemonic in _FLOATS.items()},
}
