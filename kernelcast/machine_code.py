"""Makes the code of the simulators that an installation brings.

`python -m kernelcast.machine_code [FOLDER]`: setup.py runs it when kernelcast is built, `make` when
sources of an editable installation have changed.
It executes and estimates small launches which call every compiled function with each layout of
arguments that launches have, so that all code is made that a user's launch will ask for.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

import kernelcast as kc
from kernelcast.errors import ModelNotApplicable
from kernelcast.execution.caches import Caches
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.models import MODELS
from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch
from kernelcast.simcore.host.llvm import runs_common_code
from kernelcast.simcore.host.ready_code import INSTALLED, made_into
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.sampling.pilot import RowCounter
from kernelcast.traces.stream import ALWAYS, GridPart

__all__ = ["make_machine_code"]

_BLOCK, _GRID = 64, 4
_MARK = "made-of-"
"""How the name of the file begins that says that all has been made."""
_SCATTERED = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry scattered(.param .u64 values, .param .u64 sums, .param .u32 stride)
{
    .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .f64 %fd<4>;
    .shared .align 4 .b8 tile[1024];
    ld.param.u64 %rd0, [values];
    ld.param.u64 %rd1, [sums];
    ld.param.u32 %r5, [stride];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mad.lo.u32 %r2, %r1, 64, %r0;
    mul.lo.u32 %r3, %r2, %r2;
    mul.lo.u32 %r3, %r3, %r5;
    and.b32 %r3, %r3, 4095;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd3, %rd0, %rd2;
    ld.global.f32 %f0, [%rd3];
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd5, %rd0, %rd4;
    ld.global.f32 %f1, [%rd5];
    fma.rn.f32 %f0, %f0, %f1, %f1;
    cvt.f64.f32 %fd0, %f0;
    fma.rn.f64 %fd1, %fd0, %fd0, %fd0;
    cvt.rn.f32.f64 %f1, %fd1;
    shl.b32 %r4, %r0, 3;
    and.b32 %r4, %r4, 1020;
    mov.u32 %r6, tile;
    add.u32 %r6, %r6, %r4;
    st.shared.f32 [%r6], %f1;
    bar.sync 0;
    ld.shared.f32 %f2, [%r6];
    atom.shared.add.f32 %f3, [%r6], 0f3F800000;
    setp.gt.f32 %p, %f2, 0f3F000000;
    @%p bra $end;
    red.global.add.f32 [%rd1], %f2;
    st.global.f32 [%rd5], %f2;
$end:
    ret;
}
"""
_STENCIL = (
    "b[z, y, x] = a[z, y, x - 4..4] + a[z, y - 4..4, x] + a[z - 4..4, y, x]; "
    "domain = 640x512x512; registers = 32"
)
_DEVICES = ("gtx-260", "gtx-480", "gtx-1060-6gb", "v100-pcie", "h100-pcie", "r9-nano", "arc-b580")
"""One of each way to coalesce, to cache and to schedule."""


