"""The times of warps as LLVM IR: the instructions that each has issued.

Warps that are executed as one have a time in common, %time, which runs while any of them does; what
each was idle meanwhile is taken off.
"""

from __future__ import annotations

from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset

__all__ = ["ClockCode"]


class ClockCode:
    """Writes the times; they are kept from one call of the warp function to the next."""

    def __init__(self, warp: WarpCode) -> None:
        self._warp = warp
        self._numbers = range(warp.together)

    def write_entry(self) -> None:
        """Where times are kept, and what they are so far."""
        entry = self._warp.entry
        entry.do("%time = alloca i64")
        times = entry.op(f"getelementptr i8, ptr %w, i64 {field_offset('warp_times')}")
        table = entry.op(f"load ptr, ptr {times}")
        first = entry.op(f"mul i32 %warp, {len(self._numbers)}")
        entry.do(f"%time.place = getelementptr i64, ptr {table}, i32 {first}")
        if len(self._numbers) == 1:
            entry.do(f"store i64 {entry.op('load i64, ptr %time.place')}, ptr %time")
            return
        own = [
            entry.op(f"load i64, ptr {self._place(number, at_entry=True)}")
            for number in self._numbers
        ]
        latest = own[0]
        for time in own[1:]:
            latest = entry.intrinsic("umax", "i64", [("i64", latest), ("i64", time)])
        entry.do(f"store i64 {latest}, ptr %time")
        for number, time in enumerate(own):
            entry.do(f"%idle.warp{number} = alloca i64")
            entry.do(f"store i64 {entry.op(f'sub i64 {latest}, {time}')}, ptr %idle.warp{number}")

    def advance(self, issues: int, mask: str) -> str:
        """Lanes of a mask begin a basic block of so many instructions; the time before it."""
        code = self._warp.scalar
        time = code.op("load i64, ptr %time")
        code.do(f"store i64 {code.op(f'add i64 {time}, {issues}')}, ptr %time")
        if len(self._numbers) > 1 and mask != FULL:
            for number, runs in enumerate(self._warp.warps_in(mask)):
                more = code.op(f"select i1 {runs}, i64 0, i64 {issues}")
                idle = code.op(f"load i64, ptr %idle.warp{number}")
                idle = code.op(f"add i64 {idle}, {more}")
                code.do(f"store i64 {idle}, ptr %idle.warp{number}")
        return time

    def latest(self, time: str, mask: str) -> str:
        """The latest of the times, before a basic block, of warps that have lanes in a mask."""
        if len(self._numbers) == 1:
            return time
        code, found = self._warp.scalar, "0"
        for number, runs in enumerate(self._warp.warps_in(mask)):
            idle = code.op(f"load i64, ptr %idle.warp{number}")
            own = code.op(f"select i1 {runs}, i64 {code.op(f'sub i64 {time}, {idle}')}, i64 0")
            found = code.intrinsic("umax", "i64", [("i64", found), ("i64", own)])
        return found

    def write_end(self) -> None:
        """Keeps the times."""
        code = self._warp.scalar
        time = code.op("load i64, ptr %time")
        for number in self._numbers:
            own = time
            if len(self._numbers) > 1:
                idle = code.op(f"load i64, ptr %idle.warp{number}")
                own = code.op(f"sub i64 {time}, {idle}")
            code.do(f"store i64 {own}, ptr {self._place(number)}")

    def _place(self, number: int, *, at_entry: bool = False) -> str:
        if number == 0:
            return "%time.place"
        code = self._warp.entry if at_entry else self._warp.scalar
        return code.op(f"getelementptr i64, ptr %time.place, i64 {number}")
