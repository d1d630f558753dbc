"""Scalar instructions: one value for the wavefront, and masks of its lanes.

Meanings: AMD Instinct MI200 Instruction Set Architecture, chapters 5 and 12.1 to 12.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.indexed_registers import INDEXED_SCALARS
from kernelcast.ptx_frontend.amdgcn.lowering.scalars.bits import SCALAR_BITS
from kernelcast.ptx_frontend.amdgcn.lowering.scalars.clocks import CLOCKS
from kernelcast.ptx_frontend.amdgcn.lowering.scalars.floats import SCALAR_FLOATS
from kernelcast.ptx_frontend.amdgcn.lowering.scalars.sums import SCALAR_SUMS
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["MASK_OPCODES", "SCALAR", "SCC_READERS", "SCC_WRITERS"]

_WORD = (1 << 32) - 1
_ZERO = Immediate(0)
_BITWISE = {
    **{name: (name, False, False) for name in ("and", "or", "xor")},
    **{f"{name}n2": (name, True, False) for name in ("and", "or")},
    **{f"n{name}": (name, False, True) for name in ("and", "or")},
    "xnor": ("xor", False, True),
}
"""What is computed, and whether the second operand and the result are negated."""
_SHIFTS = {"s_lshl_b32": "shl.b32", "s_lshr_b32": "shr.u32", "s_ashr_i32": "shr.s32"}
_WIDE_SHIFTS = {"s_lshl_b64": "shl.b64", "s_lshr_b64": "shr.u64", "s_ashr_i64": "shr.s64"}
_PLAIN = {"s_mul_i32": "mul.lo.s32", "s_mul_hi_u32": "mul.hi.u32", "s_mul_hi_i32": "mul.hi.s32"}
_EXTREMA = {
    f"s_{name}_{kind}32": f"{name}.{'s' if kind == 'i' else 'u'}32"
    for name in ("min", "max")
    for kind in ("i", "u")
}
_RELATIONS = {"eq": "eq", "lg": "ne", "gt": "gt", "ge": "ge", "lt": "lt", "le": "le"}


def _is_set(site: Site, value: Operand, bits: int = 32) -> Operand:
    return site.code.compute(f"setp.ne.u{bits}", 1, value, _ZERO)


def _move(site: Site) -> None:
    site.code.set_scalar(site.operands[0], [site.main("mov.b32", 32, site.integer(1))])


def _move_short(site: Site) -> None:
    site.code.set_scalar(site.operands[0], [site.main("mov.b32", 32, site.short_constant(1))])


def _plain(mnemonic: str, site: Site) -> None:
    site.code.set_scalar(
        site.operands[0], [site.main(mnemonic, 32, site.integer(1), site.integer(2))]
    )


def _extremum(mnemonic: str, site: Site) -> None:
    """The condition is whether the first operand is the result."""
    first, second = site.integer(1), site.integer(2)
    found = site.main(mnemonic, 32, first, second)
    site.scc(lambda: site.code.compute("setp.eq.u32", 1, found, first))
    site.code.set_scalar(site.operands[0], [found])


def _bits(name: str, site: Site) -> None:
    found = _bitwise(name, site, site.integer(1), site.integer(2))
    site.scc(lambda: _is_set(site, found))
    site.code.set_scalar(site.operands[0], [found])


def _bitwise(name: str, site: Site, first: Operand, second: Operand) -> Operand:
    mnemonic, is_other_negated, is_negated = _BITWISE[name]
    if is_other_negated:
        second = site.code.compute("not.b32", 32, second)
    found = site.main(f"{mnemonic}.b32", 32, first, second)
    return site.code.compute("not.b32", 32, found) if is_negated else found


def _save_exec_word(name: str, site: Site) -> None:
    """The old EXEC of 32 lanes, and a new one that combines the operand with it."""
    code = site.code
    old = code.compute("mov.b32", 32, code.word("exec_lo"))
    new = _bitwise(name, site, site.integer(1), old)
    code.set_scalar(site.operands[0], [old])
    code.set_scalar("exec_lo", [new])
    site.scc(lambda: _is_set(site, new))


def _shift(mnemonic: str, site: Site) -> None:
    found = site.main(mnemonic, 32, site.integer(1), site.amount(2))
    site.scc(lambda: _is_set(site, found))
    site.code.set_scalar(site.operands[0], [found])


def _wide_shift(mnemonic: str, site: Site) -> None:
    value = site.code.wide(site.operands[1], is_signed=".s" in mnemonic)
    found = site.main(mnemonic, 64, value, site.amount(2, 64))
    site.scc(lambda: _is_set(site, found, 64))
    site.code.set_scalar(site.operands[0], site.code.halves(found))


def _one(mnemonic: str, site: Site) -> None:
    found = site.main(mnemonic, 32, site.integer(1))
    site.scc(lambda: _is_set(site, found))
    site.code.set_scalar(site.operands[0], [found])


def _reversed(site: Site) -> None:
    site.code.set_scalar(site.operands[0], [site.main("brev.b32", 32, site.integer(1))])


def _bit_search(is_from_below: bool, site: Site) -> None:
    """How many zeros come before the first one, from the top or from below; -1 without any."""
    code, value = site.code, site.integer(1)
    turned = code.compute("brev.b32", 32, value) if is_from_below else value
    zeros = site.main("clz.b32", 32, turned)
    none = code.compute("setp.eq.u32", 1, value, _ZERO)
    found = code.compute("selp.b32", 32, Immediate(0xFFFFFFFF), zeros, none)
    code.set_scalar(site.operands[0], [found])


def _sign_bits(site: Site) -> None:
    """`s_flbit_i32`: how many of the highest bits are the sign; -1 where all are."""
    code, value = site.code, site.integer(1)
    differs = code.compute("xor.b32", 32, value, code.compute("shr.s32", 32, value, Immediate(31)))
    zeros = site.main("clz.b32", 32, differs)
    none = code.compute("setp.eq.u32", 1, differs, _ZERO)
    found = code.compute("selp.b32", 32, Immediate(0xFFFFFFFF), zeros, none)
    code.set_scalar(site.operands[0], [found])


def _population(bits: int, site: Site) -> None:
    value = site.code.wide(site.operands[1]) if bits == 64 else site.integer(1)
    found = site.main(f"popc.b{bits}", 32, value)
    site.scc(lambda: _is_set(site, found))
    site.code.set_scalar(site.operands[0], [found])


def _field(kind: str, site: Site) -> None:
    """Offset in bits 4 to 0, width in bits 22 to 16 of the second operand."""
    code, how = site.code, site.integer(2)
    offset = code.compute("and.b32", 32, how, Immediate(31))
    width = code.compute(
        "and.b32", 32, code.compute("shr.u32", 32, how, Immediate(16)), Immediate(127)
    )
    found = site.main(f"bfe.{kind}32", 32, site.integer(1), offset, width)
    site.scc(lambda: _is_set(site, found))
    code.set_scalar(site.operands[0], [found])


def _choice(site: Site) -> None:
    found = site.main("selp.b32", 32, site.integer(1), site.integer(2), site.code.scc)
    site.code.set_scalar(site.operands[0], [found])


def _compare(relation: str, kind: str, site: Site) -> None:
    found = site.main(f"setp.{relation}.{kind}32", 1, site.integer(0), site.integer(1))
    site.code.unguarded("mov.pred", site.code.scc, found)


def _compare_short(relation: str, kind: str, site: Site) -> None:
    constant = site.short_constant(1, is_signed=kind == "s")
    found = site.main(f"setp.{relation}.{kind}32", 1, site.integer(0), constant)
    site.code.unguarded("mov.pred", site.code.scc, found)


def _compare_wide(relation: str, site: Site) -> None:
    first, second = (site.code.wide(text) for text in site.operands)
    found = site.main(f"setp.{relation}.u64", 1, first, second)
    site.code.unguarded("mov.pred", site.code.scc, found)


def _test_bit(wanted: int, site: Site) -> None:
    moved = site.code.compute("shr.u32", 32, site.integer(0), site.amount(1))
    bit = site.code.compute("and.b32", 32, moved, Immediate(1))
    found = site.main("setp.eq.u32", 1, bit, Immediate(wanted))
    site.code.unguarded("mov.pred", site.code.scc, found)


# ---- masks of lanes ----


def _words(site: Site, text: str) -> tuple[Operand, Operand]:
    parts = site.code.source(text)
    if len(parts) == 2:
        return parts[0], parts[1]
    whole = site.code.wide(text)
    assert isinstance(whole, Immediate)
    return Immediate(whole.bits & _WORD), Immediate(whole.bits >> 32)


def _combined(
    site: Site, name: str, first: tuple[Operand, ...], second: tuple[Operand, ...]
) -> tuple[Operand, ...]:
    """The words and the bit of the own lane: (low, high, bit)."""
    mnemonic, is_other_negated, is_negated = _BITWISE[name]
    found: list[Operand] = []
    for a, b, kind, bits in zip(first, second, ("b32", "b32", "pred"), (32, 32, 1), strict=True):
        other = site.code.compute(f"not.{kind}", bits, b) if is_other_negated else b
        value = site.code.compute(f"{mnemonic}.{kind}", bits, a, other)
        found.append(site.code.compute(f"not.{kind}", bits, value) if is_negated else value)
    return tuple(found)


def _mask(site: Site, text: str) -> tuple[Operand, ...]:
    """The words and the bit of the own lane of a mask, copied."""
    low, high = _words(site, text)
    code = site.code
    kept = (code.compute("mov.b32", 32, low), code.compute("mov.b32", 32, high))
    bit = code.mask(text) if _is_mask(site, text) else Immediate(0)
    return (*kept, code.compute("mov.pred", 1, bit))


def _is_mask(site: Site, text: str) -> bool:
    """Whether a pair may be a mask of lanes: of 32 lanes none is."""
    if not site.code.is_wide:
        return False
    names = site.code.names(text)
    return not names or names[0] in site.code.mask_names


def _set_mask(site: Site, text: str, mask: tuple[Operand, ...]) -> None:
    """Writes both forms of a mask, which agree."""
    if not site.code.is_wide:
        site.code.set_scalar(text, mask[:2])
        return
    names = site.code.names(text)
    for name, value in zip(names, mask, strict=False):
        site.code.unguarded("mov.b32", site.code.word(name), value)
    site.code.unguarded("mov.pred", site.code.mask_register(names[0]), mask[2])


def _any(site: Site, mask: tuple[Operand, ...]) -> Operand:
    return _is_set(site, site.code.compute("or.b32", 32, mask[0], mask[1]))


def _mask_logic(name: str, site: Site) -> None:
    found = _combined(site, name, _mask(site, site.operands[1]), _mask(site, site.operands[2]))
    site.scc(lambda: _any(site, found))
    _set_mask(site, site.operands[0], found)


def _save_exec(name: str, site: Site) -> None:
    """The old EXEC, and a new one that combines the operand with it."""
    old, other = _mask(site, "exec"), _mask(site, site.operands[1])
    new = _combined(site, name, other, old)
    _set_mask(site, site.operands[0], old)
    _set_mask(site, "exec", new)
    site.scc(lambda: _any(site, new))


def _move_mask(site: Site) -> None:
    _set_mask(site, site.operands[0], _mask(site, site.operands[1]))


def _not_mask(site: Site) -> None:
    low, high, bit = _mask(site, site.operands[1])
    code = site.code
    words = code.compute("not.b32", 32, low), code.compute("not.b32", 32, high)
    found = (*words, code.compute("not.pred", 1, bit))
    site.scc(lambda: _any(site, found))
    _set_mask(site, site.operands[0], found)


def _choose_mask(site: Site) -> None:
    first, second = _mask(site, site.operands[1]), _mask(site, site.operands[2])
    code = site.code
    words = [
        code.compute("selp.b32", 32, a, b, code.scc)
        for a, b in zip(first[:2], second[:2], strict=True)
    ]
    yes = code.compute("and.pred", 1, first[2], code.scc)
    no = code.compute("and.pred", 1, second[2], code.compute("not.pred", 1, code.scc))
    _set_mask(site, site.operands[0], (*words, code.compute("or.pred", 1, yes, no)))


def _program_counter(site: Site) -> None:
    """The distance of variables from it is their address: it counts as zero."""
    site.code.set_scalar(site.operands[0], [_ZERO, _ZERO])


SCALAR: Mapping[str, Lowering] = {
    "s_mov_b32": _move,
    "s_movk_i32": _move_short,
    **{name: partial(_plain, mnemonic) for name, mnemonic in _PLAIN.items()},
    **{name: partial(_extremum, mnemonic) for name, mnemonic in _EXTREMA.items()},
    **{f"s_{name}_b32": partial(_bits, name) for name in _BITWISE},
    **{name: partial(_shift, mnemonic) for name, mnemonic in _SHIFTS.items()},
    **{name: partial(_wide_shift, mnemonic) for name, mnemonic in _WIDE_SHIFTS.items()},
    "s_abs_i32": partial(_one, "abs.s32"),
    "s_brev_b32": _reversed,
    **SCALAR_BITS,
    **CLOCKS,
    **INDEXED_SCALARS,
    "s_flbit_i32_b32": partial(_bit_search, False),
    "s_ff1_i32_b32": partial(_bit_search, True),
    **dict.fromkeys(("s_flbit_i32", "s_cls_i32"), _sign_bits),
    "s_not_b32": partial(_one, "not.b32"),
    "s_bcnt1_i32_b32": partial(_population, 32),
    "s_bcnt1_i32_b64": partial(_population, 64),
    "s_bfe_u32": partial(_field, "u"),
    "s_bfe_i32": partial(_field, "s"),
    "s_cselect_b32": _choice,
    **{
        f"s_cmp{form}_{name}_{kind}32": partial(compare, relation, "s" if kind == "i" else "u")
        for form, compare in (("", _compare), ("k", _compare_short))
        for name, relation in _RELATIONS.items()
        for kind in ("i", "u")
    },
    "s_cmp_eq_u64": partial(_compare_wide, "eq"),
    "s_cmp_lg_u64": partial(_compare_wide, "ne"),
    "s_bitcmp0_b32": partial(_test_bit, 0),
    "s_bitcmp1_b32": partial(_test_bit, 1),
    **{f"s_{name}_b64": partial(_mask_logic, name) for name in _BITWISE},
    **{f"s_{name}_saveexec_b64": partial(_save_exec, name) for name in _BITWISE},
    **{f"s_{name}_saveexec_b32": partial(_save_exec_word, name) for name in _BITWISE},
    "s_mov_b64": _move_mask,
    "s_not_b64": _not_mask,
    "s_cselect_b64": _choose_mask,
    "s_getpc_b64": _program_counter,
    **SCALAR_SUMS,
    **SCALAR_FLOATS,
}
_OF_64_BITS = ("s_ff1", "s_flbit", "s_brev", "s_bitset")
MASK_OPCODES = frozenset(
    name
    for name in SCALAR
    if name.endswith("_b64") and not name.startswith(("s_lsh", "s_getpc", "s_bcnt", *_OF_64_BITS))
)
"""Instructions whose pairs of registers are masks of lanes, as far as any are."""
SCC_READERS = (
    "s_cselect_b32",
    "s_cselect_b64",
    "s_addc_u32",
    "s_subb_u32",
    "s_cbranch_scc0",
    "s_cbranch_scc1",
)
_KEEP_SCC = (
    "s_brev",
    "s_bitset",
    "s_sext",
    "s_pack",
    "s_flbit",
    "s_ff1",
    "s_mov",
    "s_cselect",
    "s_mul",
    "s_getpc",
    "s_load",
    "s_cvt",
    *(f"s_{name}_f" for name in ("add", "sub", "mul", "min", "max")),
    *("s_fmac", "s_fmaak", "s_fmamk", "s_rndne", "s_floor", "s_ceil", "s_trunc", "v_s_"),
    *("s_add_nc", "s_sub_nc"),
    "s_waitcnt",
    "s_nop",
    "s_barrier",
    *("s_bfm", "s_cls", "s_memtime", "s_memrealtime", "s_getreg", "s_set_gpr_idx"),
)
SCC_WRITERS = frozenset(name for name in SCALAR if not name.startswith(_KEEP_SCC))
"""Instructions that set the condition code."""
