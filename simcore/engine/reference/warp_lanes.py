"""Operations across lanes in the reference engine: groups of lanes as rows of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ExecutionError, KernelcastError
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.lanes import LaneView, as_bits
from kernelcast.simcore.isa.ir.kernel import Kernel, Operand, WarpOperation
from kernelcast.simcore.isa.opcodes.warp import GROUP, lane_words
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["check_warp_width", "execute_across_lanes", "missing_members"]

Mask = npt.NDArray[np.bool_]
_ALL = np.uint32(0xFFFFFFFF)
_WARP_WIDTHS = (8, 16, 32, 64)


def check_warp_width(kernel: Kernel, warp_width: int) -> None:
    """Refuses warps of a width that no engine has or that does not fit the kernel.

    KernelcastError for the former, ExecutionError for the latter: lanes of one group of PTX's
    exchange values and must be of one warp, and warpgroups are made of such warps.
    """
    if warp_width not in _WARP_WIDTHS:
        raise KernelcastError(f"warp width {warp_width} is not one of {_WARP_WIDTHS}")
    if warp_width == GROUP:
        return
    for instruction in kernel.instructions:
        if not isinstance(instruction, WarpOperation) or instruction.opcode.is_whole:
            continue
        if warp_width < GROUP or instruction.opcode.warps > 1:
            raise ExecutionError(
                f"{instruction.mnemonic} takes {GROUP} lanes together, warps have {warp_width}",
                instruction.span,
                origin=instruction.origin,
            )


def execute_across_lanes(
    batch: Batch, view: LaneView, operation: WarpOperation, elsewhere: Iterable[Mask | None]
) -> None:
    """`elsewhere`: lanes that wait at other places; ExecutionError when one of them is a member."""
    chosen = slice(None) if view.lanes is None else view.lanes
    active = np.zeros(batch.lanes, np.bool_)
    active[chosen] = True
    if operation.opcode.is_whole:
        bits = np.uint64(1) << np.arange(batch.width, dtype=np.uint64)
        masks = np.where(active.reshape(-1, batch.width), bits, np.uint64(0))
        words = masks.sum(axis=1, dtype=np.uint64)[:, None]
        _write(batch, view, operation, np.broadcast_to(words, (len(words), batch.width)))
        return
    words = lane_words(active.reshape(-1, GROUP))
    participants = np.broadcast_to(words, (len(words), GROUP))
    if operation.members is not None:
        members = _rows(batch, view, operation.members, ScalarType.B32)
        _refuse_missing(
            batch, operation, np.where(active.reshape(-1, GROUP), members, 0), elsewhere
        )
        participants = participants & members
    _write(batch, view, operation, participants)


def _write(batch: Batch, view: LaneView, operation: WarpOperation, participants: Any) -> None:
    """The results; a row of `participants` is a group of lanes."""
    chosen = slice(None) if view.lanes is None else view.lanes
    width = participants.shape[1]
    types = operation.opcode.source_types(operation.type)
    sources = [
        _rows(batch, view, source, type_, width)
        for source, type_ in zip(operation.sources, types, strict=False)
    ]
    results = operation.opcode.compute(operation.type, participants, *sources)
    for register, value, type_ in zip(
        operation.destinations,
        results,
        operation.opcode.result_types(operation.type),
        strict=False,
    ):
        if register is not None:
            flat = np.broadcast_to(value, participants.shape).reshape(-1)[chosen]
            view.write(register, as_bits(flat, type_, register.bits))


def missing_members(operation: WarpOperation, thread: str) -> ExecutionError:
    """The error when a member of the mask waits where it will not come from in time."""
    return ExecutionError(
        f"{operation.mnemonic} waits for lanes of its mask that went another way",
        operation.span,
        thread,
        operation.origin,
    )


def _rows(
    batch: Batch, view: LaneView, operand: Operand, read_as: ScalarType, width: int = GROUP
) -> Any:
    """An operand as rows of groups; anything in lanes that are not active."""
    value = batch.operand(view, operand, read_as)
    everywhere = np.zeros(batch.lanes, read_as.dtype)
    everywhere[slice(None) if view.lanes is None else view.lanes] = value
    return everywhere.reshape(-1, width)


def _refuse_missing(
    batch: Batch,
    operation: WarpOperation,
    members: npt.NDArray[np.uint32],
    elsewhere: Iterable[Mask | None],
) -> None:
    waiting = np.zeros(batch.lanes, np.bool_)
    for mask in elsewhere:
        waiting |= True if mask is None else mask
    if not waiting.any():
        return
    missed = (members & lane_words(waiting.reshape(-1, GROUP))).reshape(-1) != 0
    if missed.any():
        raise missing_members(operation, batch.thread_name(int(np.argmax(missed))))
