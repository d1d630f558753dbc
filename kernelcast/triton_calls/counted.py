"""A quick prediction from counts alone: neither memory nor an SM is simulated.

Only what decides where threads go is executed, in a part of the programs. Bytes that instructions
ask for stand for the traffic of L2, those of the tensors bound that of DRAM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.instruction_counts import instruction_counts
from kernelcast.simcore.profile.occupancy import held_share, occupancy
from kernelcast.simcore.profile.profile import (
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
    SharedMemoryUse,
)
from kernelcast.traces.trace import Trace

__all__ = ["counted_profiles", "pessimistic_s"]

_SECTOR_BYTES = 32
_WAVEFRONT_BYTES = 128


def counted_profiles(
    run: Callable[..., KernelTrace], devices: Sequence[Device], tensor_bytes: int
) -> dict[str, KernelProfile]:
    """Profiles by device name of a launch that `run` makes, on tensors of so many bytes.

    LaunchError where thread blocks do not run apart from each other.
    """
    found = {}
    for device in devices:
        trace = run(
            devices=(),
            target=device,
            record_memory=False,
            record_paths=False,
            sampling=Sampling.ALWAYS,
        )
        found[device.name] = _profile(trace.data, device, tensor_bytes)
    return found


def pessimistic_s(profile: KernelProfile, device: Device, high_s: float) -> float:
    """The time as if nothing overlapped, `high_s`, on the SM that has the most thread blocks."""
    launch = profile.launch
    assert launch is not None, "a counted profile has one"
    sms = device.architecture.sm_count
    return high_s * -(-launch.thread_blocks // sms) * sms / launch.thread_blocks


def _profile(trace: Trace, device: Device, tensor_bytes: int) -> KernelProfile:
    launch = LaunchShape(trace.grid, trace.thread_block)
    asked = _asked_bytes(trace, "global")
    return KernelProfile(
        kernel=trace.kernel,
        device=device.name,
        origin="counts of a part of the thread blocks",
        instructions=instruction_counts(trace),
        traffic=MemoryTraffic(
            dram_read_transactions=min(asked, tensor_bytes) / _SECTOR_BYTES,
            dram_write_transactions=0.0,
            sector_bytes=_SECTOR_BYTES,
            l2_read_sectors=asked / _SECTOR_BYTES,
            l2_write_sectors=0.0,
        ),
        launch=launch,
        occupancy=occupancy(trace.resources, launch, device, held_share(trace)),
        shared=SharedMemoryUse(
            load_requests=0.0,
            load_wavefronts=_asked_bytes(trace, "shared") / _WAVEFRONT_BYTES,
            store_requests=0.0,
            store_wavefronts=0.0,
        ),
        code=trace.code,
    )


def _asked_bytes(trace: Trace, space: str) -> float:
    """Bytes that all lanes together access in a space."""
    classes = trace.classes
    members = np.bincount(classes.of_thread_block, minlength=len(classes.lane_executions))
    lanes = members @ classes.lane_executions
    return sum(
        float(lanes[row.pc]) * row.access_bytes for row in trace.instructions if row.space == space
    )
