"""Engines run a kernel and return its Trace; they differ in speed, never in what they count."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.errors import KernelcastError, nearest
from kernelcast.simcore.engine import reference
from kernelcast.simcore.isa.kernel import Kernel
from kernelcast.simcore.launch import Launch, Limits
from kernelcast.traces.trace import Trace

__all__ = ["ENGINES", "execute"]

Engine = Callable[[Kernel, Launch, int, Limits, Callable[[float], None] | None], Trace]
ENGINES: Mapping[str, Engine] = {"reference": reference.run}
_WARP_WIDTHS = (8, 16, 32, 64)


def execute(
    kernel: Kernel,
    launch: Launch,
    *,
    warp_width: int = 32,
    limits: Limits | None = None,
    engine: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> Trace:
    """Runs a launch; buffers among its arguments are read and written in place.

    `progress` is told the finished share of thread blocks, 0 to 1. Raises LaunchError when the
    launch does not fit the kernel and ExecutionError when the kernel fails.
    """
    name = "reference" if engine == "auto" else engine
    if name not in ENGINES:
        known = ", ".join(("auto", *ENGINES))
        hint = nearest(engine, ENGINES)
        raise KernelcastError(f"unknown engine {engine!r}{hint}; known: {known}")
    if warp_width not in _WARP_WIDTHS:
        raise KernelcastError(f"warp width {warp_width} is not one of {_WARP_WIDTHS}")
    launch.check(kernel)
    return ENGINES[name](kernel, launch, warp_width, limits or Limits(), progress)
