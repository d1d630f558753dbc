"""How a launch is executed and what of it is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from kernelcast.execution.caches import Caches, first_contents
from kernelcast.execution.code import Code, code_named
from kernelcast.execution.sampling import Sampling
from kernelcast.keywords import check_keywords
from kernelcast.progress import Progress
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.launch import Limits
from kernelcast.simcore.memory.contents.cache_contents import CacheContents, FirstContents
from kernelcast.store.results import is_switched_on

__all__ = ["RunKeywords", "RunOptions"]


class RunKeywords(TypedDict, total=False):
    """The fields of RunOptions as keyword arguments."""

    registers: int | None
    cluster: int | Sequence[int] | None
    argument_names: Sequence[str]
    devices: Sequence[Device | str]
    warp_width: int | None
    limits: Limits | None
    engine: str
    progress: Progress | None
    record_memory: bool
    record_paths: bool | None
    sampling: Sampling
    exact_sums: bool
    code: Code | str | None
    target: Device | str | None
    source_registers: int | None
    caches: Caches | CacheContents | str | None
    memory: DeviceMemory | None
    results: bool
    store: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a run takes besides the kernel's sizes and arguments.

    `registers`: the count per thread of the target's compiler. `cluster` counts the thread blocks
    of a cluster where the kernel does not say it. `argument_names`: what messages call the
    arguments.

    The memory of `devices` is simulated on the way, and the accesses are then forgotten; the trace
    of a run without devices keeps them and can be profiled on any. Warps are as wide as those of
    `devices`, which takes an execution for each width among them; by default 32 threads.
    `warp_width` gives the one width that is wanted.

    `limits` covers analysis and compilation, too; None for the usual ones. `progress` is told the
    finished share. Without `record_memory` the trace counts instructions only, where that saves
    time, and has no profile. With `record_paths`, by default as `record_memory`, it has the paths
    of some thread blocks too, which models that simulate an SM need, or says why not. With
    `sampling` a large launch may be estimated from a part of its thread blocks; its buffers stay as
    they are. With `exact_sums` matrix instructions add up all products exactly and round once, not
    as tensor units do.

    `code`: `native` executes the machine code of each device, `source` the PTX or LLVM IR, whose
    order and registers timing takes as an assembler would leave them, `as-written` the same in its
    own order, `auto` machine code where the tools and the architecture allow; None is what the
    environment variable `KERNELCAST_CODE` says, else `auto`. Without devices it is that of
    `target`, whose memory is not simulated, and without either the source.
    `caches`: `cold`, the default; `warm`, where L2 has what an equal launch on the same buffers
    left just before; or CacheContents, which hold what launches on the same `memory` left in the L2
    of each of the `devices`, and then what this one leaves.
    `memory`: the device memory that the launch is on. Arguments may then be pointers into it,
    allocations or numbers, and variables of the kernel's module keep their contents from launch to
    launch; without it they begin anew.
    `results`: what the launch writes is wanted. Without them buffers may stay as they are, and what
    an equal launch recorded before, in whatever process, is taken from the store (docs/store.md),
    unless it prints; without `store` nothing is taken from there nor put there.
    `source_registers` per thread hold for the source form alone: machine code has its own.
    """

    registers: int | None = None
    cluster: int | Sequence[int] | None = None
    argument_names: Sequence[str] = ()
    devices: Sequence[Device | str] = ()
    warp_width: int | None = None
    limits: Limits | None = None
    engine: str = "auto"
    progress: Progress | None = None
    record_memory: bool = True
    record_paths: bool | None = None
    sampling: Sampling = Sampling.NEVER
    exact_sums: bool = False
    code: Code | str | None = None
    target: Device | str | None = None
    source_registers: int | None = None
    caches: Caches | CacheContents | str | None = None
    memory: DeviceMemory | None = None
    results: bool = True
    store: bool = True

    @classmethod
    def of(
        cls, function: Callable[..., Any], options: RunOptions | None, keywords: RunKeywords
    ) -> RunOptions:
        """What `function` was given: `options`, by default the usual ones, but for `keywords`.

        TypeError with the nearest names for a keyword that is no option.
        """
        check_keywords(function, keywords, cls)
        if options is not None and not isinstance(options, cls):
            raise TypeError(f"options must be RunOptions, got {type(options).__name__}")
        return replace(options or cls(), **keywords)

    @property
    def chosen_code(self) -> Code:
        """The code that is wanted; KernelcastError for a name that is none."""
        return code_named(self.code)

    @property
    def first_contents(self) -> FirstContents:
        """What L2 holds as the launch begins; KernelcastError for unknown `caches`."""
        return first_contents(self.caches)

    @property
    def contents(self) -> CacheContents | None:
        """What is in L2 between launches, where the launch is one of several."""
        return self.caches if isinstance(self.caches, CacheContents) else None

    @property
    def is_kept(self) -> bool:
        """Whether the store is asked for what a launch recorded before."""
        return self.store and not self.results and self.contents is None and is_switched_on()

    @property
    def ends(self) -> Limits:
        """What ends the run."""
        return self.limits or Limits()

    @property
    def keeps_paths(self) -> bool:
        """Whether warp paths are recorded."""
        return self.record_memory if self.record_paths is None else self.record_paths
