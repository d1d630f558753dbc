"""What a warp that waits at a barrier keeps in its context: masks and the registers still needed.

A context begins with the warp's state, written by the caller, and the mask of a barrier reached by
the whole warp; then come the waiting lanes of each mixed barrier, a digest of the branches that
the warp took, and registers.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.simcore.engine.jit.analysis import Analysis
from kernelcast.simcore.engine.jit.registers import Registers
from kernelcast.simcore.engine.jit.warp_code import WarpCode
from kernelcast.simcore.isa.kernel import BarrierSync, Kernel

__all__ = ["WarpContext"]

_MASK_OFFSET, _FIRST_OFFSET = 8, 16


class WarpContext:
    """Writes the code that saves and restores; `bytes` is the size of a context.

    `barriers`: basic blocks that end in one; `mixed`: those of them where other lanes of the warp
    may be elsewhere when some get there.
    """

    def __init__(
        self, warp: WarpCode, kernel: Kernel, analysis: Analysis, registers: Registers
    ) -> None:
        self._warp = warp
        self._kernel = kernel
        self._analysis = analysis
        self._registers = registers
        self._by_index = {r.index: r for r in kernel.registers}
        self.barriers = [b.index for b in kernel.blocks if isinstance(b.terminator, BarrierSync)]
        self.mixed = [b for b in self.barriers if self._is_mixed(b)]
        self._offsets: dict[int, int] = {}
        self.bytes = self._lay_out()

    @property
    def mixed_state(self) -> int:
        """The state of a warp that waits at mixed barriers."""
        return 1 + len(self.barriers)

    def state_of(self, barrier: int) -> int:
        """The state of a warp that waits as a whole."""
        return 1 + self.barriers.index(barrier)

    def target(self, barrier: int) -> int:
        """The basic block after a barrier."""
        return self._kernel.blocks[barrier].successors[0]

    def wait_mask_offset(self, barrier: int) -> int:
        """Where the lanes that wait at a mixed barrier are kept."""
        return _FIRST_OFFSET + 8 * self.mixed.index(barrier)

    def mask_place(self) -> str:
        """Address of the mask of a warp that waits as a whole."""
        return self._place(_MASK_OFFSET)

    def wait_mask_place(self, barrier: int) -> str:
        return self._place(self.wait_mask_offset(barrier))

    @property
    def digest_offset(self) -> int:
        """Where the digest of the branches taken is kept."""
        return _FIRST_OFFSET + 8 * len(self.mixed)

    def digest_place(self) -> str:
        return self._place(self.digest_offset)

    def save(self, barriers: Iterable[int]) -> None:
        """Stores the registers that are needed after any of the barriers."""
        code = self._warp.scalar
        for index in sorted(self._needed_after(barriers)):
            kind, memory = self._types(index)
            value = code.op(f"load {kind}, ptr %R{index}")
            where = self._place(self._offsets[index])
            if memory != kind:
                name = "zext" if kind == "i1" else "bitcast"
                value = code.op(f"{name} {kind} {value} to {memory}")
            code.do(f"store {memory} {value}, ptr {where}, align 8")

    def restore(self, barriers: Iterable[int]) -> None:
        code = self._warp.scalar
        for index in sorted(self._needed_after(barriers)):
            kind, memory = self._types(index)
            where = self._place(self._offsets[index])
            value = code.op(f"load {memory}, ptr {where}, align 8")
            if memory != kind:
                name = "trunc" if kind == "i1" else "bitcast"
                value = code.op(f"{name} {memory} {value} to {kind}")
            code.do(f"store {kind} {value}, ptr %R{index}")

    def _is_mixed(self, barrier: int) -> bool:
        places = self._analysis.pending_with
        own = len(self._kernel.blocks) + barrier
        return bool(places[barrier]) or any(own in waiting for waiting in places)

    def _lay_out(self) -> int:
        offset = self.digest_offset + 8
        for index in sorted(self._needed_after(self.barriers)):
            register = self._by_index[index]
            varying = self._analysis.shape(register).is_varying
            size = max(1, register.bits * (self._warp.width if varying else 1) // 8)
            align = 64 if size >= 64 else 8
            offset = -(-offset // align) * align
            self._offsets[index] = offset
            offset += size
        return -(-offset // 64) * 64

    def _needed_after(self, barriers: Iterable[int]) -> set[int]:
        return {i for b in barriers for i in self._analysis.live_in[self.target(b)]}

    def _types(self, index: int) -> tuple[str, str]:
        """A register's type, and its type in the context: predicates are kept as whole bytes."""
        register = self._by_index[index]
        kind = self._registers.slot_type(register)
        if register.bits != 1:
            return kind, kind
        return kind, "i8" if kind == "i1" else self._warp.mask_type

    def _place(self, offset: int) -> str:
        return self._warp.scalar.op(f"getelementptr i8, ptr %context, i64 {offset}")
