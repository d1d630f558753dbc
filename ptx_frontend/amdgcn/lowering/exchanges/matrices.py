"""Products of small matrices whose elements lie in all lanes of a wavefront.

Every lane takes part, whatever EXEC says. `v_mfma`: see `amd_matrix`. `v_wmma`, of wavefronts of 32
lanes: RDNA 3 Instruction Set Architecture, chapter 7.9; lanes 16 to 31 repeat what the lower ones
hold of A and B. RDNA 4: "Using the Matrix Cores of AMD RDNA 4 architecture GPUs", GPUOpen, 2025;
nothing is held twice. The products are added one after another, each sum rounded once; the manuals
leave the order open.
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


def _at_first(site: Site, is_double: bool = False) -> list[Operand]:
    """Words that the products are added to: those of each result, or of one number for all."""
    count = len(site.code.names(site.operands[0]))
    words = site.code.source(site.operands[3], is_double=is_double)
    return list(words) * (count // len(words))


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
    sums = _at_first(site, form.sum == "f64")
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


# ---- RDNA ----


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


class _Layout:
    """Where the elements are that the own lane's results are made of.

    RDNA 3 has all k of a row of A in a lane, twice in 32 lanes, and every second row of a column of
    the results; RDNA 4 half of the k in each half of the lanes, and eight rows one after another.
    """

    def __init__(self, site: Site, bits: int) -> None:
        if site.code.is_wide:
            raise site.code.refused("matrices of wavefronts of 64 lanes")
        self._site = site
        self.in_a_lane = 32 * len(site.code.names(site.operands[1])) // bits
        self._is_split = self.in_a_lane < _SIDE
        code = site.code
        upper = code.compute("shr.u32", 32, code.lane(), Immediate(4))
        self._first = code.compute("shl.b32", 32, upper, Immediate(3)) if self._is_split else upper
        self._column = code.compute("and.b32", 32, code.lane(), Immediate(_SIDE - 1))

    def column(self, k: int) -> Operand:
        """The lane that has element (k, own column) of B, at place k modulo `in_a_lane`."""
        return self._above(self._column, k)

    def row(self, number: int, k: int) -> Operand:
        """The lane that has element (row of a result, k) of A."""
        step = number if self._is_split else 2 * number
        row = self._site.code.compute("add.u32", 32, self._first, Immediate(step))
        return self._above(row, k)

    def _above(self, place: Operand, k: int) -> Operand:
        if k < self.in_a_lane:
            return place
        return self._site.code.compute("add.u32", 32, place, Immediate(_SIDE))


def _add_products(site: Site, type_: str, layout: _Layout, sums: list[Operand]) -> None:
    """Adds the products of a column of RDNA's matrices to the rows that a lane holds of it."""
    code = site.code
    for k in range(_SIDE):
        place = k % layout.in_a_lane
        of_b = _signed(site, type_, 2, place, layout.column(k))
        for number in range(_ROWS):
            of_a = _signed(site, type_, 1, place, layout.row(number, k))
            sums[number] = code.compute("fma.rn.f32", 32, of_a, of_b, sums[number])


def _wmma_of_floats(type_: str, site: Site) -> None:
    """`v_wmma_f32_16x16x16`: lane l has eight rows of column l mod 16 of C."""
    code = site.code
    is_turned, is_positive = _signs(site)[2]
    if is_turned or is_positive:
        raise code.refused("signs of what is added")
    layout = _Layout(site, 16)
    guard, code.guard = code.guard, None
    sums = _at_first(site)
    _add_products(site, type_, layout, sums)
    code.guard = guard
    _write(site, sums)


def _wmma_of_halves(type_: str, site: Site) -> None:
    """`v_wmma_f16_16x16x16`: results are rounded once, from sums in single precision.

    RDNA 3 has one in each register, in the upper half where it says so, RDNA 4 two.
    """
    code = site.code
    if "." in site.operands[3]:
        raise code.refused(f"operand {site.operands[3]!r} of halves")
    layout, is_upper = _Layout(site, 16), _is_upper(site)
    guard, code.guard = code.guard, None
    words = [code.word(name) for name in code.names(site.operands[0])]
    added = _at_first(site)
    if len(words) == _ROWS:
        sums = [_half_of_sum(site, type_, word, is_upper) for word in added]
    else:
        sums = [_half_of_sum(site, type_, word, upper) for word in added for upper in (False, True)]
    _add_products(site, type_, layout, sums)
    halves = [_rounded(site, type_, total) for total in sums]
    results: list[Operand] = []
    if len(words) == _ROWS:
        results += [_placed(site, *pair, is_upper) for pair in zip(words, halves, strict=True)]
    else:
        results += [_placed(site, halves[n], halves[n + 1], True) for n in range(0, _ROWS, 2)]
    code.guard = guard
    _write(site, results)


def _rounded(site: Site, type_: str, total: Operand) -> Operand:
    half = site.code.compute(f"cvt.rn.{type_}.f32", 16, total)
    return site.code.compute("cvt.u32.u16", 32, half)


def _placed(site: Site, word: Operand, half: Operand, is_upper: bool) -> Operand:
    """A half in its place of a word, whose rest stays."""
    code = site.code
    if is_upper:
        half = code.compute("shl.b32", 32, half, _HALF)
    kept = code.compute("and.b32", 32, word, Immediate(0xFFFF if is_upper else 0xFFFF0000))
    return code.compute("or.b32", 32, kept, half)


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
    if "clamp" in site.instruction.modifiers:
        raise code.refused("sums that stop at the largest number")
    layout = _Layout(site, bits)
    kinds = ["s" if is_signed else "u" for is_signed, _ in _signs(site)]
    guard, code.guard = code.guard, None
    sums = _at_first(site)

    def element(which: int, k: int, lane: Operand) -> Operand:
        word, place = divmod(k % layout.in_a_lane * bits, 32)
        name = code.names(site.operands[which])[word]
        read = _from_lane(site, code.word(name), lane)
        field = f"bfe.{kinds[which - 1]}32"
        return code.compute(field, 32, read, Immediate(place), Immediate(bits))

    for k in range(_SIDE):
        of_b = element(2, k, layout.column(k))
        for number in range(_ROWS):
            product = element(1, k, layout.row(number, k)), of_b, sums[number]
            sums[number] = code.compute("mad.lo.u32", 32, *product)
    code.guard = guard
    _write(site, sums)


_WMMA: Mapping[str, Callable[[Site], None]] = {
    **{f"f32_16x16x16_{type_}": partial(_wmma_of_floats, type_) for type_ in ("f16", "bf16")},
    **{f"{type_}_16x16x16_{type_}": partial(_wmma_of_halves, type_) for type_ in ("f16", "bf16")},
    **{f"i32_16x16x16_iu{bits}": partial(_wmma_of_integers, bits) for bits in (4, 8)},
}
MATRICES: Mapping[str, Lowering] = {
    **{f"v_mfma_{name}": partial(_mfma, name) for name in MATRIX_NAMES},
    **{f"v_wmma_{name}": lower for name, lower in _WMMA.items()},
}
