"""Where and why compiled code stopped, as the error that a user reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelcast.errors import (
    AssertionTriggered,
    ExecutionError,
    LimitExceeded,
    MemoryAccessError,
)
from kernelcast.simcore.engine.jit.codegen.counted_barriers import FAULT_BARRIER
from kernelcast.simcore.engine.jit.codegen.exchanges import FAULT_MEMBERS
from kernelcast.simcore.engine.jit.codegen.runtime_functions import FAULT_READ_ONLY
from kernelcast.simcore.engine.jit.codegen.warp_function import FAULT_LIMIT, FAULT_TRAP
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.warp_lanes import missing_members
from kernelcast.simcore.engine.rules.access_faults import access_fault
from kernelcast.simcore.host.deadline import Deadline
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    Exit,
    Instruction,
    Kernel,
    Load,
    Register,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.memory_spaces import FlatMemory, OutOfBounds

__all__ = ["WorkerFault", "as_execution_error"]

_SHORT = 32


@dataclass(frozen=True)
class WorkerFault:
    """Where and why compiled code stopped."""

    kernel: Kernel
    launch: Launch
    memory: LaunchMemory
    batch: Batch
    kind: int
    pc: int
    lane: int
    address: int
    warp: int
    thread_block: int
    raised: ExecutionError | None = None
    """What a function of the host had to say."""

    def error(self, limits: Limits, passed: Deadline | None) -> ExecutionError:
        """The exception to raise: what the worker caught, a limit, or the kernel's own fault."""
        if self.raised is not None:
            return self.raised
        instruction = self.kernel.instructions[self.pc]
        span, origin = instruction.span, instruction.origin
        thread = self.batch.thread_name(self.warp * self.batch.width + self.lane)
        if self.kind == FAULT_LIMIT:
            if passed is not None:
                text = (
                    f"still running after {passed.seconds:g} s: an endless loop? (--limit-seconds)"
                )
            else:
                text = (
                    f"a warp issued more than {limits.instructions_per_warp:,} instructions: "
                    "an endless loop? (--limit-instructions)"
                )
            return LimitExceeded(text, span, origin=origin)
        if self.kind == FAULT_BARRIER:
            text = f"barriers have numbers from 0 to 15, not {self.address}"
            return ExecutionError(text, span, origin=origin)
        if self.kind == FAULT_MEMBERS:
            assert isinstance(instruction, WarpOperation)
            return missing_members(instruction, thread)
        if self.kind == FAULT_TRAP:
            assert isinstance(instruction, Exit)
            return AssertionTriggered(instruction.reason, span, thread, origin)
        if self.kind == FAULT_READ_ONLY:
            return MemoryAccessError("store to a read-only array", span, thread, origin)
        return self._access_error(instruction, thread)

    def _access_error(self, instruction: Instruction, thread: str) -> MemoryAccessError:
        assert isinstance(instruction, Load | Store | Atomic)
        size = instruction.type.bytes
        if isinstance(instruction, Load):
            size *= len(instruction.destinations)
        elif isinstance(instruction, Store):
            size *= len(instruction.sources)
        address, reason = self._explain(instruction, size)
        return access_fault(instruction, address, reason, thread)

    def _explain(self, instruction: Load | Store | Atomic, size: int) -> tuple[int, str]:
        """The memories of the reference engine know why."""
        space, address = instruction.address.space, self.address
        base = instruction.address.base
        if isinstance(base, Register) and base.bits == _SHORT:  # compiled code extends its sign
            address &= (1 << _SHORT) - 1
        if space is AddressSpace.GENERIC:
            space = AddressSpace.GLOBAL
            for window, first in WINDOWS.items():
                if first <= address < first + WINDOW_BYTES:
                    space, address = window, address - first
        where = np.array([address], np.int64)
        flat: FlatMemory
        try:
            if space is AddressSpace.GLOBAL:
                self.memory.globals.locate(where, size, 1)
            else:
                flat = {
                    AddressSpace.SHARED: self.batch.shared,
                    AddressSpace.LOCAL: self.batch.local,
                    AddressSpace.CONST: self.memory.constants,
                }.get(space, self.memory.parameters)
                flat.elements(where, 0, size, 1)
        except OutOfBounds as fault:
            return fault.address, fault.reason
        return address, "outside"


def as_execution_error(raised: ExecutionError | MemoryError) -> ExecutionError:
    """What no exception may say: compiled code cannot pass it on."""
    if isinstance(raised, ExecutionError):
        return raised
    return ExecutionError("no memory left for what the kernel asks of the host")
