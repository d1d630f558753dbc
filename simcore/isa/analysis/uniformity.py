"""Which registers hold the same value in every thread of a launch."""

from __future__ import annotations

from collections import Counter, defaultdict

from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.analysis.control_flow import live_in, reads, writes
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    Compute,
    Immediate,
    Instruction,
    Kernel,
    Load,
    Operand,
    Register,
    Special,
    SpecialRegister,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = [
    "is_thread_block_constant",
    "launch_constants",
]

_UNIFORM = frozenset(
    {
        Special.NTID_X,
        Special.NTID_Y,
        Special.NTID_Z,
        Special.NCTAID_X,
        Special.NCTAID_Y,
        Special.NCTAID_Z,
        Special.NWARPID,
        Special.WARP_WIDTH,
    }
)
_UNIFORM_IN_THREAD_BLOCK = _UNIFORM | {Special.CTAID_X, Special.CTAID_Y, Special.CTAID_Z}


@once_per_kernel
def launch_constants(kernel: Kernel) -> frozenset[int]:
    """Indices of registers with one unguarded definition from immediates, parameters and sizes.

    Every thread that computes such a register gets the same value, whenever it does. A register
    that may be read before it is written is none: it holds 0 there.
    """
    unset = live_in(kernel)[0]
    counts = Counter(r.index for i in kernel.instructions for r in writes(i))
    found: set[int] = set()
    waiting: dict[int, list[Instruction]] = defaultdict(list)  # by a register that they read
    for first in watched(kernel.instructions, "looking for constants"):
        pending = [first]
        while pending:
            instruction = pending.pop()
            targets = [r.index for r in writes(instruction)]
            if not targets or instruction.guard is not None:
                continue
            if any(counts[t] != 1 or t in unset for t in targets):
                continue
            missing = next((r.index for r in reads(instruction) if r.index not in found), None)
            if missing is not None:
                waiting[missing].append(instruction)
            elif _is_constant(instruction, found, _UNIFORM):
                found.update(targets)
                pending += [later for target in targets for later in waiting.pop(target, ())]
    return frozenset(found)


def _is_constant(instruction: Instruction, known: set[int], uniform: frozenset[Special]) -> bool:
    if isinstance(instruction, Load):
        address = instruction.address
        return address.space is AddressSpace.PARAM and not isinstance(address.base, Register)
    return isinstance(instruction, Compute) and all(
        _is_constant_operand(source, known, uniform) for source in instruction.sources
    )


def _is_constant_operand(operand: Operand, known: set[int], uniform: frozenset[Special]) -> bool:
    if isinstance(operand, Register):
        return operand.index in known
    if isinstance(operand, SpecialRegister):
        return operand.which in uniform
    return isinstance(operand, (Immediate, SymbolAddress))


def is_thread_block_constant(instruction: Instruction) -> bool:
    """Whether threads of a thread block get the same of it if its registers are the same."""
    if isinstance(instruction, Load):
        return instruction.address.space is AddressSpace.PARAM
    return isinstance(instruction, Compute) and all(
        isinstance(source, Register)
        or _is_constant_operand(source, set(), _UNIFORM_IN_THREAD_BLOCK)
        for source in instruction.sources
    )
