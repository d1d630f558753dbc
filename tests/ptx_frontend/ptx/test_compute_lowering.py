"""Which entry of the opcode table an instruction takes, and what its operands become."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend.ptx.lowering.names import SPECIALS
from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, Refusal, compute_form
from kernelcast.simcore.isa.ir.kernel import (
    Compute,
    Immediate,
    Kernel,
    Register,
    Special,
    SpecialRegister,
    SymbolAddress,
)
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.types import ScalarType

Compile = Callable[..., Kernel]


@pytest.fixture
def lower(compile_ptx: Compile) -> Callable[..., Compute]:
    """(instruction, module="") -> the last computing instruction that it becomes."""

    def build(text: str, module: str = "") -> Compute:
        found = compile_ptx(f"{text} ret;", "u64 out, u32 n", module).blocks[0].body[-1]
        assert isinstance(found, Compute)
        return found

    return build


Lower = Callable[..., Compute]


@pytest.mark.parametrize(
    ("mnemonic", "entry", "types", "modifiers"),
    [
        ("add.s32", "add", "s32 s32", ""),
        ("add.rn.ftz.f32", "add", "f32 f32", "rn ftz"),
        ("mul.lo.s32", "mul.lo", "s32 s32", ""),
        ("mul.wide.u16", "mul.wide", "u16 u16", ""),
        ("mul.f64", "mul", "f64 f64", ""),
        ("fma.rz.f64", "fma", "f64 f64", "rz"),
        ("setp.lt.u32", "setp.lt", "u32 u32", ""),
        ("setp.neu.and.ftz.f32", "setp.neu.and", "f32 f32", "ftz"),
        ("set.gt.u32.f32", "set.gt", "u32 f32", ""),
        ("cvt.rn.f32.s64", "cvt", "f32 s64", "rn"),
        ("cvt.rzi.ftz.s32.f32", "cvt", "s32 f32", "rzi ftz"),
        ("cvt.sat.u8.s32", "cvt", "u8 s32", "sat"),
        ("cvta.to.global.u64", "cvta.to.global", "u64 u64", ""),
        ("cvta.shared.u64", "cvta.shared", "u64 u64", ""),
        ("isspacep.local", "isspacep.local", "u64 u64", ""),
        ("div.full.ftz.f32", "div", "f32 f32", "full ftz"),
        ("sqrt.approx.f32", "sqrt", "f32 f32", "approx"),
        ("shf.l.wrap.b32", "shf.l.wrap", "b32 b32", ""),
        ("bfind.shiftamt.u32", "bfind.shiftamt", "u32 u32", ""),
        ("prmt.b32.rc8", "prmt.rc8", "b32 b32", ""),
        ("slct.f32.s32", "slct", "f32 s32", ""),
        ("and.pred", "and", "pred pred", ""),
        ("madc.hi.cc.u32", "madc.hi.cc", "u32 u32", ""),
        ("mad.lo.cc.u32", "mad.lo.cc", "u32 u32", ""),
        ("fma.rn.relu.f16x2", "fma", "f16x2 f16x2", "rn relu"),
        ("min.NaN.xorsign.abs.bf16", "min", "bf16 bf16", "NaN xorsign abs"),
        ("cvt.rn.bf16.f32", "cvt", "bf16 f32", "rn"),
        ("cvt.rna.tf32.f32", "cvt", "tf32 f32", "rna"),
        ("cvt.rn.f16x2.f32", "cvt.pair", "f16x2 f32", "rn"),
        ("cvt.rn.satfinite.e4m3x2.f16x2", "cvt.packed", "e4m3x2 f16x2", "rn satfinite"),
        ("set.gt.f16x2.f16x2", "set.gt", "f16x2 f16x2", ""),
        ("set.gt.u32.f16x2", "set.gt", "u32 f16x2", ""),
        ("dp2a.lo.s32.u32", "dp2a.lo", "s32 u32", ""),
        ("lop3.or.b32", "lop3.or", "b32 b32", ""),
        ("cvt.rn.satfinite.e2m1x2.bf16x2", "cvt.packed", "e2m1x2 bf16x2", "rn satfinite"),
        ("cvt.rs.relu.satfinite.e3m2x4.f32", "cvt.four.rs", "e3m2x4 f32", "relu satfinite"),
        ("cvt.pack.sat.u4.s32.b32", "cvt.pack.u4", "s32 s32", "sat"),
        ("fma.rz.sat.f32.bf16", "fma.mixed", "f32 bf16", "rz sat"),
    ],
)
def test_entry_types_and_modifiers(mnemonic: str, entry: str, types: str, modifiers: str) -> None:
    form = compute_form(mnemonic)
    assert isinstance(form, ComputeForm), form
    assert form.opcode is OPCODES[entry]
    assert [form.type.ptx_name, form.source_type.ptx_name] == types.split()
    assert form.modifiers == frozenset(modifiers.split())


NEEDED = ("", ".rn", ".approx", ".approx.ftz", ".rn.satfinite", ".satfinite", ".sat")
"""Modifiers without which PTX lacks some instructions."""


@pytest.mark.parametrize("entry", sorted(OPCODES))
def test_every_entry_is_found_by_its_name_and_a_type(entry: str) -> None:
    opcode = OPCODES[entry]
    type_ = min(t.ptx_name for t in opcode.types)
    sources = [t.ptx_name for t in opcode.sources]
    second = f".{type_ if type_ in sources else min(sources)}" if sources else ""
    parts = entry.split(".")
    shapes = ("pack2", "pack4", "unpack2", "unpack4", "three", "mixed", "pair", "packed", "four")
    shape = next((part for part in parts if part in shapes), "")
    parts = [part for part in parts if part != shape]
    root = ".".join(parts)
    forms = [compute_form(f"{root}{needed}.{type_}{second}", shape) for needed in NEEDED]
    assert opcode in [form.opcode for form in forms if isinstance(form, ComputeForm)], forms


@pytest.mark.parametrize(
    ("mnemonic", "reason"),
    [
        ("addd.s32", "did you mean add"),
        ("shfl.sync.bfly.b32", "not supported"),
        ("fma.rn.f16x4", "modifier '.f16x4' of 'fma'"),
        ("add.cc.f32", "'add.cc' of type .f32"),
        ("cvt.f32.f16x2", "'cvt' from type .f16x2"),
        ("cvt.rn.f32.tf32", "'cvt' from type .tf32"),
        ("set.eq.f32.f16x2", "'set.eq' of types .f32.f16x2"),
        ("set.eq.f16x2.f32", "'set.eq' of types .f16x2.f32"),
        ("slct.f32.u32", "'slct' from type .u32"),
        ("sub.u16x2", "'sub' of type .u16x2"),
        ("cvt.rs.f16.f32", "modifier '.rs' of 'cvt'"),
        ("cvt.pack.u16.s32", "it needs .sat"),
        ("add.pred", "'add' of type .pred"),
        ("mul.s32", "'mul' of type .s32"),
        ("add", "needs 1 type, got 0"),
        ("cvt.f32", "needs 2 types, got 1"),
        ("mad24.s32", "no form of 'mad24' fits"),
    ],
)
def test_what_the_table_lacks_is_refused_with_a_reason(mnemonic: str, reason: str) -> None:
    form = compute_form(mnemonic)
    assert isinstance(form, Refusal)
    assert reason in form.reason
    assert repr(mnemonic) in form.reason


def test_registers_mnemonic_and_place(lower: Lower) -> None:
    found = lower("@!%p1 add.s32 %r1, %r2, %r1;")
    (destination,) = found.destinations
    assert destination is not None
    assert (destination.name, destination.bits) == ("%r1", 32)
    assert [s.name for s in found.sources if isinstance(s, Register)] == ["%r2", "%r1"]
    assert found.sources[1] == destination
    assert found.mnemonic == "add.s32"
    assert found.guard is not None
    assert (found.guard.register.name, found.guard.negated) == ("%p1", True)
    assert found.span.text[found.span.column - 1 :].startswith("add.s32")


def single(value: float) -> int:
    found: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return found


def double(value: float) -> int:
    found: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return found


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("add.s32 %r1, %r2, -1;", 0xFFFFFFFF),
        ("add.s64 %rd1, %rd2, -1;", 0xFFFFFFFFFFFFFFFF),
        ("add.s16 %rs1, %rs2, -2;", 0xFFFE),
        ("add.s16 %rs1, %rs2, 70000;", 70000 - 65536),
        ("and.b32 %r1, %r2, 0x1FFFFFFFF;", 0xFFFFFFFF),
        ("add.f32 %f1, %f2, 0f3FC00000;", single(1.5)),
        ("add.f32 %f1, %f2, 1.5;", single(1.5)),
        ("add.f32 %f1, %f2, 0d3FF8000000000000;", single(1.5)),
        ("add.f32 %f1, %f2, 0d7FE0000000000000;", single(float("inf"))),
        ("add.f64 %fd1, %fd2, 0f3FC00000;", double(1.5)),
        ("add.f64 %fd1, %fd2, 0dBFF8000000000000;", double(-1.5)),
        ("mov.f32 %f1, 0f7FC01234;", 0x7FC01234),
        ("mov.b32 %r1, 0f3FC00000;", single(1.5)),
        ("mov.b64 %rd1, 0d3FF8000000000000;", double(1.5)),
        ("cvt.rn.f32.s32 %f1, -3;", 0xFFFFFFFD),
        ("shl.b64 %rd1, %rd2, 33;", 33),
        ("mov.pred %p1, -1;", 1),
        ("mov.pred %p1, 0;", 0),
        ("mov.u32 %r1, WARP_SZ;", 32),
    ],
)
def test_constants_are_bits_of_the_operand_type(lower: Lower, text: str, bits: int) -> None:
    assert lower(text).sources[-1] == Immediate(bits)


@pytest.mark.parametrize("special", list(SPECIALS.values()))
def test_special_registers(lower: Lower, special: Special) -> None:
    wide = special in (Special.CLOCK64, Special.GLOBALTIMER)
    text = f"mov.{'u64 %rd1' if wide else 'u32 %r1'}, {special.value};"
    assert lower(text).sources == (SpecialRegister(special),)


@pytest.mark.parametrize("name", ["%tid", "%envreg32", "%pm9"])
def test_special_registers_that_nothing_here_knows(compile_ptx: Compile, name: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=f"special register '{name}'"):
        compile_ptx(f"mov.u32 %r1, {name}; ret;")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mov.u64 %rd1, table;", SymbolAddress("table", 0)),
        ("mov.u64 %rd1, table+8;", SymbolAddress("table", 8)),
        ("mov.u32 %r1, tile;", SymbolAddress("tile", 0)),
        ("cvta.global.u64 %rd1, table;", SymbolAddress("table", 0)),
    ],
)
def test_addresses_of_variables(lower: Lower, text: str, expected: SymbolAddress) -> None:
    module = ".global .u32 table[4]; .shared .f32 tile[8];"
    assert lower(text, module).sources == (expected,)


def names(registers: tuple[object, ...]) -> list[str | None]:
    return [r.name if isinstance(r, Register) else None for r in registers]


@pytest.mark.parametrize(
    ("text", "entry", "destinations", "sources"),
    [
        ("mov.b64 %rd1, {%r1, %r2};", "mov.pack2", ["%rd1"], ["%r1", "%r2"]),
        ("mov.b64 {%r1, %r2}, %rd1;", "mov.unpack2", ["%r1", "%r2"], ["%rd1"]),
        ("mov.b32 {%rs1, _}, %r1;", "mov.unpack2", ["%rs1", None], ["%r1"]),
        (
            "mov.b64 %rd1, {%rs1, %rs2, %rs3, %rs4};",
            "mov.pack4",
            ["%rd1"],
            ["%rs1", "%rs2", "%rs3", "%rs4"],
        ),
        ("setp.lt.s32 %p1|%p2, %r1, %r2;", "setp.lt", ["%p1", "%p2"], ["%r1", "%r2"]),
        ("setp.lt.s32 _|%p2, %r1, %r2;", "setp.lt", [None, "%p2"], ["%r1", "%r2"]),
        ("setp.lt.s32 %p1, %r1, %r2;", "setp.lt", ["%p1", None], ["%r1", "%r2"]),
        ("selp.b32 %r1, %r2, %r3, !%p1;", "selp", ["%r1"], ["%r3", "%r2", "%p1"]),
        ("mov.b32 %r1, { %r2 };", "mov", ["%r1"], ["%r2"]),
        ("cvt.u32.u8 %r1, %rs1;", "cvt", ["%r1"], ["%rs1"]),
        ("cvt.u8.u32 %rs1, %r1;", "cvt", ["%rs1"], ["%r1"]),
        ("cvt.u16.u32 %r1, %r2;", "cvt", ["%r1"], ["%r2"]),
        ("add.f32 %r1, %r2, %f3;", "add", ["%r1"], ["%r2", "%f3"]),
    ],
)
def test_shapes_of_operands(
    lower: Lower, text: str, entry: str, destinations: list[str], sources: list[str]
) -> None:
    found = lower(text)
    assert found.opcode.name == entry
    assert names(found.destinations) == destinations
    assert names(found.sources) == sources


def test_other_negated_predicates_cost_an_inversion(compile_ptx: Compile) -> None:
    body = compile_ptx("setp.eq.or.s32 %p1, %r1, %r2, !%p3; ret;").blocks[0].body
    inversion, comparison = body
    assert isinstance(inversion, Compute)
    assert isinstance(comparison, Compute)
    assert (inversion.opcode.name, names(inversion.sources)) == ("not", ["%p3"])
    assert inversion.type is ScalarType.PRED
    assert comparison.sources[2] == inversion.destinations[0]
    assert (inversion.pc, comparison.pc) == (0, 1)


def test_entries_for_opencl_are_no_ptx(compile_ptx: Compile) -> None:
    with pytest.raises(UnsupportedInstruction, match="none of PTX"):
        compile_ptx("opencl.exp.f32 %f1, %f2; ret;")
