"""A launch that is ready to run any number of times: its memory, its code and its workers."""

from __future__ import annotations

import threading
import time
from functools import partial

from kernelcast.simcore.engine.jit.runtime.bulk_copy_calls import reduces_in_buffers
from kernelcast.simcore.engine.jit.runtime.dealt_grid import DealtGrid, Hand
from kernelcast.simcore.engine.jit.runtime.job import Job
from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch
from kernelcast.simcore.engine.jit.runtime.stack_threads import Errand, start_threads
from kernelcast.simcore.engine.jit.runtime.task import Task
from kernelcast.simcore.engine.jit.runtime.tensor_memory_calls import uses_tensor_memory
from kernelcast.simcore.engine.rules.host_functions import PrintedText
from kernelcast.simcore.host.deadline import Deadline, deadline_in
from kernelcast.simcore.host.processors import processors
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import HostCall, Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.parameter_block import replaceable_ranges

__all__ = ["ReadyLaunch"]

_ALONE_S = 2e-4
"""A run that lasts longer gets more threads than the one that launches."""
_POLL_S = 0.05
_MOST_STACK_BYTES = 1 << 18
"""What compiled code may take of the stack of the calling thread."""


class ReadyLaunch:
    """One launch of a kernel, made once and run often; nothing is recorded.

    Short runs stay on the calling thread. Raises LaunchError when the launch does not fit the
    kernel.
    """

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        warp_width: int,
        limits: Limits,
        printed: PrintedText,
    ) -> None:
        launch.check(kernel)
        self._kernel, self._launch = kernel, launch
        compiled = CompiledLaunch(kernel, launch, warp_width)
        self._memory = compiled.memory
        self._limits = limits
        self._task, self._code = compiled.task(limits, printed=printed)
        self._seen = self._memory.globals.changes
        self._takes_turns = _takes_turns(self._task)
        self._may_stay = not _calls_host(kernel) and self._code.stack_bytes <= _MOST_STACK_BYTES
        self._ranges = replaceable_ranges(kernel, launch)
        self._constants = _constants(self._task)
        self._is_as_given = True
        self._hands: list[Hand] = []
        self._own_hand: Hand | None = None
        self._piece = 1
        self._is_long = False

    @property
    def is_current(self) -> bool:
        """Whether the allocations are those that it was made for."""
        return self._memory.globals.changes == self._seen

    def takes(self, block: bytes) -> bool:
        """Whether the code serves a block of parameters, which later runs have then."""
        if any(block[first:end] != content for first, end, content in self._constants):
            return False
        if not self._memory.take(block, self._ranges):
            return False
        self._is_as_given = False
        return True

    def look_again(self) -> bool:
        """Finds allocations that have come or gone; whether the code still serves.

        LaunchError when an argument is gone.
        """
        if self._is_as_given:
            self._launch.check(self._kernel)
        if not self._memory.look_again():
            return False
        for hand in self._all_hands():
            hand.worker.look_again()
        self._seen = self._memory.globals.changes
        return True

    def run(self) -> None:
        """Executes all thread blocks; ExecutionError when the kernel fails."""
        self._memory.begin_again()
        began = time.monotonic()
        if self._takes_turns:
            Job(self._task, ()).run(self._code, None)
        else:
            self._run(deadline_in(self._limits.seconds), began)
        self._code.ran(time.monotonic() - began)
        self._code.improve(0.0)

    def _run(self, deadline: Deadline | None, began: float) -> None:
        grid = DealtGrid(self._launch.thread_blocks, self._piece)
        errands: list[Errand] = []
        stays = self._may_stay and _has_room()
        try:
            if self._is_long or not stays:
                self._start(grid, errands, others=not stays)
            if stays:
                self._work_here(grid, errands, deadline, began)
            self._wait(grid, errands, deadline, began)
            self._piece = grid.size
            self._check(grid, deadline)
        except BaseException:
            grid.stop()
            self._stop()
            self._hands, self._own_hand = [], None  # whatever comes, nobody uses them again
            for errand in errands:
                errand.join()
            raise
        self._is_long = time.monotonic() - began > _ALONE_S

    def _work_here(
        self, grid: DealtGrid, errands: list[Errand], deadline: Deadline | None, began: float
    ) -> None:
        """Works on the calling thread; calls others when that takes long."""
        if self._own_hand is None:
            self._own_hand = Hand(self._task, looks_up=True)
        hand = self._own_hand
        assert hand.lookout is not None
        hand.worker.begin()
        hand.lookout.begin(deadline)
        try:
            while grid.work(hand, self._code.entry):
                if not errands and grid.left and time.monotonic() - began > _ALONE_S:
                    self._start(grid, errands, others=False)
                if deadline is not None and deadline.has_passed:
                    grid.stop()
        finally:
            hand.lookout.end()

    def _start(self, grid: DealtGrid, errands: list[Errand], *, others: bool) -> None:
        """Lets threads of the pool work; `others`: in place of the calling thread."""
        own = 0 if others else 1
        count = min(processors(), grid.left) - own
        while len(self._hands) < count:
            self._hands.append(Hand(self._task, looks_up=False))
        hands = self._hands[:count]
        grid.is_shared = True
        for hand in hands:
            hand.worker.begin()
        work = [partial(self._work_there, grid, hand) for hand in hands]
        start_threads(work, self._code.stack_bytes, errands)

    def _work_there(self, grid: DealtGrid, hand: Hand) -> None:
        try:
            while grid.work(hand, self._code.entry):
                pass
        except BaseException as problem:  # carried to the thread that waits
            grid.broken = problem

    def _wait(
        self, grid: DealtGrid, errands: list[Errand], deadline: Deadline | None, began: float
    ) -> None:
        """Waits so that Ctrl-C and the time limit come through."""
        for errand in errands:
            while errand.is_alive():
                errand.join(_POLL_S if deadline is None else min(_POLL_S, deadline.remaining_s))
                if deadline is not None and deadline.has_passed:
                    grid.stop()
                    self._stop()
                    errand.join(_POLL_S)
                self._code.improve(time.monotonic() - began)

    def _stop(self) -> None:
        for hand in self._all_hands():
            hand.stop()

    def _all_hands(self) -> list[Hand]:
        return self._hands if self._own_hand is None else [*self._hands, self._own_hand]

    def _check(self, grid: DealtGrid, deadline: Deadline | None) -> None:
        """Raises what went wrong, that of the first thread block where several did."""
        if grid.broken is not None:
            raise grid.broken
        passed = deadline if deadline is not None and deadline.has_passed else None
        if grid.faults:
            self._memory.name_arguments()
            first = min(grid.faults, key=lambda fault: fault.thread_block)
            raise first.error(self._limits, passed)
        if grid.is_cut:
            assert passed is not None
            raise passed.error("running")


def _has_room() -> bool:
    """Whether the stack of the calling thread is one of the usual size, as far as is known."""
    return not threading.stack_size() or threading.current_thread() is threading.main_thread()


def _takes_turns(task: Task) -> bool:
    """Whether thread blocks wait for each other, or do in Python what others must not disturb."""
    if task.facts.cluster is not None or task.source.layout.yield_state is not None:
        return True
    return reduces_in_buffers(task.kernel) or uses_tensor_memory(task.kernel)


def _constants(task: Task) -> list[tuple[int, int, bytes]]:
    """The bytes [first, end) of parameters that code has as constants, and what they are."""
    return [
        (offset, offset + size, value.to_bytes(size, "little"))
        for offset, size, value in task.facts.integers
        if offset in task.facts.numbers
    ]


@once_per_kernel
def _calls_host(kernel: Kernel) -> bool:
    """Whether compiled code calls Python, which only takes signals on the main thread."""
    return any(isinstance(instruction, HostCall) for instruction in kernel.instructions)
