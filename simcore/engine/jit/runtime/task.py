"""What all workers of one launch share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts
from kernelcast.simcore.engine.jit.runtime.generated_code import GeneratedCode
from kernelcast.simcore.engine.rules.host_functions import HostFunctions
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.launch_memory import LaunchMemory

__all__ = ["Task", "Watcher"]


@dataclass(frozen=True, slots=True)
class Watcher:
    """Who follows all accesses of a launch, whose thread blocks then run on one thread.

    `new_log`: makes what a worker hands its records to, as it would to an AccessLog;
    `warp_order`: int64, the warps of each thread block in the order in which they take turns.
    """

    new_log: Callable[[Task], Any]
    warp_order: npt.NDArray[np.int64]

    @property
    def order_address(self) -> int:
        """Where the host keeps the order."""
        return self.warp_order.ctypes.data


@dataclass(frozen=True, slots=True)
class Task:
    """A launch with its memory, the code that was made for it, and what ends it."""

    kernel: Kernel
    launch: Launch
    memory: LaunchMemory
    facts: LaunchFacts
    source: GeneratedCode
    limits: Limits
    host: HostFunctions
    watcher: Watcher | None = None
