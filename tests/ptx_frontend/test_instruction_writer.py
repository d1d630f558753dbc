"""What the writers of instructions say that each of them counts as."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelcast.errors import SourceSpan, UnsupportedInstruction
from kernelcast.ptx_frontend.instruction_writer import InstructionWriter
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.ptx.calls.added_instructions import AddedCode
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.scopes import RegisterFile
from kernelcast.simcore.isa.ir.kernel import Address, Compute, Immediate, Instruction, Kernel
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

HERE = SourceSpan("kernel", 7)
PLACE = Address(AddressSpace.SHARED, None, 16)
Compile = Callable[..., Kernel]


def written(writer: InstructionWriter) -> list[Instruction]:
    """A load, what is computed from it, and an atomic."""
    loaded = writer.register(32)
    writer.load(ScalarType.U32, PLACE, (loaded,), cache="cg")
    total = writer.compute("add.u32", 32, loaded, Immediate(1))
    writer.atomic("max", ScalarType.U32, PLACE, total, destination=loaded)
    (block,) = writer.builder.finish()
    return list(block.body)


def code() -> Code:
    return Code(BasicBlockBuilder(HERE, RegisterFile()))


def test_added_instructions_have_names_of_their_own() -> None:
    body = written(AddedCode(BasicBlockBuilder(HERE, RegisterFile()), HERE, None))
    names = [instruction.mnemonic for instruction in body]
    assert names == ["ld.shared.u32", "add.u32", "atom.max.u32"]
    assert [(i.pc, i.is_added, i.is_part, i.span) for i in body] == [
        (pc, True, False, HERE) for pc in range(3)
    ]


def test_the_first_after_the_beginning_is_that_of_the_source() -> None:
    writer = code()
    writer.begin("load")
    body = written(writer)
    assert [instruction.mnemonic for instruction in body] == ["load", "add.u32", "atom.max.u32"]
    assert [instruction.is_added for instruction in body] == [False, True, True]


def test_what_hardware_does_is_part_of_the_instruction() -> None:
    writer = code()
    writer.locate(HERE, HERE)
    writer.begin_parts()
    for instruction in written(writer):
        assert (instruction.is_added, instruction.is_part) == (False, True)
        assert instruction.origin == HERE


def test_parts_of_ptx_have_its_guard_and_their_accesses_its_name(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        ".shared .align 16 .b8 a[64]; setp.eq.u32 %p1, 0, 0; mov.u64 %rd1, 0;"
        "@%p1 cp.async.ca.shared.global [a], [%rd1], 4; ret;"
    )
    name = "cp.async.ca.shared.global"
    body = [i for i in kernel.instructions if i.mnemonic == name or i.is_part]
    assert [i.mnemonic for i in body if not isinstance(i, Compute)] == [name, name]
    assert [i.is_part for i in body if i.mnemonic == name] == [False, True]
    assert all(i.guard is not None for i in body if i.mnemonic == name)


def test_what_is_no_instruction_is_refused_at_its_place() -> None:
    with pytest.raises(UnsupportedInstruction, match="is not supported") as caught:
        code().compute("add.f8", 32)
    assert caught.value.span == HERE
