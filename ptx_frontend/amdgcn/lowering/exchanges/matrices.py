"""Products of small matrices whose elements lie in all lanes of a wavefront.

Every lane takes part, whatever EXEC says. `v_mfma`: see `amd_matrix`. `v_wmma`, of wavefronts of 32
lanes: RDNA 3 Instruction Set Architecture, chapter 7.9; lanes 16 to 31 repeat what the lower ones
hold of A and B. The products are added one after another, each sum rounded once; the manuals leave
the order open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from kernelcast.ptx_frontend.amd_matrix.product import MATRIX_NAMES, Broadcast, form_of, product
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES

__all__ = ["MATRICES"]

_SIDE, _ROWS = 16, 8
"""Rows and columns of RDNA's matrices, and how many rows of a column a lane holds."""
_CONTROLS = ("cbsz", "abid", "blgp")
_HALF = Immediate(16)


def _from_lane(site: Site, value: Operand, lane: Operand) -> Register:
    found = site.code.register(32)
    site.code.exchange(WARP_OPCODES["lane.read"], (found,), (value, lane))
    return found


def _element(site: Site, names: list[str], type_: str, number: int, lane: Operand) -> Operand:
    """Element `number` of those that a lane holds, in single precision."""
    code = site.code
    word = _from_lane(site, code.word(names[number // 2]), lane)
    if type_ == "bf16":
        if number % 2:
            return code.compute("and.b32", 32, word, Immediate(0xFFFF0000))
        return code.compute("shl.b32", 32, word, _HALF)
    moved = code.compute("shr.u32", 32, word, Immediate(16 * (number % 2)))
    return code.compute("cvt.f32.f16", 32, code.compute("cvt.u16.u32", 16, moved))


def _at_first(site: Site) -> list[Operand]:
    """What the products are added to: a number for each result, or one for all."""
    count = len(site.code.names(site.operands[0]))
    words = site.code.source(site.operands[3])
    return list(words) if len(words) == count else words[:1] * count


@dataclass(frozen=True, slots=True)
class _Lanes:
    """Writes the parts of a product, in all lanes."""

    site: Site

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Operand:
        return self.site.code.compute(mnemonic, bits, *sources)

    def from_lane(self, word: Operand, lane: Operand) -> Operand:
        return _from_lane(self.site, word, lane)

    def lane(self) -> Register:
        return self.site.code.lane()

    def refused(self, why: str) -> Exception:
        return self.site.code.refused(why)


def _mfma(name: str, site: Site) -> None:
    """`v_mfma_*`: a product of CDNA's."""
    code, (_, *matrices, _) = site.code, site.operands
    if "neg" in site.instruction.modifiers:
        raise code.refused("signs")
    a, b = ([code.word(name) for name in code.names(text)] for text in matrices)
    form = form_of(name, len(a))
    controls = (int(site.instruction.modifiers.get(name, "0")) for name in _CONTROLS)
    guard, code.guard = code.guard, None
    sums = _at_first(site)
    if form.sum == "f64":
        pairs = zip(sums[::2], sums[1::2], strict=True)
        sums = [code.joined(low, high) for low, high in pairs]
    results = product(_Lanes(site), form, (a, b), sums, Broadcast(*controls))
    if form.sum == "f64":
        results = [half for value in results for half in code.halves(value)]
    code.guard = guard
    _write(site, results)


def _write(site: Site, values: list[Operand]) -> None:
    """Writes whole registers of all lanes."""
    code, guard = site.code, site.code.guard
    code.guard = None
    code.set_vector(site.operands[0], *values)
    code.guard = guard


# ---- RDNA 3 ----


def _signs(site: Site) -> list[tuple[bool, bool]]:
    """Whether the sign of each operand is turned, and whether it is made positive before.

    `neg_lo` is for the lower halves and `neg_hi` for the upper ones of A and B, of C it is the
    magnitude (RDNA 3 ISA, 7.9).
    """
    found = []
    for name in ("neg_lo", "neg_hi"):
        text = site.instruction.modifiers.get(name, "[0,0,0]")
        found.append([flag == "1" for flag in text.strip("[]").split(",")])
    return list(zip(*found, strict=True))


def _signed(site: Site, type_: str, which: int, number: int, lane: Operand) -> Operand:
    """An element of A or B with the sign that the instruction gives it."""
    value = _element(site, site.code.names(site.operands[which]), type_, number, lane)
    if _signs(site)[which - 1][number % 2]:
        return site.code.compute("xor.b32", 32, value, Immediate(0x80000000))
    return value


def _add_products(
    site: Site, type_: str, upper: Operand, column: Operand, sums: list[Operand]
) -> None:
    """Adds the products of a column of RDNA's matrices to the rows that a lane holds of it."""
    code = site.code
    for k in range(_SIDE):
        of_b = _signed(site, type_, 2, k, column)
        for number in range(_ROWS):
            row = code.compute("add.u32", 32, upper, Immediate(2 * number))
            of_a = _signed(site, type_, 1, k, row)
            sums[number] = code.compute("fma.rn.f32", 32, of_a, of_b, sums[number])


def _wmma_of_floats(type_: str, site: Site) -> None:
    """`v_wmma_f32_16x16x16`: lane l has column l mod 16 of C, of whose rows every second one."""
    code = site.code
    _check_layout(site, 16)
    is_turned, is_positive = _signs(site)[2]
    if is_turned or is_positive:
        raise code.refused("signs of what is added")
    upper = code.compute("shr.u32", 32, code.lane(), Immediate(4))
    column = code.compute("and.b32", 32, code.lane(), Immediate(_SIDE - 1))
    guard, code.guard = code.guard, None
    sums = _at_first(site)
    _add_products(site, type_, upper, column, sums)
    code.guard = guard
    _write(site, sums)


def _wmma_of_halves(type_: str, site: Site) -> None:
    """`v_wmma_f16_16x16x16`: results are a half of each register, the upper one where it says so.

    They are rounded once, from sums in single precision.
    """
    code = site.code
    _check_layout(site, 16)
    is_upper = _is_upper(site)
    upper = code.compute("shr.u32", 32, code.lane(), Immediate(4))
    column = code.compute("and.b32", 32, code.lane(), Immediate(_SIDE - 1))
    guard, code.guard = code.guard, None
    words = [code.word(name) for name in code.names(site.operands[0])]
    sums = [_half_of_sum(site, type_, word, is_upper) for word in _at_first(site)]
    _add_products(site, type_, upper, column, sums)
    results: list[Operand] = []
    for word, total in zip(words, sums, strict=True):
        half = code.compute(f"cvt.rn.{type_}.f32", 16, total)
        whole = code.compute("cvt.u32.u16", 32, half)
        if is_upper:
            whole = code.compute("shl.b32", 32, whole, _HALF)
        kept = code.compute("and.b32", 32, word, Immediate(0xFFFF if is_upper else 0xFFFF0000))
        results.append(code.compute("or.b32", 32, kept, whole))
    code.guard = guard
    _write(site, results)


def _is_upper(site: Site) -> bool:
    return site.instruction.modifiers.get("op_sel", "").strip("[]").split(",")[-1] == "1"


def _half_of_sum(site: Site, type_: str, word: Operand, is_upper: bool) -> Operand:
    """What is added, half of a register, in single precision."""
    code = site.code
    moved = code.compute("shr.u32", 32, word, Immediate(16 if is_upper else 0))
    if type_ == "bf16":
        return code.compute("shl.b32", 32, moved, _HALF)
    return code.compute("cvt.f32.f16", 32, code.compute("cvt.u16.u32", 16, moved))


def _wmma_of_integers(bits: int, site: Site) -> None:
    """`v_wmma_i32_16x16x16_iu8` and `iu4`: `neg_lo` says which of A and B have signs."""
    code = site.code
    _check_layout(site, bits)
    if "clamp" in site.instruction.modifiers:
        raise code.refused("sums that stop at the largest number")
    kinds = ["s" if is_signed else "u" for is_signed, _ in _signs(site)]
    upper = code.compute("shr.u32", 32, code.lane(), Immediate(4))
    column = code.compute("and.b32", 32, code.lane(), Immediate(_SIDE - 1))
    guard, code.guard = code.guard, None
    sums = _at_first(site)

    def element(which: int, k: int, lane: Operand) -> Operand:
        word, place = divmod(k * bits, 32)
        name = code.names(site.operands[which])[word]
        read = _from_lane(site, code.word(name), lane)
        field = f"bfe.{kinds[which - 1]}32"
        return code.compute(field, 32, read, Immediate(place), Immediate(bits))

    for k in range(_SIDE):
        of_b = element(2, k, column)
        for number in range(_ROWS):
            row = code.compute("add.u32", 32, upper, Immediate(2 * number))
            product = element(1, k, row), of_b, sums[number]
            sums[number] = code.compute("mad.lo.u32", 32, *product)
    code.guard = guard
    _write(site, sums)


def _check_layout(site: Site, bits: int) -> None:
    """RDNA 3 has each row of A twice in 32 lanes; RDNA 4 has half as many registers."""
    if site.code.is_wide:
        raise site.code.refused("matrices of wavefronts of 64 lanes")
    if 32 * len(site.code.names(site.operands[1])) != _SIDE * bits:
        raise site.code.refused("matrices as RDNA 4 lays them out")


_WMMA: Mapping[str, Callable[[Site], None]] = {
    **{f"f32_16x16x16_{type_}": partial(_wmma_of_floats, type_) for type_ in ("f16", "bf16")},
    **{f"{type_}_16x16x16_{type_}": partial(_wmma_of_halves, type_) for type_ in ("f16", "bf16")},
    **{f"i32_16x16x16_iu{bits}": partial(_wmma_of_integers, bits) for bits in (4, 8)},
}
MATRICES: Mapping[str, Lowering] = {
    **{f"v_mfma_{name}": partial(_mfma, name) for name in MATRIX_NAMES},
    **{f"v_wmma_{name}": lower for name, lower in _WMMA.items()},
}
