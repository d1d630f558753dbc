"""Where instructions stand: basic blocks by pc, implicit jumps left out."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.simcore.isa.analysis.instruction_rows import (
    basic_block_of_each_pc,
    instruction_rows,
)
from kernelcast.simcore.isa.ir.kernel import Kernel


def test_each_instruction_of_the_source_has_its_basic_block(
    compile_ptx: Callable[..., Kernel],
) -> None:
    """The jump into the loop is the front end's own: no pc, no row."""
    kernel = compile_ptx(
        """
        mov.u32 %r1, 0;
        LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP;
        ret;
        """
    )
    assert basic_block_of_each_pc(kernel).tolist() == [0, 1, 1, 1, 2]
    assert [row.basic_block for row in instruction_rows(kernel)] == [0, 1, 1, 1, 2]
