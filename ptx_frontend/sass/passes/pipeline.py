"""All passes in their order, from what lowering writes to what engines run."""

from __future__ import annotations

from dataclasses import replace

from kernelcast.ptx_frontend.sass.lowering.registers import SassRegisters
from kernelcast.ptx_frontend.sass.passes.dead_parts import without_dead_parts
from kernelcast.ptx_frontend.sass.passes.decided_branches import with_decided_branches
from kernelcast.ptx_frontend.sass.passes.live_ranges import separated
from kernelcast.ptx_frontend.sass.passes.register_pairs import without_valid_updates
from kernelcast.ptx_frontend.sass.passes.waiting_loads import with_waiting_loads
from kernelcast.ptx_frontend.sass.passes.whole_pairs import with_values_whole
from kernelcast.simcore.isa.analysis.control_flow import live_in
from kernelcast.simcore.isa.ir.changed_instructions import changed
from kernelcast.simcore.isa.ir.kernel import BasicBlock, Kernel

__all__ = ["improved"]


def improved(kernel: Kernel, registers: SassRegisters) -> Kernel:
    """The kernel after all passes: it computes and counts the same."""
    bodies = without_valid_updates(kernel.blocks, registers)
    blocks = tuple(replace(block, body=bodies[block.index]) for block in kernel.blocks)
    live = live_in(replace(kernel, blocks=blocks))
    blocks, own = separated(blocks, live)
    blocks = with_decided_branches(blocks)
    unset = live_in(replace(kernel, blocks=blocks, registers=own))[0]
    blocks, own = with_values_whole(without_dead_parts(blocks), own, unset)
    kernel = replace(kernel, blocks=_numbered(blocks), registers=own)
    return with_waiting_loads(kernel)


def _numbered(blocks: tuple[BasicBlock, ...]) -> tuple[BasicBlock, ...]:
    """Dense pcs: first those that count, then the parts, each in its order."""
    pcs = [i.pc for block in blocks for i in (*block.body, block.terminator) if i.pc >= 0]
    new = {old: number for number, old in enumerate(sorted(pcs))}
    new[-1] = -1
    return tuple(
        replace(
            block,
            body=tuple(changed(i, pc=new[i.pc]) for i in block.body),
            terminator=changed(block.terminator, pc=new[block.terminator.pc]),
        )
        for block in blocks
    )
