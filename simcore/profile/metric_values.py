"""How to read one metric from a KernelProfile; None where the profile does not know it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kernelcast.simcore.profile.machine_counts import MachineCounts
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    MemoryTraffic,
    SharedMemoryUse,
)

__all__ = [
    "Getter",
    "active_lanes",
    "active_lanes_percent",
    "bank_efficiency",
    "hit_rate",
    "instruction_count",
    "machine_count",
    "occupancy_percent",
    "registers",
    "shared_count",
    "shared_instructions",
    "shared_passes",
    "thread_instructions",
    "traffic_count",
    "traffic_transactions",
    "used_share",
    "warp_instructions",
    "without_atomics",
]

_TRANSACTION_BYTES = 32
_FEWEST_REGISTERS = 16.0
"""What ncu calls registers per thread of kernels that need fewer (measured on an H100)."""

Getter: TypeAlias = Callable[[KernelProfile], float | None]


def instruction_count(of: Callable[[InstructionCounts], float | None], kind: str = "") -> Getter:
    """A getter of a figure of the instruction counts.

    `kind`: that of thread instructions whose opcodes are known; machine code is counted by these.
    """

    def get(profile: KernelProfile) -> float | None:
        if profile.machine is not None and kind:
            return profile.machine.threads_by_kind[kind]
        return of(profile.instructions)

    return get


def warp_instructions(profile: KernelProfile) -> float | None:
    """Instructions of warps; those of machine code as a GPU issues them to groups of lanes."""
    if profile.machine is not None:
        return profile.machine.warp_instructions
    return profile.instructions.warp_instructions


def thread_instructions(profile: KernelProfile) -> float | None:
    """Instructions times threads; machine code counts threads kept from it by a predicate, too."""
    if profile.machine is not None:
        return profile.machine.thread_instructions
    return profile.instructions.thread_instructions


def traffic_count(of: Callable[[MemoryTraffic], float | None]) -> Getter:
    """A getter of a figure of the memory traffic."""
    return lambda profile: of(profile.traffic)


def traffic_transactions(of: Callable[[MemoryTraffic], float | None]) -> Getter:
    """A count of transactions in units of 32 bytes."""

    def get(profile: KernelProfile) -> float | None:
        count = of(profile.traffic)
        return None if count is None else count * profile.traffic.sector_bytes / _TRANSACTION_BYTES

    return get


def shared_count(of: Callable[[SharedMemoryUse], float | None]) -> Getter:
    """A getter of a figure of shared memory; None where the profile lacks it."""
    return lambda profile: of(profile.shared) if profile.shared else None


def shared_passes(of: Callable[[SharedMemoryUse], float]) -> Getter:
    """A getter of passes of loads or stores; machine code tells atomics from both."""

    def get(profile: KernelProfile) -> float | None:
        if profile.shared is None:
            return None
        atomics = 0.0 if profile.machine is None else profile.shared.atomic_wavefronts
        return of(profile.shared) - atomics

    return get


def shared_instructions(
    of: Callable[[SharedMemoryUse], float], of_machine: Callable[[MachineCounts], float]
) -> Getter:
    """A getter of loads or stores: of machine code all of that opcode, with and without lanes."""

    def get(profile: KernelProfile) -> float | None:
        if profile.machine is not None:
            return of_machine(profile.machine)
        return of(profile.shared) if profile.shared else None

    return get


def machine_count(of: Callable[[MachineCounts], float]) -> Getter:
    """A getter of a count of machine code; None where a source form was executed."""
    return lambda profile: None if profile.machine is None else of(profile.machine)


def _percent(part: float | None, whole: float | None) -> float | None:
    return 100.0 * part / whole if part is not None and whole else None


def without_atomics(of: Callable[[MemoryTraffic], float | None]) -> Getter:
    """Transactions of 32 bytes of reads or writes of the L2, its atomics left out."""
    both = traffic_transactions(of)
    atomics = traffic_transactions(lambda at: at.l2_atomic_sectors)

    def get(profile: KernelProfile) -> float | None:
        count = both(profile)
        return None if count is None else count - (atomics(profile) or 0.0)

    return get


def hit_rate(
    hits: Callable[[MemoryTraffic], float | None], reads: Callable[[MemoryTraffic], float | None]
) -> Getter:
    """A getter of a hit rate in percent."""
    return lambda profile: _percent(hits(profile.traffic), reads(profile.traffic))


def used_share(
    requested_bytes: Callable[[MemoryTraffic], float | None],
    sectors: Callable[[MemoryTraffic], float | None],
) -> Getter:
    """Bytes that threads asked for as a share of the bytes of the sectors."""

    def get(profile: KernelProfile) -> float | None:
        moved = sectors(profile.traffic)
        return _percent(
            requested_bytes(profile.traffic), moved and moved * profile.traffic.sector_bytes
        )

    return get


def bank_efficiency(profile: KernelProfile) -> float | None:
    """Shared-memory wavefronts without conflicts per wavefront taken, in percent."""
    if profile.shared is None:
        return None
    taken = profile.shared.load_wavefronts + profile.shared.store_wavefronts
    return _percent(profile.shared.ideal_wavefronts, taken)


def active_lanes_percent(profile: KernelProfile) -> float | None:
    """Active lanes of a warp instruction in percent of the warp."""
    return None if profile.divergence is None else 100.0 * profile.divergence


def active_lanes(profile: KernelProfile) -> float | None:
    """Mean active lanes of a warp instruction."""
    if profile.machine is not None:
        return profile.machine.active_lanes
    return None if profile.divergence is None else profile.divergence * profile.warp_width


def occupancy_percent(profile: KernelProfile) -> float | None:
    """Theoretical occupancy in percent."""
    return 100.0 * profile.occupancy.fraction if profile.occupancy else None


def registers(profile: KernelProfile) -> float | None:
    """Registers per thread; of machine code those that a launch has, which are 16 at least."""
    if profile.occupancy is None:
        return None
    known = float(profile.occupancy.registers_per_thread)
    return known if profile.machine is None else max(known, _FEWEST_REGISTERS)
