"""What `load` gives: a module of kernels that run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from kernelcast.errors import LaunchError, nearest
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.launch_sampling import sampled_launch
from kernelcast.execution.memory_simulation import MemorySimulation
from kernelcast.execution.path_samples import PathSamples
from kernelcast.execution.sampling import Sampling
from kernelcast.inputs.kernel_names import kernels_called, shortest_names
from kernelcast.progress import Progress
from kernelcast.ptx_frontend import read_module
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.engine import execute
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.host.limits import MOST_SHARED_BYTES
from kernelcast.simcore.isa.analysis.warp_dependence import depends_on_warp_width
from kernelcast.simcore.isa.ir.kernel import Kernel, Module
from kernelcast.simcore.launch.launch import Argument, Launch, Limits, dimensions
from kernelcast.simcore.launch.resources import resource_needs
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape
from kernelcast.traces.trace import Trace
from kernelcast.workload.argument_snapshot import ArgumentSnapshot
from kernelcast.workload.launch_sizes import LaunchSizes, as_argument

__all__ = ["LoadedModule", "RunnableKernel"]

_USUAL_WIDTH = 32


@dataclass(frozen=True)
class RunnableKernel:
    """One kernel of a module; `run` executes it on the CPU."""

    kernel: Kernel

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    @property
    def name(self) -> str:
        """The kernel's symbol."""
        return self.kernel.name

    def run(
        self,
        *,
        args: Sequence[Argument],
        grid: int | Sequence[int] | None = None,
        block: int | Sequence[int] | None = None,
        global_size: int | Sequence[int] | None = None,
        local_size: int | Sequence[int] | None = None,
        shared_bytes: int = 0,
        cluster: int | Sequence[int] | None = None,
        registers: int | None = None,
        devices: Sequence[Device | str] = (),
        argument_names: Sequence[str] = (),
        warp_width: int | None = None,
        limits: Limits | None = None,
        engine: str = "auto",
        progress: Progress | None = None,
        record_memory: bool = True,
        record_paths: bool | None = None,
        sampling: Sampling = Sampling.NEVER,
        exact_sums: bool = False,
    ) -> KernelTrace:
        """Executes one launch: arrays in `args` are the buffers that the kernel reads and writes.

        `grid` counts thread blocks and `block` threads, up to three sizes each; `global_size` and
        `local_size` say the same as OpenCL does, in threads both. `shared_bytes` is the dynamic
        shared memory besides that of `__local` arguments, which are given as `LocalBytes`,
        `cluster` counts the thread blocks of a cluster where the kernel does not say it,
        `registers` the count per thread of the target's compiler.
        The memory of `devices` is simulated on the way, and the accesses are then forgotten; the
        trace of a run without devices keeps them and can be profiled on any. Warps are as wide as
        those of `devices`, which takes an execution for each width among them; by default 32
        threads. `warp_width` gives the one width that is wanted.
        Raises LaunchError, before it runs, when the launch does not fit the kernel or one of
        `devices`, and ExecutionError, with thread and source line, when the kernel fails;
        `argument_names` is what messages call the arguments. Without `record_memory` the trace
        counts instructions only, where that saves time, and has no profile. With `record_paths`,
        by default as `record_memory`, it has the paths of some thread blocks too, which models that
        simulate an SM need, or says why not. With `sampling` a large launch may be
        estimated from a part of its thread blocks; its buffers stay as they are. With `exact_sums`
        matrix instructions add up all products exactly and round once, not as tensor units do.
        The time limit of `limits` covers analysis and compilation, too.
        """
        if isinstance(args, str) or not isinstance(args, Sequence):
            raise LaunchError(f"args must be a list of arguments, got {type(args).__name__}")
        chosen = self.with_exact_sums() if exact_sums else self
        given = LaunchSizes(grid, block, global_size, local_size)
        thread_blocks, threads = given.resolved(self.kernel.required_threads)
        launch = Launch(
            grid=thread_blocks,
            thread_block=threads,
            arguments=tuple(map(as_argument, args)),
            dynamic_shared_bytes=shared_bytes,
            cluster=None if cluster is None else dimensions(cluster, "cluster"),
            registers=registers,
            argument_names=tuple(argument_names),
        )
        targets = [load_device(item) if isinstance(item, str) else item for item in devices]
        limits = limits or Limits()
        with time_limit(limits.seconds):
            self._check(launch, targets)
            widths = [warp_width] if warp_width is not None else _widths(targets)
            keeps_paths = record_memory if record_paths is None else record_paths
            samples = None
            if keeps_paths:
                samples = PathSamples.record(chosen.kernel, launch, widths, limits)
            found = None
            if targets or not record_memory:
                memories = targets if record_memory else ()
                found = sampled_launch(
                    chosen.kernel, launch, memories, widths, limits, engine, sampling, progress
                )
            if found is None:
                recorded_for = targets if record_memory else None
                found = chosen._executed(launch, recorded_for, widths, limits, engine, progress)
            return found if samples is None else samples.added_to(found)

    def with_exact_sums(self) -> RunnableKernel:
        """The kernel with matrix instructions that add up exactly and round once."""
        from kernelcast.simcore.isa.analysis.exact_sums import with_exact_sums

        return replace(self, kernel=with_exact_sums(self.kernel))

    def _executed(
        self,
        launch: Launch,
        devices: Sequence[Device] | None,
        widths: Sequence[int],
        limits: Limits,
        engine: str,
        progress: Progress | None,
    ) -> KernelTrace:
        """Executes all thread blocks, with the memory of `devices`; None records no access."""
        memories = MemorySimulation(self.kernel, launch, devices or ())
        execute_at = partial(
            execute,
            self.kernel,
            launch,
            limits=limits,
            engine=engine,
            record_memory=devices is not None and not devices,
        )
        traces = _at_each_width(widths, launch, memories, execute_at, progress)
        if depends_on_warp_width(self.kernel):  # one width then tells nothing of another
            traces = tuple(replace(trace, pairs_agree=False) for trace in traces)
        return KernelTrace(traces, simulated=memories.finish())

    def _check(self, launch: Launch, devices: Sequence[Device]) -> None:
        """Raises LaunchError when the launch fits no GPU, or not one of `devices`."""
        launch.check(self.kernel)
        needs = resource_needs(self.kernel, launch)
        if needs.shared_bytes > MOST_SHARED_BYTES:
            raise LaunchError(
                f"{needs.shared_bytes} bytes of shared memory per thread block: no GPU allows more "
                f"than {MOST_SHARED_BYTES}"
            )
        for device in devices:
            occupancy(needs, LaunchShape(launch.grid, launch.thread_block), device)


