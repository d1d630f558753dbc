"""Engines run a kernel and return its Trace; they differ in speed, never in what they count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from kernelcast.errors import KernelcastError, nearest
from kernelcast.simcore.engine import reference
from kernelcast.simcore.isa.kernel import Kernel
from kernelcast.simcore.launch import Launch, Limits
from kernelcast.traces.trace import Trace

__all__ = ["ENGINES", "execute"]


class Engine(Protocol):
    """`record_memory` False leaves the memory tables of the trace empty, where that saves time."""

    def __call__(
        self,
        kernel: Kernel,
        launch: Launch,
        warp_width: int,
        limits: Limits,
        progress: Callable[[float], None] | None,
        *,
        record_memory: bool = True,
    ) -> Trace: ...


def _jit(
    kernel: Kernel,
    launch: Launch,
    warp_width: int,
    limits: Limits,
    progress: Callable[[float], None] | None,
    *,
    record_memory: bool = True,
) -> Trace:
    # llvmlite takes a while to import: only who needs it pays
    from kernelcast.simcore.engine.jit.run import can_run, run

    if not can_run(kernel):
        return reference.run(
            kernel, launch, warp_width, limits, progress, record_memory=record_memory
        )
    return run(kernel, launch, warp_width, limits, progress, record_memory=record_memory)


ENGINES: Mapping[str, Engine] = {"reference": reference.run, "jit": _jit}
"""The JIT engine hands kernels over that only the reference engine runs (docs/engines.md)."""
_WARP_WIDTHS = (8, 16, 32, 64)


def execute(
    kernel: Kernel,
    launch: Launch,
    *,
    warp_width: int = 32,
    limits: Limits | None = None,
    engine: str = "auto",
    progress: Callable[[float], None] | None = None,
    record_memory: bool = True,
) -> Trace:
    """Runs a launch; buffers among its arguments are read and written in place.

    `progress` is told the finished share of thread blocks, 0 to 1. Raises LaunchError when the
    launch does not fit the kernel and ExecutionError when the kernel fails.
    """
    name = _default_engine() if engine == "auto" else engine
    if name not in ENGINES:
        known = ", ".join(("auto", *ENGINES))
        hint = nearest(engine, ENGINES)
        raise KernelcastError(f"unknown engine {engine!r}{hint}; known: {known}")
    if warp_width not in _WARP_WIDTHS:
        raise KernelcastError(f"warp width {warp_width} is not one of {_WARP_WIDTHS}")
    launch.check(kernel)
    return ENGINES[name](
        kernel, launch, warp_width, limits or Limits(), progress, record_memory=record_memory
    )


def _default_engine() -> str:
    """The JIT engine on machines with a vector unit that it can use."""
    from kernelcast.simcore.llvm import host_supports_vectors

    return "jit" if host_supports_vectors() else "reference"
