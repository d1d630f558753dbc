"""Whether threads that wait at several barriers may, by the rules of the reference engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BarrierError
from kernelcast.simcore.engine.jit.codegen.warp_context import MASK_OFFSET, NOWHERE
from kernelcast.simcore.engine.jit.runtime.generated_code import GeneratedCode
from kernelcast.simcore.engine.reference.barrier_bypass import BarrierBypassLog
from kernelcast.simcore.engine.reference.barriers import BarrierQueue
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.counted_barriers import CountedBarriers
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["BarrierCheck"]

Mask = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]


class BarrierCheck:
    """Reads the contexts of a thread block all of whose warps wait or are done."""

    def __init__(
        self, kernel: Kernel, source: GeneratedCode, batch: Callable[[int], Batch]
    ) -> None:
        self._kernel = kernel
        self._source = source
        self._batch = batch

    def check(self, thread_block: int, rows: Bytes, arrived: npt.NDArray[np.int64]) -> None:
        """Raises BarrierError unless the barriers may open. `rows`: contexts by warp.

        Counted barriers are checked when none of them opens; `arrived`: threads that came to each
        without waiting.
        """
        batch = self._batch(thread_block)
        waiting = self._waiting(batch, rows)
        if self._source.layout.numbers_offset is not None:
            raise self._too_few(batch, rows, waiting, arrived)
        queue = BarrierQueue(self._kernel, batch, BarrierBypassLog({}, batch.lanes))
        for barrier, mask in waiting:
            queue.wait(barrier, mask)
        queue.release()

    def waiting(self, thread_block: int, rows: Bytes) -> list[tuple[int, Mask]]:
        """Basic blocks that end in a barrier, and the lanes that wait there."""
        return self._waiting(self._batch(thread_block), rows)

    def _waiting(self, batch: Batch, rows: Bytes) -> list[tuple[int, Mask]]:
        """Barriers, and lanes that wait there, warp by warp."""
        layout, width = self._source.layout, batch.width
        exists = batch.exists()
        found: list[tuple[int, Mask]] = []
        states = rows[:, :4].copy().view(np.int32).reshape(-1)
        for warp, state in enumerate(states.tolist()):
            if state < 0:
                continue
            places: tuple[tuple[int, int], ...] = self._source.mixed_barriers
            if state != layout.mixed_state:
                places = ((self._source.barriers[state - 1], MASK_OFFSET),)
            for barrier, offset in places:
                word = int(rows[warp, offset : offset + 8].copy().view(np.uint64)[0])
                mask = np.zeros(batch.lanes, np.bool_)
                mask[warp * width : (warp + 1) * width] = [word >> i & 1 for i in range(width)]
                if exists is not None:
                    mask &= exists
                if mask.any():
                    found.append((barrier, mask))
        return found

    def _too_few(
        self,
        batch: Batch,
        rows: Bytes,
        waiting: list[tuple[int, Mask]],
        arrived: npt.NDArray[np.int64],
    ) -> BarrierError:
        first = self._source.layout.numbers_offset
        assert first is not None
        numbers = rows[:, first : first + batch.width].reshape(-1).astype(np.int64)
        counts = rows[:, first + batch.width : first + 5 * batch.width]
        asked = np.ascontiguousarray(counts).view(np.uint32).reshape(-1).astype(np.int64)
        numbers[numbers == NOWHERE] = -1
        state = CountedBarriers(batch, numbers, asked, arrived[None])
        barrier, mask = waiting[0]
        lane = int(np.argmax(mask))
        end = self._kernel.blocks[barrier].terminator
        return BarrierError(
            f"too few threads come to this barrier: {state.state(lane)}",
            end.span,
            batch.thread_name(lane),
            end.origin,
        )
