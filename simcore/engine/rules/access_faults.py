"""What is said of an access that points where it may not."""

from __future__ import annotations

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.isa.ir.kernel import Atomic, Load, Register, Store
from kernelcast.simcore.isa.ir.operands import CALL_STACK
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["access_fault"]


def access_fault(
    instruction: Load | Store | Atomic, address: int, reason: str, thread: str
) -> MemoryAccessError:
    """The error for an access to an address that its space does not have.

    `address` is within the instruction's space.
    """
    if instruction.is_part and instruction.address.space is AddressSpace.PARAM:
        text = "no argument of the launch is the texture or surface that has this number"
    elif _is_of_image(instruction):
        text = f"access of a texel outside of its image: address {address:#x}: {reason}"
    elif _is_of_call_stack(instruction):
        text = "the call stack is full: functions call each other too deep"
    else:
        size = instruction.type.bytes
        if isinstance(instruction, Load):
            size *= len(instruction.destinations)
        elif isinstance(instruction, Store):
            size *= len(instruction.sources)
        kind = type(instruction).__name__.lower()
        text = f"{kind} of {size} bytes at address {address:#x}: {reason}"
    return MemoryAccessError(text, instruction.span, thread, instruction.origin)


def _is_of_call_stack(instruction: Load | Store | Atomic) -> bool:
    """Whether a call put it there: code from LLVM IR and atomics of vectors are added, too."""
    base = instruction.address.base
    return instruction.is_added and isinstance(base, Register) and base.name == CALL_STACK


def _is_of_image(instruction: Load | Store | Atomic) -> bool:
    """Whether the access reaches a texel.

    Such parts have names of their own. Those of `cp.async`, `st.bulk`, atomics of 128 bits and
    others that access memory more than once are called like the whole.
    """
    end = instruction.type.ptx_name
    match instruction:
        case Atomic():
            own = f"atom.{instruction.operation}.{end}"
        case Load():
            own = f"ld.{instruction.address.space.value}.{end}"
        case _:
            own = f"st.{instruction.address.space.value}.{end}"
    return instruction.is_part and instruction.mnemonic == own
