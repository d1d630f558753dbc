"""Registers per thread: the user's count, or what a compiler for the device would settle on."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.errors import LaunchError
from kernelcast.simcore.device.device import Device
from kernelcast.traces.trace import ResourceNeeds

__all__ = ["RegisterCount", "registers_per_thread", "warps_that_fit"]


_STEP = 8
"""Registers are given to warps in units of 256."""


@dataclass(frozen=True, slots=True)
class RegisterCount:
    """Registers per thread; `assumed` when nobody compiled the kernel for the device."""

    per_thread: int
    assumed: bool


def registers_per_thread(
    needs: ResourceNeeds, warps_per_thread_block: int, device: Device
) -> RegisterCount:
    """The user's count as it is, else what a compiler took for the device's architecture.

    Where none did, the live registers within the limits of a compiler.

    A compiler spills rather than exceed the device's limit a thread, `.maxnreg`, or what lets one
    thread block fit the register file. Only a count from the user can therefore be too large:
    LaunchError, naming the limit.
    """
    if needs.registers is not None:
        _check_given(needs.registers, warps_per_thread_block, device)
        return RegisterCount(needs.registers, assumed=False)
    compiled = dict(needs.compiled_registers).get(device.architecture.compute_capability)
    if compiled is not None:
        return RegisterCount(max(1, compiled), assumed=False)
    limits = [
        device.sm.max_registers_per_thread,
        _most_that_fit(warps_per_thread_block, device),
        *(limit for limit in (needs.max_registers,) if limit),
    ]
    return RegisterCount(max(1, min(_wanted(needs, device), *limits)), assumed=True)


def _wanted(needs: ResourceNeeds, device: Device) -> int:
    """What a compiler takes without a limit.

    It spends registers on early loads as long as they leave all warps of the device their place.
    """
    if needs.fewest_registers is None:
        return needs.live_registers
    sm = device.sm
    of_a_warp = _round_down(sm.registers // sm.max_warps, sm.register_allocation_unit)
    spare = of_a_warp // device.architecture.warp_width
    if needs.fewest_registers > spare:
        spare = _round_up(needs.fewest_registers, _STEP)
    return max(needs.fewest_registers, min(needs.live_registers, spare))


def warps_that_fit(registers: int, warps_per_thread_block: int, device: Device) -> int:
    """Warps whose registers one SM holds, whole thread blocks of them.

    Registers are allocated in units, by warp or by thread block; warps share the register files of
    the schedulers evenly (NVIDIA CUDA Occupancy Calculator).
    """
    sm, width = device.sm, device.architecture.warp_width
    if sm.register_allocation_per == "warp":
        each = _round_up(registers * width, sm.register_allocation_unit)
        warps = _round_down(sm.registers // each, sm.warp_allocation_granularity)
        return _round_down(warps, warps_per_thread_block)
    warps = _round_up(warps_per_thread_block, sm.warp_allocation_granularity)
    each = _round_up(registers * width * warps, sm.register_allocation_unit)
    return sm.registers // each * warps_per_thread_block


def _most_that_fit(warps_per_thread_block: int, device: Device) -> int:
    """The largest count with which one thread block fits; 0 when none does."""
    for registers in range(device.sm.max_registers_per_thread, 0, -1):
        if warps_that_fit(registers, warps_per_thread_block, device):
            return registers
    return 0


def _check_given(registers: int, warps_per_thread_block: int, device: Device) -> None:
    sm = device.sm
    if not 1 <= registers <= sm.max_registers_per_thread:
        raise LaunchError(
            f"{registers} registers per thread: {device.title} allows 1 to "
            f"{sm.max_registers_per_thread}"
        )
    if not warps_that_fit(registers, warps_per_thread_block, device):
        raise LaunchError(
            f"{registers} registers per thread and {warps_per_thread_block} warps per thread block "
            f"exceed the {sm.registers} registers of an SM of {device.title}"
        )


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _round_down(value: int, unit: int) -> int:
    return value // unit * unit
