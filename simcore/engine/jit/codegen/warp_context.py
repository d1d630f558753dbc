"""What a warp that waits at a barrier keeps in its context: masks and the registers still needed.

A context begins with the warp's state, written by the caller, and the mask of a barrier reached by
the whole warp; then come the waiting lanes of each mixed barrier and of each yield, a digest of the
branches that the warp took, and registers. With counted barriers the digest is followed by the
lanes whose barriers have opened, and by lane the number of the barrier (one byte, NOWHERE for
none) and its count (four bytes).
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.simcore.engine.jit.analysis.warp_analysis import Analysis
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.isa.ir.kernel import BarrierSync, Kernel

__all__ = ["MASK_OFFSET", "NOWHERE", "WarpContext"]

MASK_OFFSET, _FIRST_OFFSET = 8, 16
NOWHERE = 255
_MUCH_CODE = 1 << 12
"""Registers that all barriers keep: a hundred barriers of usual kernels, few of those whose loops
hold tiles of products in registers, which LLVM takes many seconds to compile."""


class WarpContext:
    """Writes the code that saves and restores; `bytes` is the size of a context.

    `barriers`: basic blocks that end in one; `mixed`: those of them where other lanes of the warp
    may be elsewhere when some get there, or that need not open for all lanes; at the others,
    `whole`, a warp waits as one. `is_kept_at_one_place`: one place keeps what is needed behind any
    of these, which is more than each needs, and far less code. `yielding`: heads of spin loops.
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
        self.is_counted = analysis.places.has_counted_barriers
        self.mixed = [b for b in self.barriers if self.is_counted or self._is_mixed(b)]
        self.whole = [b for b in self.barriers if b not in self.mixed]
        needed = [len(self._needed_at([self.target(b)])) for b in self.whole]
        self.is_kept_at_one_place = sum(needed) > _MUCH_CODE
        self.yielding = list(analysis.places.yielding)
        self._offsets: dict[int, int] = {}
        self.bytes = self._lay_out()

    @property
    def mixed_state(self) -> int:
        """The state of a warp that waits at mixed barriers."""
        return 1 + len(self.barriers)

    @property
    def yield_state(self) -> int:
        """The state of a warp some of whose lanes have yielded."""
        return 2 + len(self.barriers)

    def state_of(self, barrier: int) -> int:
        """The state of a warp that waits as a whole."""
        return 1 + self.barriers.index(barrier)

    def target(self, barrier: int) -> int:
        """The basic block after a barrier."""
        return self._kernel.blocks[barrier].successors[0]

    def wait_mask_offset(self, barrier: int) -> int:
        """Where the lanes that wait at a mixed barrier are kept."""
        return _FIRST_OFFSET + 8 * self.mixed.index(barrier)

    def yield_mask_offset(self, head: int) -> int:
        """Where the lanes that yielded at the head of a spin loop are kept."""
        return _FIRST_OFFSET + 8 * (len(self.mixed) + self.yielding.index(head))

    def mask_place(self) -> str:
        """Address of the mask of a warp that waits as a whole."""
        return self.place(MASK_OFFSET)

    def wait_mask_place(self, barrier: int) -> str:
        """The address of the mask of lanes that wait at a barrier."""
        return self.place(self.wait_mask_offset(barrier))

    def yield_mask_place(self, head: int) -> str:
        """The address of the mask of lanes that gave way at the head of a spin loop."""
        return self.place(self.yield_mask_offset(head))

    @property
    def digest_offset(self) -> int:
        """Where the digest of the branches taken is kept."""
        return _FIRST_OFFSET + 8 * (len(self.mixed) + len(self.yielding))

    @property
    def opened_offset(self) -> int:
        """Where the lanes are kept whose counted barriers have opened."""
        return self.digest_offset + 8

    @property
    def numbers_offset(self) -> int:
        """Where a context holds the number of each lane's barrier, in bytes."""
        return self.digest_offset + 16

    @property
    def thread_counts_offset(self) -> int:
        """Where a context holds the thread count of each lane's barrier, in bytes."""
        return self.numbers_offset + self._warp.width

    def digest_place(self) -> str:
        """The address of the digest of the warp's branches."""
        return self.place(self.digest_offset)

    def save(self, targets: Iterable[int]) -> None:
        """Stores the registers that are needed from any of these basic blocks on."""
        code = self._warp.scalar
        for index in sorted(self._needed_at(targets)):
            kind, memory = self._types(index)
            value = code.op(f"load {kind}, ptr %R{index}")
            where = self.place(self._offsets[index])
            if memory != kind:
                name = "zext" if kind == "i1" else "bitcast"
                value = code.op(f"{name} {kind} {value} to {memory}")
            code.do(f"store {memory} {value}, ptr {where}, align 8")

    def restore(self, targets: Iterable[int]) -> None:
        """Emits loads of the registers that are still needed at `targets` from the context."""
        code = self._warp.scalar
        for index in sorted(self._needed_at(targets)):
            kind, memory = self._types(index)
            where = self.place(self._offsets[index])
            value = code.op(f"load {memory}, ptr {where}, align 8")
            if memory != kind:
                name = "trunc" if kind == "i1" else "bitcast"
                value = code.op(f"{name} {memory} {value} to {kind}")
            code.do(f"store {kind} {value}, ptr %R{index}")

    @property
    def waiting_targets(self) -> list[int]:
        """Basic blocks where lanes that wait at mixed barriers go on."""
        return [self.target(barrier) for barrier in self.mixed]

    def place(self, offset: int) -> str:
        """An address in the context."""
        return self._warp.scalar.op(f"getelementptr i8, ptr %context, i64 {offset}")

    def _is_mixed(self, barrier: int) -> bool:
        pending = self._analysis.pending_with
        own = self._analysis.places.barrier(barrier)
        return bool(pending[barrier]) or any(own in waiting for waiting in pending)

    def _lay_out(self) -> int:
        offset = self.digest_offset + 8
        if self.is_counted:
            offset = self.thread_counts_offset + 4 * self._warp.width
        targets = [self.target(b) for b in self.barriers] + self.yielding
        for index in sorted(self._needed_at(targets)):
            register = self._by_index[index]
            varying = self._analysis.variance(register).is_varying
            size = max(1, register.bits * (self._warp.width if varying else 1) // 8)
            align = 64 if size >= 64 else 8
            offset = -(-offset // align) * align
            self._offsets[index] = offset
            offset += size
        return -(-offset // 64) * 64

    def _needed_at(self, targets: Iterable[int]) -> set[int]:
        return {i for target in targets for i in self._analysis.live_in[target]}

    def _types(self, index: int) -> tuple[str, str]:
        """A register's type, and its type in the context: predicates are kept as whole bytes."""
        register = self._by_index[index]
        kind = self._registers.slot_type(register)
        if register.bits != 1:
            return kind, kind
        return kind, "i8" if kind == "i1" else self._warp.mask_type