_REGULAR = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry regular(.param .u64 values, .param .u64 sums)
{
    .reg .b32 %r<4>; .reg .b64 %rd<5>; .reg .f32 %f<3>;
    ld.param.u64 %rd0, [values];
    ld.param.u64 %rd1, [sums];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mad.lo.u32 %r2, %r1, 64, %r0;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd0, %rd2;
    add.s64 %rd4, %rd1, %rd2;
    ld.global.f32 %f0, [%rd3];
    ld.global.f32 %f1, [%rd3+4];
    add.f32 %f2, %f0, %f1;
    st.global.f32 [%rd4], %f2;
    ret;
}
"""


def _estimate(trace: KernelTrace, name: str) -> None:
    profile = trace.profile(name)
    for model in MODELS:
        with suppress(ModelNotApplicable):
            kc.estimate(profile, model)


def _launch_everywhere() -> None:
    """Irregular accesses, shared memory, atomics and branches, in each way that GPUs take them."""
    kernel = kc.load_ptx(_SCATTERED)["scattered"]
    values, sums = np.ones(4096, np.float32), np.zeros(4096, np.float32)
    for name in _DEVICES:
        for caches in Caches:
            trace = kernel.run(
                grid=_GRID, block=_BLOCK, args=[values, sums, 7], devices=[name], caches=caches
            )
        _estimate(trace, name)
    trace = kernel.run(grid=_GRID, block=_BLOCK, args=[values, sums, 7], engine="reference")
    _estimate(trace, _DEVICES[0])


def _launch_with_rests() -> None:
    """Accesses that are far apart."""
    add = "add.f32 %f2, %f0, %f1;"
    kernel = kc.load_ptx(_REGULAR.replace(add, add * 100))["regular"]
    buffers = [np.zeros(_BLOCK + 1, np.float32) for _ in range(2)]
    kernel.run(grid=1, block=_BLOCK, args=buffers, devices=_DEVICES)


def _launch_sample() -> None:
    """A part of the thread blocks for all."""
    kernel = kc.load_ptx(_REGULAR)["regular"]
    grid = 1 << 14
    buffers = [np.zeros(_BLOCK * grid + 1, np.float32) for _ in range(2)]
    trace = kernel.run(
        grid=grid, block=_BLOCK, args=buffers, devices=_DEVICES, sampling=Sampling.ALWAYS
    )
    _estimate(trace, _DEVICES[-1])


def _follow_launch() -> None:
    """Loads that repeat others, told apart and left out."""
    kernel = kc.load_ptx(_REGULAR)["regular"].kernel
    buffers = tuple(np.zeros(_BLOCK * _GRID + 1, np.float32) for _ in range(2))
    launch = Launch((_GRID, 1, 1), (_BLOCK, 1, 1), buffers)
    for width in sorted({kc.device(name).architecture.warp_width for name in _DEVICES}):
        parts = [GridPart(0, _GRID, 0, ALWAYS, _GRID, leaves_out) for leaves_out in (False, True)]
        rows = RowCounter(len(kernel.instructions))
        CompiledLaunch(kernel, launch, width).run_parts(parts, Limits(), [rows])


def _rank_addresses() -> None:
    """Boxes of addresses."""
    kc.rank(_STENCIL, "a100-40gb", block="16x4x4,64x4x1", folding="none,2z")


def _check() -> None:
    """A launch that is followed access by access."""
    kernel = kc.load_ptx(_SCATTERED)["scattered"]
    values, sums = np.ones(4096, np.float32), np.zeros(4096, np.float32)
    kc.check(kernel, args=[values, sums, 7], grid=_GRID, block=_BLOCK)


_WORK: dict[str, Callable[[], None]] = {
    "launches on seven devices": _launch_everywhere,
    "few accesses": _launch_with_rests,
    "a sample of a launch": _launch_sample,
    "a launch that is followed": _follow_launch,
    "addresses": _rank_addresses,
    "checks": _check,
}


def make_machine_code(folder: Path = INSTALLED) -> None:
    """Makes what the folder lacks and removes what is of other sources.

    RuntimeError on a machine that cannot run what most others can.
    """
    if not runs_common_code():
        raise RuntimeError("code for this processor would run on few other machines")
    mark = folder / f"{_MARK}{_all_sources()}"
    if mark.exists():
        return
    with made_into(folder) as used:
        for name, work in _WORK.items():
            sys.stderr.write(f"kernelcast: code of the simulators for {name}\n")
            work()
    for file in folder.iterdir():
        if file.name not in used:
            file.unlink()
    mark.touch()


def _all_sources() -> str:
    """A digest of everything that may change what is made."""
    files = [Path(__file__), *INSTALLED.parent.rglob("*.py")]
    contents = sorted(hashlib.sha256(file.read_bytes()).digest() for file in files)
    return hashlib.sha256(b"".join(contents)).hexdigest()[:32]


def main() -> None:
    """Makes it in the folder that is named, or where this installation looks for it."""
    with tempfile.TemporaryDirectory() as kept:
        os.environ["KERNELCAST_CACHE"] = kept
        os.environ["KERNELCAST_CODE"] = "source"
        make_machine_code(*map(Path, sys.argv[1:2]))


if __name__ == "__main__":
    main()
