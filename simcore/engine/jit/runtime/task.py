"""What all workers of one launch share."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts
from kernelcast.simcore.engine.jit.runtime.generated_code import GeneratedCode
from kernelcast.simcore.engine.rules.host_functions import HostFunctions
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.launch_memory import LaunchMemory

__all__ = ["Task"]


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
