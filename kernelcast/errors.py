"""Everything that a user of kernelcast can cause to go wrong, as one tree.

* KernelcastError                     one clear message; the command line prints it and exits with 2
  x SourceError                       has a place: file:line:column, the line and a caret
    + PtxSyntaxError                  the text is not PTX, or ends too early
    + IrSyntaxError                   the text or bitcode is not LLVM IR
    + SpirvError                      the file is no module of SPIR-V; names the byte
    + UnsupportedInstruction          an opcode or modifier that kernelcast does not execute
    + ExecutionError                  the kernel went wrong while it ran
      - MemoryAccessError             outside of every buffer, or misaligned
      - BarrierError                  threads of one thread block can never meet
      - LimitExceeded                 instruction or time limit: most often an endless loop
      - AssertionTriggered            the kernel executed `trap` or failed an assertion
    + CompilationError                CUDA C++, Triton or Numba code that its compiler refuses
  x InputError                        a source that no PTX can be had from, or no compiler for it
  x LaunchError                       grid, thread block, shared memory or arguments do not fit
    + UnfitDevice                     not one of the devices of a run
  x DeviceMemoryError                 device memory is full, or an address is not of an allocation
  x WorkloadError                     a workload file that cannot be used
  x MetricsError                      a profiler file that cannot be used
  x DeviceFileError                   a device file that cannot be used
    + UnknownDevice                   no such device; lists the nearest names
  x BenchmarkError                    an OpenCL device that is not there or cannot be measured
  x TraceFormatError                  a trace file that cannot be used
  x ModelNotApplicable                the model says why it has nothing to say
    + UnknownModel                    no such model; lists the nearest names

Anything else that escapes is a defect of kernelcast and keeps its traceback. ElementWarning is a
warning: the launch runs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LONGEST_MESSAGE = 1000
_SHOWN_OF_A_LINE = 160
"""Characters: a file may be one line of a hundred megabytes, and a name as long."""


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A stretch of one line of a source text; `line` and `column` count from 1."""

    file: str
    line: int
    column: int = 1
    length: int = 1
    text: str = ""

    @property
    def place(self) -> str:
        """The place as `file:line:column`."""
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def _is_long(self) -> bool:
        return len(self.text) > _SHOWN_OF_A_LINE

    def show(self) -> str:
        """The source line with a caret under the span; empty when the text is not at hand.

        Of a long line only the part around the span is shown.
        """
        if not self.text:
            return ""
        first = max(0, self.column - _SHOWN_OF_A_LINE // 2) if self._is_long else 0
        line = self.text[first : first + _SHOWN_OF_A_LINE].expandtabs(1)
        column = self.column - first
        caret = " " * (column - 1) + "^" * max(1, min(self.length, len(line) - column + 1))
        return f"{self.line:>6} | {line}\n       | {caret}"


class KernelcastError(Exception):
    """Base of all errors that kernelcast raises on purpose.

    `message` is one line, shortened if need be; `str()` adds what is known about the place.
    """

    def __init__(self, message: str) -> None:
        if len(message) > _LONGEST_MESSAGE:
            half = _LONGEST_MESSAGE // 2
            message = f"{message[:half]} ... {message[-half:]}"
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class SourceError(KernelcastError):
    """An error with a place in a source text."""

    def __init__(self, message: str, span: SourceSpan | None = None) -> None:
        super().__init__(message)
        self.span = span

    def __str__(self) -> str:
        if self.span is None:
            return self.message
        shown = self.span.show()
        return f"{self.span.place}: {self.message}" + (f"\n{shown}" if shown else "")


class PtxSyntaxError(SourceError):
    """The text is not PTX."""


class IrSyntaxError(SourceError):
    """The file is no LLVM IR, or IR that LLVM cannot read any more."""


class SpirvError(SourceError):
    """The file is no module of SPIR-V, or a malformed one; the message names the byte."""


class UnsupportedInstruction(SourceError):
    """An opcode, modifier or feature that kernelcast does not execute."""


class ExecutionError(SourceError):
    """The kernel failed while it ran.

    `thread` names the first failing thread and `origin` the place in the source that the span was
    compiled from, when they are known.
    """

    def __init__(
        self,
        message: str,
        span: SourceSpan | None = None,
        thread: str | None = None,
        origin: SourceSpan | None = None,
    ) -> None:
        place = f"compiled from {origin.file}:{origin.line}" if origin else None
        super().__init__(", ".join(part for part in (message, thread, place) if part), span)
        self.thread = thread
        self.origin = origin


class MemoryAccessError(ExecutionError):
    """An access outside of every buffer, or at an address that its size does not divide."""


class BarrierError(ExecutionError):
    """Threads of one thread block wait for each other for ever."""


class LimitExceeded(ExecutionError):
    """The instruction or time limit ended the run."""


class AssertionTriggered(ExecutionError):
    """The kernel stopped itself with `trap`."""


class CompilationError(SourceError):
    """The compiler of a source language refused it: its first error, with the place."""


class InputError(KernelcastError):
    """A file that holds no PTX, or a compiler or decoder that is not installed."""


class LaunchError(KernelcastError):
    """Grid, thread block, shared memory or arguments that the kernel or the device cannot take."""


class ElementWarning(UserWarning):
    """An array is most likely not of the elements that a kernel's pointer is for."""


class UnfitDevice(LaunchError):
    """A thread block does not fit an SM of some of the devices that a run is for.

    `reasons`: (device, why) of each; the message is the first one's.
    """

    def __init__(self, reasons: Sequence[tuple[object, str]]) -> None:
        super().__init__(reasons[0][1])
        self.reasons = tuple(reasons)

    def __reduce__(self) -> tuple[type[UnfitDevice], tuple[object]]:
        """A process may hand it to another one."""
        return UnfitDevice, (self.reasons,)


class DeviceMemoryError(KernelcastError):
    """Device memory that is full, or an address that is not that of an allocation."""


class WorkloadError(KernelcastError):
    """A workload file that cannot be used; the message names the file and the key."""


class MetricsError(KernelcastError):
    """A profiler's file that cannot be used; the message names the file and the line or metric."""


class DeviceFileError(KernelcastError):
    """A device file that cannot be used; the message names the file and the key."""


class UnknownDevice(DeviceFileError):
    """No device of that name."""


class BenchmarkError(KernelcastError):
    """No OpenCL device, a kernel that its driver refuses, or one that computes a wrong result."""


class TraceFormatError(KernelcastError):
    """A trace file that cannot be used."""


class ModelNotApplicable(KernelcastError):
    """The model cannot say anything about this kernel on this device, and says why."""


class UnknownModel(ModelNotApplicable):
    """No model of that name."""


def nearest(name: str, known: Iterable[str], count: int = 3) -> str:
    """Half a sentence with the known names near to `name`: ` (did you mean ...?)`.

    Near are those that begin with it, too; empty without any.
    """
    names = list(known)
    longer = [item for item in names if name and item.startswith(name)]
    similar = difflib.get_close_matches(name, names, n=count, cutoff=0.5)
    matches = list(dict.fromkeys([*longer, *similar]))[:count]
    return f" (did you mean {', '.join(matches)}?)" if matches else ""
