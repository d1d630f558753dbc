"""What is said of an access that points where it may not."""

from __future__ import annotations

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.isa.ir.kernel import Atomic, Load, Store
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["access_fault"]


def access_fault(
    instruction: Load | Store | Atomic, address: int, reason: str, thread: str
) -> MemoryAccessError:
    """The error for an access to an address that its space does not have.

    `address` is within the instruction's space. Added accesses are those of the call stack, parts
    those of images.
    """
    if instruction.is_part and instruction.address.space is AddressSpace.PARAM:
        text = "no argument of the launch is the texture or surface that has this number"
    elif _is_of_image(instruction):
        text = f"access of a texel outside of its image: address {address:#x}: {reason}"
    elif instruction.is_added:
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


def _is_of_image(instruction: Load | Store | Atomic) -> bool:
    """Whether the access reaches a texel.

    Such parts have names of their own, those of `cp.async` and other instructions that access
    memory more than once are called like the whole.
    """
    name = instruction.mnemonic.split(".")[0]
    plain = {"ld": Load, "st": Store, "atom": Atomic}
    return (
        instruction.is_part
        and isinstance(instruction, plain.get(name, ()))
        and "async" not in instruction.mnemonic
    )
