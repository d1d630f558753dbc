"""Which load each instruction waits for: the one that last wrote what it reads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel

__all__ = ["awaited_loads"]

_LOADS = (Pipeline.GLOBAL, Pipeline.SHARED, Pipeline.CONSTANT)
_MOST_EVENTS = 20_000


def awaited_loads(kernel: TimedKernel) -> dict[int, int]:
    """The load whose data each pc waits for most often; of several the one issued last.

    Followed along the first events of the warp that has most; instructions that are folded hand on
    what they wait for. A kernel without loads has none.
    """
    if not any(item in _LOADS for item in kernel.pipeline):
        return {}
    found: dict[int, Counter[int]] = defaultdict(Counter)
    loaded: dict[int, tuple[int, int]] = {}
    for at, pc in enumerate(_events(kernel)):
        pipeline = kernel.pipeline[pc]
        awaited = [loaded[register] for register in _registers(kernel, pc) if register in loaded]
        last = max(awaited, default=None)
        if last is not None and pipeline is not Pipeline.NONE:
            found[pc][last[1]] += 1
        is_load = pipeline in _LOADS and not kernel.is_store[pc]
        for register in _known(kernel.writes[pc].tolist()):
            if is_load:
                loaded[register] = (at, pc)
            elif last is not None and pipeline is Pipeline.NONE:
                loaded[register] = last
            else:
                loaded.pop(register, None)
    return {pc: counts.most_common(1)[0][0] for pc, counts in found.items()}


def _events(kernel: TimedKernel) -> list[int]:
    paths = kernel.paths
    longest = int((paths.start[1:] - paths.start[:-1]).argmax())
    begins, ends = int(paths.start[longest]), int(paths.start[longest + 1])
    pcs: list[int] = paths.pc[begins : min(ends, begins + _MOST_EVENTS)].tolist()
    return pcs


def _registers(kernel: TimedKernel, pc: int) -> Iterator[int]:
    """What an instruction waits for: scoreboards of machine code that it names, else registers.

    Those are what it reads and what it writes.
    """
    yield from _known(kernel.reads[pc].tolist())
    if kernel.schedule is None:
        yield from _known(kernel.writes[pc].tolist())


def _known(registers: list[int]) -> Iterator[int]:
    return (register for register in registers if register >= 0)
