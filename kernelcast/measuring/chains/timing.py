"""Runs the chains on a device, and tells cycles per step and the machine code that took them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np

from kernelcast.errors import KernelcastError
from kernelcast.measuring.accelerator import (
    Accelerator,
    Array,
    DeviceBuffer,
    DeviceLaunch,
    DeviceLost,
    MeasuringError,
)
from kernelcast.measuring.chains.machine import chain_machine
from kernelcast.measuring.chains.operations import CHAINS, LENGTHS, Chain
from kernelcast.measuring.chains.ptx import MEMORY_BYTES, chain_kernel, chain_ptx
from kernelcast.measuring.machine_code import LoadedCode, assembled_code
from kernelcast.validation.latency_chains import (
    ChainLine,
    ChainMachine,
    ChainPoint,
    FailedChain,
    MeasuredChain,
    MeasuredLatencies,
)
from kernelcast.validation.measured_times import DRIVER_CODE

__all__ = ["ROUNDS", "measure_chain", "measure_latencies"]

ROUNDS = 16
"""Times that each chain is executed in a launch; the first find neither code nor data in caches."""
_WARP = (32, 1, 1)
_ONE = (1, 1, 1)


def measure_latencies(device: Accelerator, chains: Sequence[Chain] = CHAINS) -> MeasuredLatencies:
    """All chains, one by one; what fails is told by name. DeviceLost when the device is."""
    found: list[MeasuredChain] = []
    failures: list[FailedChain] = []
    remarks: dict[str, None] = {}
    for chain in chains:
        try:
            measured, remark = measure_chain(device, chain)
        except DeviceLost:
            raise
        except KernelcastError as error:
            failures.append(FailedChain(chain.name, str(error).splitlines()[0]))
            continue
        found.append(measured)
        if remark:
            remarks[remark] = None
    return MeasuredLatencies(tuple(found), tuple(failures), tuple(remarks))


def measure_chain(device: Accelerator, chain: Chain) -> tuple[MeasuredChain, str]:
    """One chain, and why its machine code is not known, or nothing."""
    text = chain_ptx(chain)
    loaded, remark = _loaded(device, text, chain.name)
    points = tuple(
        ChainPoint(length, _fewest_cycles(device, loaded.content, chain, length))
        for length in LENGTHS
    )
    machine, why = _machine(text, loaded)
    return MeasuredChain(chain.name, points, ChainLine.through(points), machine), why or remark


def _loaded(device: Accelerator, text: str, name: str) -> tuple[LoadedCode, str]:
    """Machine code that is assembled here is known; what the driver makes of PTX is not."""
    if device.is_dry_run:
        return LoadedCode(text.encode(), DRIVER_CODE), ""
    loaded, why = assembled_code(text, name, device.facts)
    return loaded, f"loaded as PTX: {why}" if why else ""


def _machine(text: str, loaded: LoadedCode) -> tuple[ChainMachine | None, str]:
    if loaded.code == DRIVER_CODE:
        return None, ""
    try:
        return chain_machine(text, loaded.content, loaded.code, is_loaded=True), ""
    except KernelcastError as error:
        return None, f"machine code was not read: {str(error).splitlines()[0]}"


def _fewest_cycles(device: Accelerator, source: bytes, chain: Chain, length: int) -> int:
    """Launches one warp; MeasuringError when the clock stood still."""
    cycles = np.zeros(ROUNDS, np.int64)
    memory = np.zeros(MEMORY_BYTES, np.uint8)
    values = np.frombuffer(chain.values, np.uint8)
    memory[: values.size] = values
    with ExitStack() as stack:
        kernel = device.build(source, chain_kernel(length))
        stack.callback(device.discard, kernel)
        buffers = [stack.enter_context(_placed(device, array)) for array in (cycles, memory)]
        rounds = ROUNDS.to_bytes(4, "little")
        device.time(DeviceLaunch(kernel, _ONE, _WARP, 0, (*buffers, rounds)))
        device.download(buffers[0], cycles)
    fewest = int(cycles.min())
    if fewest <= 0 and not device.is_dry_run:
        raise MeasuringError(f"{length} steps took {fewest} cycles")
    return fewest


@contextmanager
def _placed(device: Accelerator, array: Array) -> Iterator[DeviceBuffer]:
    buffer = device.allocate(array.nbytes)
    try:
        device.upload(buffer, array)
        yield buffer
    finally:
        device.free(buffer)
