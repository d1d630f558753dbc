"""One program: its memory, code, launches, streams and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelcast.program_capture.arena import Arena, CallError
from kernelcast.program_capture.code import ProgramCode
from kernelcast.program_capture.graphs import Graphs
from kernelcast.program_capture.launches import Estimated, Launches
from kernelcast.program_capture.opencl import OpenclPrograms
from kernelcast.program_capture.options import CaptureOptions, NextLaunch
from kernelcast.program_capture.protocol import Action, LaunchRequest, Status
from kernelcast.program_capture.timeline.span import SpanKind
from kernelcast.program_capture.timeline.timeline import DeviceTimeline, Work
from kernelcast.simcore.device.device import Device

__all__ = ["CopyRecord", "Failure", "LaunchRecord", "Session"]

_STAND_IN = "kernelcast_"
"""What the names of kernels in `client/kernels` begin with."""
_LAST_OF_ALWAYS = 2
_FIRST_OF_THREADS = 1 << 40
"""Default streams of threads have numbers from here on."""

Act = Callable[[Action, bytes], None]
"""Makes the program do something."""


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """One launch of the program."""

    kernel: str
    request: LaunchRequest
    parameters: bytes
    estimated: Estimated

    @property
    def is_stand_in(self) -> bool:
        """Whether the kernel is one of ours in place of a closed library's."""
        return self.kernel.startswith(_STAND_IN)


@dataclass(frozen=True, slots=True)
class CopyRecord:
    """One copy or fill; `bytes` that arrive."""

    kind: SpanKind
    bytes: int
    stream: int
    is_pinned: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed so that the results of the program cannot be believed."""

    what: str
    status: Status
    text: str


@dataclass
class Session:
    """The state that requests of one program read and change.

    `devices`: the first one is what the program sees. `act` makes the program do something.
    """

    devices: Sequence[Device]
    arena: Arena
    code: ProgramCode
    launches: Launches
    act: Act
    options: CaptureOptions
    timelines: tuple[DeviceTimeline, ...]
    program: str = ""
    process: int = 0
    graphs: Graphs = field(default_factory=Graphs)
    opencl: OpenclPrograms = field(default_factory=OpenclPrograms)
    launched: list[LaunchRecord] = field(default_factory=list)
    copied: list[CopyRecord] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    stale_reads: int = 0
    """Copies to the host that may have brought what skipped launches should have written."""
    streams: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Flags and priorities of the streams that the program made."""
    events: dict[int, int] = field(default_factory=dict)
    """Flags of events."""
    sticky: Status = Status.SUCCESS
    """A failure after which nothing works any more, as in CUDA."""
    pending: Status = Status.SUCCESS
    """A failure that the next synchronization tells."""
    numbers: int = 15
    """The last number that a stream, event or object got; 0 to 2 are streams that always are."""

    @classmethod
    def begin(
        cls,
        devices: Sequence[Device],
        folder: Path,
        options: CaptureOptions,
        act: Act,
    ) -> Session:
        """A session whose program has done nothing yet; its code is kept in `folder`."""
        first = devices[0]
        arena = Arena(int(first.dram.capacity_bytes), first.title, is_spacious=options.is_spacious)
        return cls(
            devices,
            arena,
            ProgramCode(folder, first, options.chosen_code, arena.memory, options.tell),
            Launches(devices, arena.memory, options),
            act,
            options,
            tuple(DeviceTimeline(device) for device in devices),
        )

    def number(self) -> int:
        """A number that nothing has yet."""
        self.numbers += 1
        return self.numbers

    def check_stream(self, stream: int) -> None:
        """Checks that there is a stream, of the program's own or always: else CallError."""
        is_always = stream <= _LAST_OF_ALWAYS or stream >= _FIRST_OF_THREADS
        if not is_always and stream not in self.streams:
            raise CallError(Status.INVALID_HANDLE, f"there is no stream {stream:#x}")

    def reset(self) -> None:
        """Frees what the program has, and lets it begin anew even after a failure."""
        for timeline in self.timelines:
            timeline.synchronize(None)
        self.arena.free_all()
        self.code.unload_variables()
        self.launches.objects.clear()
        self.streams, self.events = {}, {}
        self.sticky = self.pending = Status.SUCCESS

    def launch(
        self, request: LaunchRequest, parameters: bytes, *, is_in_graph: bool = False
    ) -> None:
        """Executes a launch and puts it into the time lines; CallError when it fails."""
        function = self.code.of_number(request.function)
        if self.options.before_launch is not None:
            self.options.before_launch(
                NextLaunch(
                    len(self.launched),
                    function,
                    request,
                    parameters,
                    self.launches.arguments(function, parameters),
                    self.arena.memory,
                    self.code.variables(function),
                )
            )
        try:
            estimated = self.launches.make(function, request, parameters)
        except CallError as error:
            self.fail(function.kernel.name, error)
            raise
        number = len(self.launched)
        self.options.step(number + 1, function.kernel.name)
        self.launched.append(LaunchRecord(function.kernel.name, request, parameters, estimated))
        costs = zip(self.timelines, estimated.seconds, estimated.shares, strict=True)
        for timeline, seconds, share in costs:
            timeline.add(
                Work(
                    SpanKind.KERNEL,
                    number,
                    request.stream,
                    seconds=seconds,
                    share=share,
                    is_in_graph=is_in_graph,
                )
            )

    def transfer(self, record: CopyRecord, *, is_async: bool, is_in_graph: bool = False) -> None:
        """Puts a copy or fill into the time lines."""
        number = len(self.copied)
        self.copied.append(record)
        if record.kind is SpanKind.TO_HOST and self.launches.skipped:
            self.stale_reads += 1
        work = Work(
            record.kind,
            number,
            record.stream,
            bytes=record.bytes,
            is_pinned=record.is_pinned,
            is_async=is_async,
            is_in_graph=is_in_graph,
        )
        for timeline in self.timelines:
            timeline.add(work)

    def fail(self, what: str, error: CallError) -> None:
        """Notes that a call failed; what the program computes from now on is wrong."""
        self.failures.append(Failure(what, error.status, str(error)))
        self.options.tell(f"error: {error}")
        if error.status is Status.INVALID_CONFIGURATION:
            self.pending = error.status
        else:
            self.sticky = error.status

    def end(self) -> None:
        """Gives the memory back."""
        self.arena.close()
