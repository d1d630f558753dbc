"""Calls of the runtime library in the reference engine."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.lanes import LaneView
from kernelcast.simcore.engine.rules.host_functions import Caller, HostFunctions
from kernelcast.simcore.isa.ir.kernel import HostCall

__all__ = ["call_host"]


def call_host(host: HostFunctions, batch: Batch, view: LaneView, call: HostCall) -> None:
    """All lanes of the view, one after the other."""
    lanes = np.arange(batch.lanes) if view.lanes is None else view.lanes
    columns = [
        np.broadcast_to(batch.operand(view, source, type_), (view.count,)).tolist()
        for source, type_ in zip(call.sources, call.types, strict=True)
    ]
    results = [
        host.call(call, [column[position] for column in columns], _caller(batch, lane))
        for position, lane in enumerate(lanes.tolist())
    ]
    if call.destination is not None:
        kind = np.dtype(f"u{call.destination.bits // 8}")
        view.write(call.destination, np.array(results, np.uint64).astype(kind))


def _caller(batch: Batch, lane: int) -> Caller:
    block, thread = divmod(lane, batch.shape.lanes)
    shared, local = batch.shared, batch.local
    return Caller(
        int(batch.thread_blocks[block]),
        int(batch.counts.stage[block]),
        thread // batch.width,
        batch.thread_name(lane),
        shared.bytes[block * shared.stride : block * shared.stride + shared.size],
        local.bytes[lane * local.stride : lane * local.stride + local.size],
    )
