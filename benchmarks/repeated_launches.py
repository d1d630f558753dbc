"""What a launch costs that repeats: empty, and in a solver beside one launch of all its work."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from targets import Target
from timing import table

import kernelcast as kc

__all__ = ["LaunchTimings", "launch_table", "launch_targets", "measure_launches"]

_HEAD = ".version 8.0\n.target sm_70\n.address_size 64\n"
_EMPTY = f"""{_HEAD}
.visible .entry empty(.param .u32 number) {{ ret; }}
"""
_RELAX = f"""{_HEAD}
.visible .entry relax(.param .u64 x, .param .u32 n, .param .u32 sweep)
{{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<6>; .reg .pred %p<4>;
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r4, %r2, %r3, %r1;
    ld.param.u32 %r5, [n]; ld.param.u32 %r6, [sweep]; mov.u32 %r7, %ctaid.z;
    sub.s32 %r5, %r5, 1;
    setp.ge.s32 %p1, %r4, %r5; @%p1 bra END;
    setp.eq.s32 %p2, %r4, 0; @%p2 bra END;
    add.s32 %r6, %r6, %r7; add.s32 %r6, %r6, %r4; and.b32 %r6, %r6, 1;
    setp.eq.s32 %p3, %r6, 0; @%p3 bra END;
    ld.param.u64 %rd1, [x];
    mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3+-4]; ld.global.f32 %f2, [%rd3]; ld.global.f32 %f3, [%rd3+4];
    add.f32 %f1, %f1, %f3; fma.rn.f32 %f4, %f1, 0f3F000000, %f2; mul.f32 %f4, %f4, 0f3F000000;
    st.global.f32 [%rd3], %f4;
END:
    ret;
}}
"""
_BLOCK = 256
_UNKNOWNS = 1 << 16
_SWEEPS, _QUICK_SWEEPS = 5000, 500
_EMPTY_LAUNCHES = 2000
_MOST_EMPTY_S, _MOST_RATIO = 50e-6, 3.0


@dataclass(frozen=True, slots=True)
class LaunchTimings:
    """Seconds of wall time.

    `run_s`: an empty launch of `kernel.run`; `empty_s`: the same prepared; `other_s`: that with
    another number each time. `solver_s`: red-black sweeps, a prepared launch each; `plain_s`:
    all of them in one launch.
    """

    run_s: float
    empty_s: float
    other_s: float
    sweeps: int
    solver_s: float
    plain_s: float

    @property
    def ratio(self) -> float:
        """The time of the solver over that of the same work in one launch."""
        return self.solver_s / self.plain_s

    def record(self) -> dict[str, Any]:
        """The timings as a record."""
        return asdict(self) | {"ratio": self.ratio}


def measure_launches(quick: bool, repeats: int) -> LaunchTimings:
    """Medians after a warm-up."""
    memory, kernel = kc.DeviceMemory(), kc.load_ptx(_EMPTY)["empty"]
    empty = kernel.prepare(grid=1, block=32, args=[0], memory=memory)

    def ordinary(number: int) -> None:
        kernel.run(grid=1, block=32, args=[7], memory=memory, record_memory=False)

    def other(number: int) -> None:
        empty.run(number.to_bytes(4, "little"))

    def same(number: int) -> None:
        empty.run()

    sweeps = _QUICK_SWEEPS if quick else _SWEEPS
    solver_s, plain_s = _solver(sweeps, repeats)
    return LaunchTimings(
        _each(ordinary, repeats),
        _each(same, repeats),
        _each(other, repeats),
        sweeps,
        solver_s,
        plain_s,
    )


def _each(call: Callable[[int], None], repeats: int) -> float:
    """Seconds of one call, which gets a number of its own."""
    found = []
    for turn in range(repeats + 1):
        began = time.perf_counter()
        for number in range(_EMPTY_LAUNCHES):
            call(turn * _EMPTY_LAUNCHES + number)
        found.append((time.perf_counter() - began) / _EMPTY_LAUNCHES)
    return median(found[1:])


def _solver(sweeps: int, repeats: int) -> tuple[float, float]:
    """Seconds of the sweeps in a launch each, and in one launch; they take turns."""
    memory, kernel = kc.DeviceMemory(), kc.load_ptx(_RELAX)["relax"]
    x, grid = memory.allocate(4 * _UNKNOWNS, "x"), _UNKNOWNS // _BLOCK
    sweep = kernel.prepare(grid=grid, block=_BLOCK, args=[x, _UNKNOWNS, 0], memory=memory)
    all_at_once = kernel.prepare(
        grid=(grid, 1, sweeps), block=_BLOCK, args=[x, _UNKNOWNS, 0], memory=memory
    )

    def one_by_one() -> None:
        for number in range(sweeps):
            sweep.run(struct.pack("<QII", x.address, _UNKNOWNS, number))

    times: dict[Callable[[], None], list[float]] = {one_by_one: [], all_at_once.run: []}
    for _ in range(repeats + 1):
        for call, found in times.items():
            began = time.perf_counter()
            call()
            found.append(time.perf_counter() - began)
    solver_s, plain_s = (median(found[1:]) for found in times.values())
    return solver_s, plain_s


def launch_table(timings: LaunchTimings) -> str:
    """The timings as a table."""
    rows = [
        ("empty, kernel.run", f"{1e6 * timings.run_s:.1f}"),
        ("empty, prepared", f"{1e6 * timings.empty_s:.1f}"),
        ("empty, prepared, another number each time", f"{1e6 * timings.other_s:.1f}"),
        (f"a sweep of {timings.sweeps}", f"{1e6 * timings.solver_s / timings.sweeps:.1f}"),
        ("a sweep, all in one launch", f"{1e6 * timings.plain_s / timings.sweeps:.1f}"),
    ]
    return table(("launch", "us"), rows)


def launch_targets(timings: LaunchTimings) -> list[Target]:
    """An empty launch, and what launches add to the work of a solver."""
    return [
        Target("a prepared empty launch", timings.empty_s, _MOST_EMPTY_S, "s"),
        Target(f"{timings.sweeps:,} launches of a solver / one", timings.ratio, _MOST_RATIO),
    ]