def _widths(devices: Sequence[Device]) -> list[int]:
    """The warp widths among the devices, rising."""
    return sorted({device.architecture.warp_width for device in devices}) or [_USUAL_WIDTH]


def _at_each_width(
    widths: Sequence[int],
    launch: Launch,
    memories: MemorySimulation,
    execute_at: Callable[..., Trace],
    progress: Progress | None,
) -> tuple[Trace, ...]:
    """One execution for each of the rising `widths`, all from the same buffers.

    The narrowest one comes last, and its results stay in the buffers.
    """
    snapshot = ArgumentSnapshot(launch.arguments) if len(widths) > 1 else None
    traces: list[Trace] = []
    for width in reversed(widths):
        if snapshot is not None and traces:
            snapshot.restore()
        told = _share_of(progress, len(traces), len(widths))
        sinks = memories.sinks(width)
        traces.append(execute_at(warp_width=width, progress=told, sinks=sinks))
    return tuple(reversed(traces))


def _share_of(progress: Progress | None, done: int, runs: int) -> Progress | None:
    """Tells the progress of run `done` of `runs` as that of all of them."""
    if progress is None or runs == 1:
        return progress
    return lambda share: progress((done + share) / runs)


@dataclass(frozen=True)
class LoadedModule(Mapping[str, RunnableKernel]):
    """The kernels of a source file by name.

    A kernel is called by its symbol, or by its C++ name where only one has it. `names` are further
    names of symbols, such as `scale<float>`.
    """

    module: Module
    names: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<module {self.module.path}: {', '.join(self) or 'no kernels'}>"

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> LoadedModule:
        """Reads the kernels of a file, without the options of a compiler."""
        return cls(read_module(Path(path)))

    def __getitem__(self, name: str) -> RunnableKernel:
        """Raises why the kernel cannot run, or LaunchError when there is none of that name."""
        symbol = self._symbol(name)
        if symbol in self.module.kernels:
            return RunnableKernel(self.module.kernels[symbol])
        for reason in self.module.rejected.get(symbol, ()):
            raise reason
        known = self._names_to_call()
        raise LaunchError(
            f"{self.module.path} has no kernel {name!r}{nearest(name, known)}; "
            f"it has {', '.join(known) or 'none'}"
        )

    def _symbol(self, name: str) -> str:
        """The symbol of a kernel's name; LaunchError when several kernels have that C++ name."""
        known = (*self.module.kernels, *self.module.rejected)
        if name in known:
            return name
        if name in self.names:
            return self.names[name]
        found = kernels_called(name, known)
        if len(found) > 1:
            raise LaunchError(
                f"{self.module.path} has {len(found)} kernels {name!r}: {', '.join(found)}"
            )
        return found[0] if found else name

    def __iter__(self) -> Iterator[str]:
        return iter(self.module.kernels)

    def __len__(self) -> int:
        return len(self.module.kernels)

    def __contains__(self, name: object) -> bool:
        """Whether it can be had: by any name that `[]` takes."""
        try:
            return isinstance(name, str) and self._symbol(name) in self.module.kernels
        except LaunchError:
            return False

    def only_kernel(self) -> RunnableKernel:
        """The module's single kernel; LaunchError when it has none or several."""
        names = self._names_to_call()
        if len(names) != 1:
            raise LaunchError(
                f"{self.module.path} has {len(names)} kernels, name one as entry: "
                f"{', '.join(names) or 'none'}"
            )
        return self[names[0]]

    def _names_to_call(self) -> list[str]:
        """Names of all kernels: as they were asked for, else as short as can be."""
        symbols = (*self.module.kernels, *self.module.rejected)
        asked = {symbol: name for name, symbol in self.names.items()}
        shortest = shortest_names(symbols)
        return [asked.get(symbol, name) for symbol, name in zip(symbols, shortest, strict=True)]
