"""Basic blocks: where they begin and end, and which terminators are in the source."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelcast.errors import UnsupportedInstruction
from kernelcast.simcore.isa.ir.kernel import BarrierSync, Branch, Exit, Instruction, Jump, Kernel

Compile = Callable[..., Kernel]


def mnemonics(kernel: Kernel) -> list[list[str]]:
    return [[i.mnemonic for i in (*b.body, b.terminator)] for b in kernel.blocks]


def test_straight_line(compile_ptx: Compile) -> None:
    kernel = compile_ptx("mov.u32 %r1, 1; ret;")
    assert mnemonics(kernel) == [["mov.u32", "ret"]]
    assert isinstance(kernel.blocks[0].terminator, Exit)


def test_loop(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        "mov.u32 %r1, 9; L: sub.s32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra L; ret;"
    )
    assert mnemonics(kernel) == [["mov.u32", ""], ["sub.s32", "setp.gt.s32", "bra"], ["ret"]]
    assert [block.label for block in kernel.blocks] == ["entry", "L", ""]
    entry, loop, _ = (block.terminator for block in kernel.blocks)
    assert isinstance(entry, Jump)
    assert (entry.target, entry.pc) == (1, -1)
    assert isinstance(loop, Branch)
    assert (loop.target, loop.otherwise) == (1, 2)
    assert (loop.guard.register.name, loop.guard.negated) == ("%p1", False)


def test_only_labels_of_branches_begin_basic_blocks(compile_ptx: Compile) -> None:
    kernel = compile_ptx("A: mov.u32 %r1, 1; B: mov.u32 %r2, 1; bra.uni C; C: ret; D:")
    assert mnemonics(kernel) == [["mov.u32", "mov.u32", "bra.uni"], ["ret"]]


@pytest.mark.parametrize("exit_", ["ret", "exit"])
def test_guarded_exits_share_one_basic_block(compile_ptx: Compile, exit_: str) -> None:
    kernel = compile_ptx(f"@%p1 {exit_}; mov.u32 %r1, 1; @!%p2 {exit_}; mov.u32 %r2, 2; ret;")
    first, second, last, shared = (block.terminator for block in kernel.blocks)
    assert isinstance(first, Branch)
    assert isinstance(second, Branch)
    assert (first.mnemonic, first.target, first.otherwise) == (exit_, 3, 1)
    assert (second.target, second.otherwise, second.guard.negated) == (3, 2, True)
    assert isinstance(last, Exit)
    assert isinstance(shared, Exit)
    assert (last.mnemonic, shared.mnemonic, shared.pc) == ("ret", "", -1)


def test_guarded_trap_keeps_its_place(compile_ptx: Compile) -> None:
    kernel = compile_ptx("@%p1 trap;\nret;")
    (trap,) = [
        b.terminator for b in kernel.blocks if isinstance(b.terminator, Exit) and b.terminator.trap
    ]
    assert trap.is_added
    assert trap.span.text.startswith("@%p1 trap")
    assert isinstance(compile_ptx("trap;").blocks[0].terminator, Exit)


def test_a_body_without_end_exits(compile_ptx: Compile) -> None:
    kernel = compile_ptx("mov.u32 %r1, 1;")
    assert mnemonics(kernel) == [["mov.u32", ""]]
    assert isinstance(kernel.blocks[0].terminator, Exit)
    assert mnemonics(compile_ptx("")) == [[""]]
    assert mnemonics(compile_ptx("bra L; L:")) == [["bra"], [""]]


@pytest.mark.parametrize(
    "barrier", ["bar.sync 3", "barrier.sync 3", "barrier.sync.aligned 3", "bar.cta.sync 3"]
)
def test_barriers_end_basic_blocks(compile_ptx: Compile, barrier: str) -> None:
    kernel = compile_ptx(f"mov.u32 %r1, 1; {barrier}; ret;")
    end = kernel.blocks[0].terminator
    assert isinstance(end, BarrierSync)
    assert (end.barrier, end.target, end.mnemonic) == (3, 1, barrier.split()[0])


def test_guarded_barrier_is_branched_around(compile_ptx: Compile) -> None:
    kernel = compile_ptx("@!%p1 bar.sync 0; ret;")
    around, barrier, last = (block.terminator for block in kernel.blocks)
    assert isinstance(around, Branch)
    assert (around.mnemonic, around.pc, around.target, around.otherwise) == ("", -1, 1, 2)
    assert around.guard.negated
    assert isinstance(barrier, BarrierSync)
    assert (barrier.target, barrier.guard) == (2, None)
    assert isinstance(last, Exit)


def test_barrier_for_exactly_the_required_threads(compile_ptx: Compile) -> None:
    kernel = compile_ptx("bar.sync 1, 64; ret;", directives=".reqntid 32, 2")
    assert isinstance(kernel.blocks[0].terminator, BarrierSync)
    assert not kernel.blocks[0].terminator.is_counted
    for directives in ("", ".reqntid 128"):
        end = compile_ptx("bar.sync 1, 64; ret;", directives=directives).blocks[0].terminator
        assert isinstance(end, BarrierSync)
        assert end.is_counted


@pytest.mark.parametrize(
    "text",
    [
        "bar.red.min.u32 %r1, 0, %p1;",
        "bar.sync.aligned 0;",
        "call.uni f, ();",
        "call.uni (%r1), %rd1, (%r2), prototype;",
    ],
)
def test_control_that_is_not_executed(compile_ptx: Compile, text: str) -> None:
    with pytest.raises(
        UnsupportedInstruction, match=r"not supported|not declared|a part of|no function"
    ):
        compile_ptx(f"{text} ret;")


def test_unreachable_instructions_get_no_pc(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        "bra L; mov.u32 %r1, 1; mov.u32 %r2, 1; L: mov.u32 %r3, 1; bra M; M: ret; mov.u32 %r4, 1;"
    )
    assert mnemonics(kernel) == [["bra"], ["mov.u32", "bra"], ["ret"]]
    assert [i.pc for i in kernel.instructions] == [0, 1, 2, 3]


def test_pcs_follow_the_source_and_indices_the_control_flow(compile_ptx: Compile) -> None:
    kernel = compile_ptx("bra L; X: mov.u32 %r1, 1; ret; L: mov.u32 %r2, 2; bra X;")
    assert [b.label for b in kernel.blocks] == ["entry", "L", "X"]
    assert [b.index for b in kernel.blocks] == [0, 1, 2]

    def offset(instruction: Instruction) -> int:
        return instruction.span.column

    assert [i.pc for i in kernel.instructions] == list(range(5))
    assert [offset(i) for i in kernel.instructions] == sorted(map(offset, kernel.instructions))
