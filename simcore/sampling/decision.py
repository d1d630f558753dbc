"""Which launches may be sampled, and which are large enough for it."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.analysis.slices import Slice, address_slice, control_slice
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.sampling.pilot import access_pcs
from kernelcast.traces.trace import Trace

__all__ = [
    "Work",
    "cannot_be_large",
    "has_loops",
    "most_work",
    "why_not_sampled",
    "work_of",
]

_MANY_THREADS = 10**8
_MANY_ACCESSES = 10**7
_MANY_INSTRUCTIONS = 5 * 10**8
"""More than that takes more than a few seconds to execute, or to simulate the memory of."""
_COUNTED_INSTRUCTIONS = 2 * 10**9
_COUNTED_THREAD_BLOCKS = 1 << 20
"""More than that takes longer to count, even without data."""
_MOST_COUNTED = 4096
_FEWEST_COUNTED = 512
_INSTRUCTIONS_PER_S, _ACCESSES_PER_S = 3e8, 4e6
_LONG_WARP = 1 << 16
"""Accesses of a warp that runs longer than most."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a launch does in all: warp instructions, and accesses of warps to memory."""

    threads: float
    instructions: float
    accesses: float
    thread_blocks: int

    @property
    def is_large(self) -> bool:
        """Whether a sample is worth its error."""
        return (
            self.threads >= _MANY_THREADS
            or self.accesses >= _MANY_ACCESSES
            or self.instructions >= _MANY_INSTRUCTIONS
        )

    @property
    def expected_s(self) -> float:
        """Seconds that executing it takes, with its memory, on two cores."""
        return self.instructions / _INSTRUCTIONS_PER_S + self.accesses / _ACCESSES_PER_S

    @property
    def counting_takes_long(self) -> bool:
        """Whether not all thread blocks are to be counted."""
        return (
            self.instructions > _COUNTED_INSTRUCTIONS or self.thread_blocks > _COUNTED_THREAD_BLOCKS
        )

    @property
    def thread_blocks_counted(self) -> int:
        """How many are worth counting then."""
        share = _COUNTED_INSTRUCTIONS / max(1.0, self.instructions)
        return int(min(_MOST_COUNTED, max(_FEWEST_COUNTED, share * self.thread_blocks)))


def work_of(trace: Trace) -> Work:
    """The work of a launch, from how often its instructions are issued."""
    issues, _ = trace.classes.totals()
    return Work(
        float(trace.thread_blocks * trace.threads_per_thread_block),
        float(issues.sum()),
        float(issues[access_pcs(trace.instructions)].sum()),
        trace.thread_blocks,
    )


def most_work(kernel: Kernel, thread_blocks: int, threads: int, width: int) -> Work:
    """The most that a launch of a kernel without loops can do, `threads` in a thread block."""
    warps = thread_blocks * -(-threads // width)
    accesses = len(access_pcs(instruction_rows(kernel)))
    instructions = warps * len(kernel.instructions)
    return Work(thread_blocks * threads, instructions, warps * accesses, thread_blocks)


def has_loops(kernel: Kernel) -> bool:
    """Whether an instruction may be issued twice by a warp: basic blocks go forward otherwise."""
    return any(target <= block.index for block in kernel.blocks for target in block.successors)


def cannot_be_large(warps: int) -> bool:
    """Whether so few warps are no large work, however long they run."""
    return warps * _LONG_WARP < _MANY_ACCESSES


def why_not_sampled(kernel: Kernel) -> str | None:
    """Half a sentence why the launch must be run in full; None when it may be sampled.

    Thread blocks that are left out write nothing, so no path and no address may depend on memory.
    """
    for what, part in (
        ("which instructions run", control_slice(kernel)),
        ("where memory is accessed", address_slice(kernel)),
    ):
        if not part.is_static:
            return f"{what} depends on {_culprit(kernel, part)}"
    return None


def _culprit(kernel: Kernel, part: Slice) -> str:
    pc = min(part.loads or part.clocks)
    instruction = next(item for item in kernel.instructions if item.pc == pc)
    what = "data that" if part.loads else "the clock, which"
    return f"{what} {instruction.mnemonic} reads at {instruction.span.place}"
