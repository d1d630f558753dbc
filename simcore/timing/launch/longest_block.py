"""The thread block that goes on when the others are done, where one issues much more than they do.

It begins when its turn comes and has an SM for itself: what waits for one chain of loads is hardly
slowed by neighbours. L2 and DRAM it shares with all SMs while these are busy.
"""

from __future__ import annotations

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.relieved_kernel import relieved_kernel
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
from kernelcast.simcore.timing.launch.sm_simulator import SmSimulator
from kernelcast.simcore.timing.walk.kernel_arrays import kernel_arrays
from kernelcast.simcore.timing.walk.sm_machine import sm_machine

__all__ = ["end_of_longest"]


def end_of_longest(
    kernel: TimedKernel, device: Device, without: frozenset[Component], others_end: float
) -> float:
    """When the longest thread block ends, in cycles of the launch; 0 where none is known.

    `others_end`: when the SMs would be done without it. What was recorded of it stands for all of
    it (`path_share`).
    """
    if kernel.longest is None or Component.IMBALANCE in without:
        return 0.0
    longest = relieved_kernel(kernel.longest, device, without)
    sms = device.architecture.sm_count
    number = int(longest.paths.thread_blocks[-1])
    waiting = max(0, number + 1 - sms * kernel.thread_blocks_per_sm)
    begins = others_end * waiting / kernel.thread_blocks
    busy = min(sms, kernel.thread_blocks)
    arrays = kernel_arrays(longest, device, without)
    simulator = SmSimulator(arrays, sm_machine(longest, device, busy, without), 1, 1, False)
    simulator.run(before_cycle=(others_end - begins) * longest.path_share)
    simulator.machine = sm_machine(longest, device, 1, without)
    return begins + simulator.finish().cycles / longest.path_share
