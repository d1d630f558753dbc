"""How a program is captured, or a recording answered again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.execution.code import Code, code_named
from kernelcast.program_capture.code import Function
from kernelcast.program_capture.protocol import LaunchRequest
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.launch import Argument, Limits

__all__ = ["CaptureOptions", "NextLaunch"]

_NO_LIMITS = Limits(seconds=None, instructions_per_warp=None)


@dataclass(frozen=True, slots=True)
class NextLaunch:
    """A launch that is about to be made: launch `number` of the program, from 0 on.

    `arguments`: what `parameters` hold; `variables`: those of the function's module that are in
    `memory` by now.
    """

    number: int
    function: Function
    request: LaunchRequest
    parameters: bytes
    arguments: Sequence[Argument]
    memory: DeviceMemory
    variables: Mapping[str, Allocation]


@dataclass(frozen=True, kw_only=True)
class CaptureOptions:
    """How a program is captured.

    `is_host_timed`: the host's own time counts. `is_clock_predicted`: clocks that the program reads
    tell the time on the first device. `every`: no launch stands for another. `is_fast`: repeats
    whose time is known are not executed, so that results are wrong from then on. `limits` are
    those of each launch, by default none. `recording`: the file of a recording to write. `tell`
    gets lines for people, `step` the number of launches that were made and the last one's kernel.
    `is_quiet`: the program's standard output goes to standard error. Of `explained_kernels`
    kernels, those that take most of the time, the longest launch's profiles are kept for
    `write_program_report`.
    `is_quiet`: the program's standard output goes to standard error. `is_spacious`: allocations are
    far apart, and what was freed is not given again.
    """

    code: Code | str | None = None
    is_host_timed: bool = False
    is_clock_predicted: bool = False
    every: bool = False
    is_fast: bool = False
    is_quiet: bool = False
    explained_kernels: int = 0
    is_spacious: bool = False
    limits: Limits = _NO_LIMITS
    recording: Path | None = None
    tell: Callable[[str], None] = print
    step: Callable[[int, str], None] = lambda _number, _kernel: None
    before_launch: Callable[[NextLaunch], None] | None = None

    @property
    def chosen_code(self) -> Code:
        """The code that is executed; KernelcastError for a name that is none."""
        return code_named(self.code)
