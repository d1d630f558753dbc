"""Kernels without the arithmetic and the matrix products that decide no path and no address.

Backward slices as in `slices`, but through memory as well: where the slice reads a kind of memory,
what is stored there belongs to it. Words of mbarriers are apart: only operations on mbarriers may
touch them (PTX ISA 9.0, "mbarrier").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from typing import Any

from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BulkCopy,
    Compute,
    Instruction,
    Kernel,
    Load,
    Operand,
    Register,
    Store,
    Straight,
    TensorMemoryOperation,
    WarpOperation,
)
from kernelcast.simcore.isa.ir.mbarrier_words import OPERATION as MBARRIER
from kernelcast.simcore.isa.ir.mbarrier_words import is_mbarrier_look, is_of_mbarrier
from kernelcast.simcore.isa.matrix.operations import MatrixOpcode
from kernelcast.simcore.isa.matrix.tensor_memory import (
    CopyIn,
    RegisterAccess,
    RowShift,
    TensorProduct,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["without_unread_values"]


class _Memory(Enum):
    """What a result may be kept in until something reads it."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    TENSOR = "tensor"


_OF_SPACE = {
    AddressSpace.GENERIC: (_Memory.GLOBAL, _Memory.SHARED, _Memory.LOCAL),
    AddressSpace.GLOBAL: (_Memory.GLOBAL,),
    AddressSpace.SHARED: (_Memory.SHARED,),
    AddressSpace.LOCAL: (_Memory.LOCAL,),
}


@once_per_kernel
def without_unread_values(kernel: Kernel) -> Kernel:
    """The kernel without arithmetic and matrix products that no path and no address depends on.

    It takes the same paths to the same addresses; what is left out leaves registers and memory as
    they were. It still counts, with its guards and the accesses that belong to it.
    """
    needed = _Dependences(kernel).needed()
    blocks = tuple(
        replace(
            block,
            body=tuple(item if item.pc in needed else _left_out(item) for item in block.body),
        )
        for block in kernel.blocks
    )
    return replace(kernel, blocks=blocks)


def _left_out(instruction: Straight) -> Straight:
    if isinstance(instruction, Compute):
        return replace(instruction, destinations=(), sources=())
    if isinstance(instruction, TensorMemoryOperation):
        if isinstance(instruction.operation, TensorProduct):
            operation = replace(instruction.operation, is_left_out=True)
            return replace(instruction, operation=operation)
    elif isinstance(instruction, WarpOperation) and isinstance(instruction.opcode, MatrixOpcode):
        opcode = replace(instruction.opcode, compute=_nothing)
        return replace(instruction, opcode=opcode, destinations=(), sources=())
    return instruction


def _nothing(_type: ScalarType, _participants: Any, *_operands: Any) -> tuple[Any, ...]:
    return ()


class _Dependences:
    """Which instructions a kernel's paths and addresses are computed by."""

    def __init__(self, kernel: Kernel) -> None:
        self._writers: dict[int, list[Instruction]] = defaultdict(list)
        self._fillers: dict[_Memory, list[Instruction]] = defaultdict(list)
        self._registers: set[int] = set()
        self._memories: set[_Memory] = set()
        self._found: dict[int, Instruction] = {}
        self._pending: list[Instruction] = []
        for block in kernel.blocks:
            for instruction in (*block.body, block.terminator):
                for register in writes(instruction):
                    self._writers[register.index].append(instruction)
                for memory in _filled(instruction):
                    self._fillers[memory].append(instruction)
        for block in kernel.blocks:
            for instruction in (*block.body, block.terminator):
                self._need(_roots(instruction))

    def needed(self) -> frozenset[int]:
        """The program counters (pcs) of all instructions that something needed depends on."""
        while self._pending:
            instruction = self._pending.pop()
            self._need(reads(instruction))
            for memory in _taken(instruction):
                if memory not in self._memories:
                    self._memories.add(memory)
                    self._add(self._fillers[memory])
        return frozenset(self._found)

    def _need(self, registers: Iterable[Register]) -> None:
        for register in registers:
            if register.index not in self._registers:
                self._registers.add(register.index)
                self._add(self._writers[register.index])

    def _add(self, instructions: Iterable[Instruction]) -> None:
        for instruction in instructions:
            if instruction.pc not in self._found:
                self._found[instruction.pc] = instruction
                self._pending.append(instruction)


def _roots(instruction: Instruction) -> Iterator[Register]:
    """Registers of an instruction that decide a path, an address or an mbarrier.

    Those that only decide a value written to registers or memory are not among them.
    """
    if _is_of_mbarrier(instruction) or not isinstance(
        instruction, Compute | Load | Store | Atomic | WarpOperation
    ):
        stored = _stored_from(instruction)
        yield from (item for item in reads(instruction) if item not in stored)
    operands: tuple[Operand | None, ...] = ()
    match instruction:
        case Load() | Store() | Atomic():
            operands = (instruction.address.base,)
        case WarpOperation():
            operands = (instruction.members,)
        case TensorMemoryOperation():
            operands = instruction.sources[:1]
    yield from (item for item in operands if isinstance(item, Register))
    if instruction.guard is not None:
        yield instruction.guard.register


def _stored_from(instruction: Instruction) -> tuple[Operand, ...]:
    """Sources whose values go to tensor memory."""
    if isinstance(instruction, TensorMemoryOperation) and isinstance(
        instruction.operation, RegisterAccess
    ):
        return instruction.sources[1:]
    return ()


def _is_of_mbarrier(instruction: Instruction) -> bool:
    if isinstance(instruction, Atomic) and instruction.operation == MBARRIER:
        return True
    return is_of_mbarrier(instruction) and not isinstance(instruction, Compute)


def _taken(instruction: Instruction) -> tuple[_Memory, ...]:
    """The memory that what it writes depends on."""
    if isinstance(instruction, Load | Atomic):
        if is_mbarrier_look(instruction) or _is_of_mbarrier(instruction):
            return ()
        return _OF_SPACE.get(instruction.address.space, ())
    if isinstance(instruction, BulkCopy):
        return (_Memory(instruction.operation.direction.source),)
    if isinstance(instruction, TensorMemoryOperation):
        match instruction.operation:
            case CopyIn():
                return (_Memory.SHARED,)
            case TensorProduct():
                return (_Memory.SHARED, _Memory.TENSOR)
            case RegisterAccess(is_store=False) | RowShift():
                return (_Memory.TENSOR,)
    return ()


def _filled(instruction: Instruction) -> tuple[_Memory, ...]:
    """The memory that it writes."""
    if isinstance(instruction, Store | Atomic):
        if _is_of_mbarrier(instruction):
            return ()
        return _OF_SPACE.get(instruction.address.space, ())
    if isinstance(instruction, BulkCopy):
        destination = instruction.operation.direction.destination
        return (_Memory(destination),) if destination else ()
    if isinstance(instruction, TensorMemoryOperation):
        match instruction.operation:
            case CopyIn() | TensorProduct() | RowShift() | RegisterAccess(is_store=True):
                return (_Memory.TENSOR,)
    return ()
