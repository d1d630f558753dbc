"""Registers, labels and variables belong to their braces."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelcast.errors import PtxSyntaxError, UnsupportedInstruction
from kernelcast.simcore.isa.ir.kernel import Branch, Compute, Kernel, Register

Compile = Callable[..., Kernel]


def written(kernel: Kernel) -> list[Register]:
    return [
        register
        for instruction in kernel.instructions
        if isinstance(instruction, Compute)
        for register in instruction.destinations
        if register is not None
    ]


def test_equal_names_in_two_scopes_are_two_registers(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        "{ .reg .b32 t; mov.u32 t, 1; } { .reg .b64 t; mov.u64 t, 1; mov.u64 t, 2; } ret;"
    )
    first, second, third = written(kernel)
    assert (first.bits, second.bits) == (32, 64)
    assert first != second
    assert second == third


def test_an_inner_register_hides_the_outer_from_its_declaration_on(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        "mov.u32 %r1, 0; { mov.u32 %r1, 1; .reg .b32 %r1; mov.u32 %r1, 2; } mov.u32 %r1, 3; ret;"
    )
    outer, before, inner, after = written(kernel)
    assert outer == before == after != inner


def test_equal_labels_in_two_scopes(compile_ptx: Compile) -> None:
    loop = "{ L: sub.s32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra L; }"
    kernel = compile_ptx(f"{loop} {loop} ret;")
    loops = [b for b in kernel.blocks if isinstance(b.terminator, Branch)]
    assert len(loops) == 2
    assert all(block.index in block.successors for block in loops)


def test_branch_out_of_a_scope_but_not_into_one(compile_ptx: Compile) -> None:
    kernel = compile_ptx("{ @%p1 bra OUT; } mov.u32 %r1, 1; OUT: ret;")
    end = kernel.blocks[0].terminator
    assert isinstance(end, Branch)
    assert kernel.blocks[end.target].label == "OUT"
    with pytest.raises(PtxSyntaxError, match="no label 'IN'"):
        compile_ptx("bra IN; { IN: ret; } ret;")


def test_a_register_of_a_scope_ends_with_it(compile_ptx: Compile) -> None:
    with pytest.raises(PtxSyntaxError, match="no register 't'"):
        compile_ptx("{ .reg .b32 t; } mov.u32 t, 1; ret;")
    with pytest.raises(PtxSyntaxError, match="no register 't'"):
        compile_ptx("mov.u32 t, 1; .reg .b32 t; ret;")


def test_ranges_hold_their_count_only(compile_ptx: Compile) -> None:
    compile_ptx(".reg .b32 q1_<3>; mov.u32 q1_2, 1; ret;")
    compile_ptx(".reg .b32 q1<3>; mov.u32 q12, 1; ret;")
    for name in ("q3", "q03", "q"):
        with pytest.raises(PtxSyntaxError, match=f"no register '{name}'"):
            compile_ptx(f".reg .b32 q<3>; mov.u32 {name}, 1; ret;")


@pytest.mark.parametrize(
    ("type_", "bits"),
    [("pred", 1), ("b8", 16), ("f16", 16), ("s32", 32), ("f16x2", 32), ("f64", 64)],
)
def test_register_widths(compile_ptx: Compile, type_: str, bits: int) -> None:
    move = {1: "mov.pred", 16: "mov.b16", 32: "mov.b32", 64: "mov.b64"}[bits]
    kernel = compile_ptx(f".reg .{type_} x; {move} x, 0; ret;")
    assert [r.bits for r in written(kernel)] == [bits]


def test_vectors_of_predicates_are_refused(compile_ptx: Compile) -> None:
    with pytest.raises(UnsupportedInstruction, match="registers of type"):
        compile_ptx(".reg .v4 .pred x; ret;")


def test_wide_registers_are_two(compile_ptx: Compile) -> None:
    kernel = compile_ptx(".reg .b128 x<2>, y; mov.b128 x1, y; ret;")
    assert [r.name for r in written(kernel)] == ["x1.low", "x1.high"]
    assert {r.bits for r in kernel.registers} == {64}


def test_registers_are_numbered_without_gaps(compile_ptx: Compile) -> None:
    kernel = compile_ptx("mov.u32 %r7, 1; mov.u64 %rd3, 1; mov.u32 %r2, %r7; ret;")
    assert [r.index for r in kernel.registers] == [0, 1, 2]
    assert [r.name for r in kernel.registers] == ["%r7", "%rd3", "%r2"]


def test_a_variable_of_a_scope_hides_the_one_of_the_module(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        "{ .shared .b8 x[4]; mov.u32 %r1, x; } mov.u64 %rd1, x; ret;", module=".global .b8 x[8];"
    )
    assert sorted((s.space.value, s.size) for s in kernel.symbols.values()) == [
        ("global", 8),
        ("shared", 4),
    ]
