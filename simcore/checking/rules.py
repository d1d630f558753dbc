"""What an instruction means to the order of memory, by its mnemonic (PTX ISA, Memory Consistency).

Of PTX the modifiers say it; atomics without any are relaxed, for the GPU. The same words occur in
machine code (`STRONG`, `SM`) and in names of OpenCL's functions. A volatile access is relaxed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernelcast.simcore.isa.ir.bulk_operations import BulkOperand
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierArrive,
    BarrierSync,
    BulkCopy,
    ClusterArrive,
    Fence,
    Instruction,
    Kernel,
    Load,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.ir.mbarrier_words import OPERATION as MBARRIER
from kernelcast.simcore.isa.ir.mbarrier_words import is_mbarrier_look

__all__ = ["Order", "is_copy", "is_warp_barrier", "order_of", "orders_memory"]

_PARTS = re.compile(r"[^A-Za-z0-9]+")
_ACQUIRES, _RELEASES = {"acquire", "acq_rel", "sc"}, {"release", "acq_rel", "sc"}
_NARROW = {"cta", "sm", "block"}
_FENCES = ("membar", "fence", "mem_fence", "threadfence")
_COPIES = ("cp.async", "LDGSTS")
_PROXY_FENCE = "fence.proxy.async"
_WAIT_GROUP = re.compile(r"[\w.:]*wait_group[\w.:]*\s+(\d+)")
_WARP_BARRIERS = ("bar.warp.sync", "WARPSYNC", "sub_group_barrier")


@dataclass(frozen=True, slots=True)
class Order:
    """Whether an access or fence acquires, releases, and holds in its thread block only.

    `is_strong`: accesses of the same place at once are no race.
    """

    is_strong: bool = False
    acquires: bool = False
    releases: bool = False
    is_narrow: bool = False


def order_of(instruction: Instruction) -> Order:
    """What an access or a fence orders."""
    name = instruction.mnemonic
    parts = {part.lower() for part in _PARTS.split(name)} | set(name.lower().split("."))
    narrow = bool(parts & _NARROW)
    if isinstance(instruction, Fence):
        return Order(True, True, True, narrow)
    if isinstance(instruction, Atomic) and instruction.operation == MBARRIER:
        return Order(True, "expect_tx" not in name, True)
    if isinstance(instruction, Load) and is_mbarrier_look(instruction):
        return Order(True, True, False)
    is_strong = isinstance(instruction, Atomic) or getattr(instruction, "volatile", False)
    if name.startswith("mbarrier."):
        # libcu++ ends pipelines by a lane that has only voted with the others
        return Order(is_strong or name.startswith("mbarrier.inval"))
    acquires, releases = bool(parts & _ACQUIRES), bool(parts & _RELEASES)
    if isinstance(instruction, Load | Store) and not isinstance(instruction, Atomic):
        acquires, releases = acquires and isinstance(instruction, Load), releases
    return Order(is_strong, is_strong and acquires, is_strong and releases, is_strong and narrow)


def orders_memory(fence: Fence) -> bool:
    """Whether a fence orders accesses: hints, pauses and groups of copies do not."""
    return any(name in fence.mnemonic.lower() for name in _FENCES)


def is_copy(instruction: Instruction) -> bool:
    """Whether a load or store is half of an asynchronous copy."""
    return isinstance(instruction, Load | Store) and instruction.mnemonic.startswith(_COPIES)


def is_warp_barrier(instruction: Instruction) -> bool:
    """Whether lanes of a warp order their accesses by it."""
    named = any(name in instruction.mnemonic for name in _WARP_BARRIERS)
    return isinstance(instruction, WarpOperation | Fence) and named


def needs_clocks(kernel: Kernel) -> bool:
    """Whether accesses may order threads: fences do, and accesses that acquire or release."""
    return any(
        (isinstance(i, Fence) and orders_memory(i))
        or (isinstance(i, Atomic | Load | Store) and (order_of(i).acquires or order_of(i).releases))
        for i in kernel.instructions
    )


def has_parts_of_barriers(kernel: Kernel) -> bool:
    """Whether barriers may be for some of the threads of a thread block, or for a cluster."""
    return any(
        isinstance(i, BarrierArrive | ClusterArrive)
        or (isinstance(i, BarrierSync) and (i.is_counted or i.is_cluster))
        for i in kernel.instructions
    )


def follows_bulk(kernel: Kernel, cluster_size: int) -> bool:
    """Whether all copies in bulk of a kernel stay in the thread block that begins them."""
    copies = [i for i in kernel.instructions if isinstance(i, BulkCopy)]
    is_alone = all(BulkOperand.THREAD_BLOCKS not in i.operands for i in copies)
    return bool(copies) and cluster_size == 1 and is_alone


def writes_unseen(kernel: Kernel, cluster_size: int) -> bool:
    """Whether something writes shared memory without a record of an access."""
    has_unseen = not follows_bulk(kernel, cluster_size)
    return any(
        (isinstance(i, BulkCopy) and has_unseen) or "tcgen05" in i.mnemonic
        for i in kernel.instructions
    )


def is_proxy_fence(fence: Fence) -> bool:
    """Whether a fence lies between accesses of threads and those of copies."""
    return fence.mnemonic.startswith(_PROXY_FENCE)


def is_of_bulk(fence: Fence) -> bool:
    """Whether a fence closes a group of copies in bulk, waits for some, or is one of proxies."""
    return fence.mnemonic.startswith("cp.async.bulk") or is_proxy_fence(fence)


def bulk_groups_left(fence: Fence) -> int:
    """How many of the latest groups of copies in bulk a wait leaves; its source says it."""
    found = _WAIT_GROUP.match(fence.span.text[fence.span.column - 1 :])
    return int(found[1]) if found else 0
