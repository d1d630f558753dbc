"""The runtime library that kernels call: printf, assertions and a heap, for both engines."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.errors import (
    AssertionTriggered,
    ExecutionError,
    LimitExceeded,
    MemoryAccessError,
)
from kernelcast.simcore.engine.rules.format_strings import formatted
from kernelcast.simcore.host.limits import MOST_PRINTED_CHARACTERS, MOST_STRING_BYTES
from kernelcast.simcore.isa.ir.kernel import HEAP, HostCall, HostFunction, Kernel
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace
from kernelcast.simcore.launch.heap import Heap
from kernelcast.simcore.launch.launch_memory import LaunchMemory

__all__ = ["Caller", "HostFunctions", "PrintedText"]

Bytes = npt.NDArray[np.uint8]
_CHUNK = 64


class PrintedText:
    """What threads print.

    In the end it stands in the order of thread blocks, of their stages between barriers, and of
    warps, whatever order they ran in.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._pieces: list[tuple[tuple[int, int, int], str]] = []
        self.characters = 0

    def add(self, place: tuple[int, int, int], text: str) -> None:
        """`place`: thread block, stage and warp."""
        self._pieces.append((place, text))
        self.characters += len(text)

    def flush(self) -> None:
        """Writes everything and forgets it."""
        pieces, self._pieces = self._pieces, []
        self.characters = 0
        if pieces:
            self._write("".join(text for _, text in sorted(pieces, key=lambda piece: piece[0])))


class Caller(NamedTuple):
    """The thread that calls: its place, its name for messages, and its own memories."""

    thread_block: int
    stage: int
    warp: int
    name: str
    shared: Bytes
    local: Bytes


class HostFunctions:
    """One launch's; threads of the host may call at the same time."""

    def __init__(self, kernel: Kernel, memory: LaunchMemory, printed: PrintedText) -> None:
        self._memory = memory
        self._printed = printed
        self._lock = threading.Lock()
        self._heap = Heap(0, 0)
        if HEAP in kernel.symbols:
            self._heap = memory.globals.heap(kernel.symbols[HEAP].size)

    def call(self, call: HostCall, arguments: list[int], caller: Caller) -> int:
        """The result as unsigned bits; ExecutionError when the thread did wrong or gave up."""
        with self._lock:
            match call.function:
                case HostFunction.PRINT:
                    return self._print(call, arguments, caller)
                case HostFunction.ASSERT:
                    raise self._assertion(call, arguments, caller)
                case HostFunction.ALLOCATE:
                    return self._heap.allocate(arguments[0])
                case HostFunction.FREE:
                    self._free(call, arguments[0], caller)
        return 0

    def _print(self, call: HostCall, arguments: list[int], caller: Caller) -> int:
        def read(address: int, size: int) -> bytes:
            return self._read(call, address, size, caller)

        template = self._string(call, arguments[0], caller)
        try:
            text, count = formatted(
                template, arguments[1], read, lambda at: self._string(call, at, caller)
            )
        except ValueError as error:
            raise ExecutionError(f"printf: {error}", call.span, caller.name, call.origin) from None
        if self._printed.characters + len(text) > MOST_PRINTED_CHARACTERS:
            raise LimitExceeded(
                f"the launch prints more than {MOST_PRINTED_CHARACTERS:,} characters",
                call.span,
                caller.name,
                call.origin,
            )
        self._printed.add((caller.thread_block, caller.stage, caller.warp), text)
        return count

    def _assertion(
        self, call: HostCall, arguments: list[int], caller: Caller
    ) -> AssertionTriggered:
        message, file, function = (self._string(call, arguments[i], caller) for i in (0, 1, 3))
        where = f"{file}:{arguments[2]}"
        return AssertionTriggered(
            f"assertion `{message}` failed in {function} at {where}",
            call.span,
            caller.name,
            call.origin,
        )

    def _free(self, call: HostCall, address: int, caller: Caller) -> None:
        if address and self._heap.taken.pop(address, None) is None:
            raise ExecutionError(
                f"free of {address:#x}, which malloc did not give or free took back",
                call.span,
                caller.name,
                call.origin,
            )

    def _string(self, call: HostCall, address: int, caller: Caller) -> str:
        """The text up to the byte 0 at a generic address."""
        found = bytearray()
        while len(found) <= MOST_STRING_BYTES:
            piece = self._read(call, address + len(found), _CHUNK, caller, at_least=1)
            text, end, _ = piece.partition(b"\0")
            found += text
            if end:
                return found.decode("utf-8", "replace")
        raise ExecutionError(
            f"{call.function.value} reads a text of more than {MOST_STRING_BYTES} bytes",
            call.span,
            caller.name,
            call.origin,
        )

    def _read(
        self, call: HostCall, address: int, size: int, caller: Caller, at_least: int | None = None
    ) -> bytes:
        """`size` bytes at a generic address, fewer at an end if `at_least` so many are there."""
        memory, offset = self._storage(address, caller)
        found: bytes = memory[offset : offset + size].tobytes()
        if len(found) < (size if at_least is None else at_least):
            raise MemoryAccessError(
                f"{call.function.value} reads {size} bytes at address {address:#x}: outside",
                call.span,
                caller.name,
                call.origin,
            )
        return found

    def _storage(self, address: int, caller: Caller) -> tuple[Any, int]:
        for space, first in WINDOWS.items():
            if first <= address < first + WINDOW_BYTES:
                flat = {
                    AddressSpace.SHARED: caller.shared,
                    AddressSpace.LOCAL: caller.local,
                    AddressSpace.CONST: self._memory.constants.bytes,
                }.get(space, self._memory.parameters.bytes)
                return flat, address - first
        allocation = self._memory.globals.find(address)
        if allocation is None:
            return np.zeros(0, np.uint8), 0
        return allocation.bytes, address - allocation.address
