"""Vector instructions: integers, floating-point numbers, choices.

Meanings: AMD Instinct MI200 Instruction Set Architecture, chapters 6, 12.7 to 12.11. The quotient
of `v_div_fixup_f32` is rounded correctly, which is what its sequence computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.bit_fields import BIT_FIELDS
from kernelcast.ptx_frontend.amdgcn.lowering.byte_sums import BYTE_SUMS
from kernelcast.ptx_frontend.amdgcn.lowering.carries import CARRIES
from kernelcast.ptx_frontend.amdgcn.lowering.comparisons import COMPARISONS
from kernelcast.ptx_frontend.amdgcn.lowering.dot_products import DOT_PRODUCTS
from kernelcast.ptx_frontend.amdgcn.lowering.doubles import DOUBLES
from kernelcast.ptx_frontend.amdgcn.lowering.exchanges.lanes import LANES
from kernelcast.ptx_frontend.amdgcn.lowering.extrema import EXTREMA
from kernelcast.ptx_frontend.amdgcn.lowering.fractions import FRACTIONS
from kernelcast.ptx_frontend.amdgcn.lowering.halves import HALVES
from kernelcast.ptx_frontend.amdgcn.lowering.indexed_registers import INDEXED
from kernelcast.ptx_frontend.amdgcn.lowering.packed import PACKED
from kernelcast.ptx_frontend.amdgcn.lowering.packed_results import PACKED_RESULTS
from kernelcast.ptx_frontend.amdgcn.lowering.products import PRODUCTS
from kernelcast.ptx_frontend.amdgcn.lowering.shorts import SHORTS
from kernelcast.ptx_frontend.amdgcn.lowering.site import WHOLE, Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["MASK_OPERANDS", "VECTOR"]

_ZERO, _ONE = Immediate(0), Immediate(1)
_PLAIN = {
    "v_add_u32": "add.u32",
    "v_sub_u32": "sub.u32",
    "v_and_b32": "and.b32",
    "v_or_b32": "or.b32",
    "v_xor_b32": "xor.b32",
    "v_mul_lo_u32": "mul.lo.u32",
    "v_mul_hi_u32": "mul.hi.u32",
    "v_mul_hi_i32": "mul.hi.s32",
    "v_min_u32": "min.u32",
    "v_max_u32": "max.u32",
    "v_min_i32": "min.s32",
    "v_max_i32": "max.s32",
}
_SHIFTS = {"v_lshlrev_b32": "shl.b32", "v_lshrrev_b32": "shr.u32", "v_ashrrev_i32": "shr.s32"}
_WIDE_SHIFTS = {"v_lshlrev_b64": "shl.b64", "v_lshrrev_b64": "shr.u64", "v_ashrrev_i64": "shr.s64"}
_FLOATS = {
    "v_add_f32": "add.f32",
    "v_sub_f32": "sub.f32",
    "v_mul_f32": "mul.f32",
    "v_max_f32": "max.f32",
    "v_min_f32": "min.f32",
}
_OF_ONE = {
    "v_rcp_f32": "rcp.approx.f32",
    "v_rcp_iflag_f32": "rcp.approx.f32",
    "v_rsq_f32": "rsqrt.approx.f32",
    "v_sqrt_f32": "sqrt.approx.f32",
    "v_exp_f32": "ex2.approx.f32",
    "v_log_f32": "lg2.approx.f32",
    "v_rndne_f32": "cvt.rni.f32.f32",
    "v_floor_f32": "cvt.rmi.f32.f32",
    "v_ceil_f32": "cvt.rpi.f32.f32",
    "v_trunc_f32": "cvt.rzi.f32.f32",
    "v_cvt_i32_f32": "cvt.rzi.s32.f32",
    "v_cvt_u32_f32": "cvt.rzi.u32.f32",
}
"""What the hardware approximates within 1 ulp: here it is rounded correctly."""
_OF_INTEGER = {"v_cvt_f32_i32": "cvt.rn.f32.s32", "v_cvt_f32_u32": "cvt.rn.f32.u32"}
MASK_OPERANDS = (
    "v_cndmask_b32",
    "v_addc_co_u32",
    "v_subb_co_u32",
    "v_subbrev_co_u32",
    "v_div_fmas_f32",
    "v_div_fmas_f64",
)
"""Instructions that read a mask of lanes."""


def _write(site: Site, *values: Operand) -> None:
    site.code.set_vector(site.operands[0], *values)


def _move(site: Site) -> None:
    _write(site, site.main("mov.b32", 32, site.number(1)))


def _plain(mnemonic: str, site: Site) -> None:
    _write(site, site.main(mnemonic, 32, site.integer(1), site.integer(2)))


def _reversed_difference(site: Site) -> None:
    _write(site, site.main("sub.u32", 32, site.integer(2), site.integer(1)))


def _shift(mnemonic: str, site: Site) -> None:
    _write(site, site.main(mnemonic, 32, site.integer(2), site.amount(1)))


def _wide_shift(mnemonic: str, site: Site) -> None:
    value = site.code.wide(site.operands[2], is_signed=".s" in mnemonic)
    found = site.main(mnemonic, 64, value, site.amount(1, 64))
    _write(site, *site.code.halves(found))


def _of_three(first: str, second: str, site: Site) -> None:
    """`(a first b) second c`, with the operands in that order."""
    half = site.code.compute(first, 32, site.integer(1), _second(site, first))
    _write(site, site.main(second, 32, half, _third(site, second)))


def _second(site: Site, mnemonic: str) -> Operand:
    return site.amount(2) if mnemonic.startswith("shl") else site.integer(2)


def _third(site: Site, mnemonic: str) -> Operand:
    return site.amount(3) if mnemonic.startswith("shl") else site.integer(3)


def _field(kind: str, site: Site) -> None:
    found = site.main(f"bfe.{kind}32", 32, site.integer(1), site.amount(2), site.amount(3))
    _write(site, found)


def _inserted(site: Site) -> None:
    """`v_bfi_b32`: bits of the second operand where the first has ones, else of the third."""
    code, mask = site.code, site.integer(1)
    taken = code.compute("and.b32", 32, mask, site.integer(2))
    rest = code.compute("and.b32", 32, code.compute("not.b32", 32, mask), site.integer(3))
    _write(site, site.main("or.b32", 32, taken, rest))


def _of_24_bits(site: Site, index: int) -> Operand:
    return site.code.compute("and.b32", 32, site.integer(index), Immediate(0xFFFFFF))


def _product_of_24_bits(site: Site) -> None:
    _write(site, site.main("mul.lo.u32", 32, _of_24_bits(site, 1), _of_24_bits(site, 2)))


def _sum_of_24_bits(site: Site) -> None:
    operands = _of_24_bits(site, 1), _of_24_bits(site, 2), site.integer(3)
    _write(site, site.main("mad.lo.u32", 32, *operands))


def _chosen(site: Site) -> None:
    mask = site.code.compute("mov.pred", 1, site.code.mask(site.operands[3]))
    values = [site.number(n) if site.selected(n) == WHOLE else site.integer(n) for n in (2, 1)]
    _write(site, site.main("selp.b32", 32, *values, mask))


def _float(mnemonic: str, site: Site) -> None:
    _write(site, site.main(mnemonic, 32, site.number(1), site.number(2)))


def _reversed_float(site: Site) -> None:
    _write(site, site.main("sub.f32", 32, site.number(2), site.number(1)))


def _fused(site: Site) -> None:
    _write(site, site.main("fma.rn.f32", 32, site.number(1), site.number(2), site.number(3)))


def _added_up(site: Site) -> None:
    """`v_fmac_f32`: the result is the addend, too."""
    own = site.code.single(site.operands[0])
    _write(site, site.main("fma.rn.f32", 32, site.number(1), site.number(2), own))


def _of_one(mnemonic: str, site: Site) -> None:
    _write(site, site.main(mnemonic, 32, site.number(1)))


def _of_integer(mnemonic: str, site: Site) -> None:
    _write(site, site.main(mnemonic, 32, site.integer(1)))


def _population(site: Site) -> None:
    """How many ones the first operand has, and the second one."""
    ones = site.code.compute("popc.b32", 32, site.integer(1))
    _write(site, site.main("add.u32", 32, ones, site.integer(2)))


def _bit_search(is_from_below: bool, site: Site) -> None:
    """How many zeros come before the first one, from the top or from below; -1 without any."""
    value = site.integer(1)
    turned = site.code.compute("brev.b32", 32, value) if is_from_below else value
    zeros = site.main("clz.b32", 32, turned)
    none = site.code.compute("setp.eq.u32", 1, value, _ZERO)
    _write(site, site.code.compute("selp.b32", 32, Immediate(0xFFFFFFFF), zeros, none))


def _sign_bits(site: Site) -> None:
    """`v_ffbh_i32`: how many of the highest bits are the sign; -1 where all are."""
    code, value = site.code, site.integer(1)
    sign = code.compute("shr.s32", 32, value, Immediate(31))
    differs = code.compute("xor.b32", 32, value, sign)
    zeros = site.main("clz.b32", 32, differs)
    none = code.compute("setp.eq.u32", 1, differs, _ZERO)
    _write(site, code.compute("selp.b32", 32, Immediate(0xFFFFFFFF), zeros, none))


def _fraction(site: Site) -> None:
    """What is above the next lower integer; less than one, whatever is rounded (ISA, 12.8)."""
    code, value = site.code, site.number(1)
    rest = site.main("sub.f32", 32, value, code.compute("cvt.rmi.f32.f32", 32, value))
    _write(site, code.compute("min.f32", 32, rest, Immediate(0x3F7FFFFF)))


def _of_turns(mnemonic: str, site: Site) -> None:
    """The sine or cosine of an angle in turns."""
    double = site.code.compute("add.f32", 32, *(2 * (site.number(1),)))
    _write(site, site.main(f"opencl.{mnemonic}.f32", 32, double))


def _equal_bits(site: Site) -> None:
    found = site.code.compute("xor.b32", 32, site.integer(1), site.integer(2))
    _write(site, site.main("not.b32", 32, found))


def _bit_mask(site: Site) -> None:
    """`v_bfm_b32`: so many ones, so far up."""
    one = site.code.compute("shl.b32", 32, Immediate(1), site.amount(1))
    ones = site.code.compute("sub.u32", 32, one, Immediate(1))
    _write(site, site.main("shl.b32", 32, ones, site.amount(2)))


def _scaled(site: Site) -> None:
    _write(site, site.main("opencl.ldexp.f32", 32, site.number(1), site.integer(2)))


def _division_scale(site: Site) -> None:
    """Nothing is scaled: `v_div_fixup_f32` gives the quotient."""
    _write(site, site.main("mov.b32", 32, site.number(2)))
    site.code.set_mask(site.operands[1], _ZERO)


def _quotient(site: Site) -> None:
    _write(site, site.main("div.rn.f32", 32, site.number(3), site.number(2)))


def _permuted_bytes(site: Site) -> None:
    """`v_perm_b32`: bytes 0 to 3 are those of the second operand, 4 to 7 of the first."""
    code, how = site.code, site.integer(3)
    nibbles: Operand = _ZERO
    for byte in range(4):
        moved = code.compute("shr.u32", 32, how, Immediate(4 * byte))
        kept = code.compute("and.b32", 32, moved, Immediate(7 << 4 * byte))
        nibbles = code.compute("or.b32", 32, nibbles, kept)
    found = site.main("prmt.b32", 32, site.integer(2), site.integer(1), nibbles)
    # selectors from 8 on are constants: 12 is zero, which is all that compilers ask for
    other = code.compute("shr.u32", 32, how, Immediate(3))
    other = code.compute("and.b32", 32, other, Immediate(0x01010101))
    zeros = code.compute("mul.lo.u32", 32, other, Immediate(0xFF))
    _write(site, code.compute("and.b32", 32, found, code.compute("not.b32", 32, zeros)))


def _wide_sum(site: Site) -> None:
    """`v_lshl_add_u64`: a number of 64 bits, shifted, and another one."""
    code = site.code
    moved = code.compute("shl.b64", 64, code.wide(site.operands[1]), site.amount(2, 64))
    found = site.main("add.u64", 64, moved, code.wide(site.operands[3]))
    _write(site, *code.halves(found))


def _wide_move(site: Site) -> None:
    _write(site, *site.code.halves(site.main("mov.b64", 64, site.code.wide(site.operands[1]))))


def _flags(site: Site, name: str, default: str) -> list[bool]:
    """One flag for each source: `op_sel:[0,1]`."""
    text = site.instruction.modifiers.get(name, "").strip("[]")
    return [part == "1" for part in (text.split(",") if text else default * 3)]


def _pair_of_floats(mnemonic: str, site: Site) -> None:
    """`v_pk_fma_f32` and its kin: two operations, whose words modifiers choose."""
    results: list[Operand] = []
    for half, (chosen, negated) in enumerate((("op_sel", "neg_lo"), ("op_sel_hi", "neg_hi"))):
        words = _flags(site, chosen, str(half))
        signs = _flags(site, negated, "0")
        sources: list[Operand] = []
        for index, text in enumerate(site.operands[1:]):
            parts = site.code.source(text)
            word: Operand = parts[words[index]] if len(parts) > 1 else parts[0]
            if signs[index]:
                word = site.code.compute("xor.b32", 32, word, Immediate(0x80000000))
            sources.append(word)
        results.append(site.main(mnemonic, 32, *sources))
    _write(site, *results)


def _moved_pair(site: Site) -> None:
    """`v_pk_mov_b32`: a word of the first pair and a word of the second one."""
    chosen = site.instruction.modifiers.get("op_sel", "[0,0]").strip("[]").split(",")
    words = []
    for index, number in enumerate(chosen, 1):
        parts = site.code.source(site.operands[index])
        words.append(parts[int(number)] if len(parts) > 1 else parts[0])
    copies = [site.code.compute("mov.b32", 32, word) for word in words]
    _write(site, *copies)


def _swapped(site: Site) -> None:
    """`v_swap_b32`: two registers change places."""
    code, (first, second) = site.code, site.operands
    kept = code.compute("mov.b32", 32, code.word(first))
    code.set_vector(first, site.main("mov.b32", 32, code.word(second)))
    code.set_vector(second, kept)


def _rounded(mnemonic: str, site: Site) -> None:
    """Rounds down to an integer; `nearest` adds a half before."""
    code, value = site.code, site.number(1)
    if mnemonic == "nearest":
        value = code.compute("add.f32", 32, value, Immediate(0x3F000000))
    below = code.compute("cvt.rmi.f32.f32", 32, value)
    _write(site, site.main("cvt.rzi.s32.f32", 32, below))


VECTOR: Mapping[str, Lowering] = {
    "v_mov_b32": _move,
    **{name: partial(_plain, mnemonic) for name, mnemonic in _PLAIN.items()},
    "v_subrev_u32": _reversed_difference,
    **{name: partial(_shift, mnemonic) for name, mnemonic in _SHIFTS.items()},
    **{name: partial(_wide_shift, mnemonic) for name, mnemonic in _WIDE_SHIFTS.items()},
    "v_add3_u32": partial(_of_three, "add.u32", "add.u32"),
    "v_lshl_add_u32": partial(_of_three, "shl.b32", "add.u32"),
    "v_add_lshl_u32": partial(_of_three, "add.u32", "shl.b32"),
    "v_lshl_or_b32": partial(_of_three, "shl.b32", "or.b32"),
    "v_and_or_b32": partial(_of_three, "and.b32", "or.b32"),
    "v_or3_b32": partial(_of_three, "or.b32", "or.b32"),
    "v_xad_u32": partial(_of_three, "xor.b32", "add.u32"),
    "v_xor3_b32": partial(_of_three, "xor.b32", "xor.b32"),
    "v_bfe_u32": partial(_field, "u"),
    "v_bfe_i32": partial(_field, "s"),
    "v_bfi_b32": _inserted,
    "v_mul_u32_u24": _product_of_24_bits,
    "v_mad_u32_u24": _sum_of_24_bits,
    **BIT_FIELDS,
    **COMPARISONS,
    **PRODUCTS,
    **PACKED,
    **PACKED_RESULTS,
    **BYTE_SUMS,
    **INDEXED,
    **DOT_PRODUCTS,
    **SHORTS,
    **CARRIES,
    **LANES,
    **DOUBLES,
    **FRACTIONS,
    **HALVES,
    **EXTREMA,
    "v_cndmask_b32": _chosen,
    **{name: partial(_float, mnemonic) for name, mnemonic in _FLOATS.items()},
    "v_subrev_f32": _reversed_float,
    "v_fma_f32": _fused,
    "v_fmac_f32": _added_up,
    "v_fmaak_f32": _fused,
    "v_fmamk_f32": _fused,
    "v_bfrev_b32": partial(_of_integer, "brev.b32"),
    "v_bcnt_u32_b32": _population,
    "v_ffbh_u32": partial(_bit_search, False),
    "v_ffbl_b32": partial(_bit_search, True),
    **dict.fromkeys(("v_ffbh_i32", "v_cls_i32"), _sign_bits),
    "v_div_fmas_f32": _fused,
    **{name: partial(_of_one, mnemonic) for name, mnemonic in _OF_ONE.items()},
    **{name: partial(_of_integer, mnemonic) for name, mnemonic in _OF_INTEGER.items()},
    **dict.fromkeys(("v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32"), partial(_rounded, "down")),
    **dict.fromkeys(("v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32"), partial(_rounded, "nearest")),
    "v_swap_b32": _swapped,
    "v_minimum_f32": partial(_float, "min.NaN.f32"),
    "v_maximum_f32": partial(_float, "max.NaN.f32"),
    "v_ldexp_f32": _scaled,
    "v_fract_f32": _fraction,
    "v_sin_f32": partial(_of_turns, "sinpi"),
    "v_cos_f32": partial(_of_turns, "cospi"),
    "v_xnor_b32": _equal_bits,
    "v_bfm_b32": _bit_mask,
    "v_div_scale_f32": _division_scale,
    "v_div_fixup_f32": _quotient,
    "v_perm_b32": _permuted_bytes,
    "v_pk_mov_b32": _moved_pair,
    "v_pk_fma_f32": partial(_pair_of_floats, "fma.rn.f32"),
    "v_pk_mul_f32": partial(_pair_of_floats, "mul.f32"),
    "v_pk_add_f32": partial(_pair_of_floats, "add.f32"),
    "v_lshl_add_u64": _wide_sum,
    "v_mov_b64": _wide_move,
    "v_accvgpr_write_b32": _move,
    "v_accvgpr_read_b32": _move,
    "v_accvgpr_mov_b32": _move,
}
