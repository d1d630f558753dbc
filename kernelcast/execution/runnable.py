"""What `load` gives: a module of kernels that run."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Unpack

from kernelcast.errors import LaunchError, nearest
from kernelcast.execution.code import Code, CodePlan, NativeSource, planned, source_form
from kernelcast.execution.kept_run import KeptRun
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.kernel_view import KernelView
from kernelcast.execution.launch_paths import LaunchPaths
from kernelcast.execution.launch_sampling import may_be_sampled
from kernelcast.execution.memory_simulation import MemorySimulation, check_fit, followed
from kernelcast.execution.path_samples import PathSamples
from kernelcast.execution.prepared import PreparedLaunch, check_options
from kernelcast.execution.run_options import RunKeywords, RunOptions
from kernelcast.execution.sampler import Sampler, tell_expected
from kernelcast.inputs.kernel_names import kernels_called, shortest_names
from kernelcast.progress import Progress
from kernelcast.ptx_frontend import read_module
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.engine import Listener, execute
from kernelcast.simcore.host.deadline import time_limit
from kernelcast.simcore.host.limits import MOST_SHARED_BYTES
from kernelcast.simcore.isa.analysis.warp_dependence import depends_on_warp_width
from kernelcast.simcore.isa.ir.kernel import Kernel, Module
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.simcore.launch.local_arrays import resource_needs
from kernelcast.simcore.launch.module_memory import ModuleMemory
from kernelcast.store.launches import inputs_digest
from kernelcast.traces.stream import AccessSink
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import MOST_EVENTS
from kernelcast.workload.argument_snapshot import ArgumentSnapshot
from kernelcast.workload.launch_sizes import LaunchDescription, Size

__all__ = ["LoadedModule", "RunnableKernel"]

_USUAL_WIDTH = 32


@dataclass(frozen=True, repr=False)
class RunnableKernel(KernelView):
    """One kernel of a module; `run` executes it on the CPU.

    `native`: where its machine code comes from, None where it has none. `module`: what has the
    kernel's variables in common with other kernels; None for the kernel alone.
    """

    kernel: Kernel
    native: NativeSource | None = None
    module: Module | None = None

    @property
    def name(self) -> str:
        """The kernel's symbol."""
        return self.kernel.name

    def run(
        self,
        *,
        args: Sequence[Argument],
        grid: Size | None = None,
        block: Size | None = None,
        global_size: Size | None = None,
        local_size: Size | None = None,
        shared_bytes: int = 0,
        options: RunOptions | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> KernelTrace:
        """Executes one launch: arrays in `args` are the buffers that the kernel reads and writes.

        With `memory=`, a DeviceMemory, allocations and addresses in `args` are pointers into it.

        `grid` counts thread blocks and `block` threads, up to three sizes each; `global_size` and
        `local_size` say the same as OpenCL does, in threads both. `shared_bytes` is the dynamic
        shared memory besides that of `__local` arguments, which are given as `LocalBytes`.
        All else is in RunOptions: `options`, or its fields as `keywords`, which go first.
        Raises LaunchError, before it runs, when the launch does not fit the kernel or one of its
        devices, and ExecutionError, with thread and source line, when the kernel fails.
        """
        chosen = RunOptions.of(self.run, options, keywords)
        sizes = LaunchDescription(grid, block, global_size, local_size, shared_bytes)
        launch = self._launch(args, sizes, chosen)
        targets = [load_device(item) if isinstance(item, str) else item for item in chosen.devices]
        with time_limit(chosen.ends.seconds), followed(chosen) as options:
            found = self._planned(launch, self._plan(targets, options), options)
        return found.finding(chosen.first_contents)

    def prepare(
        self,
        *,
        args: Sequence[Argument],
        grid: Size | None = None,
        block: Size | None = None,
        global_size: Size | None = None,
        local_size: Size | None = None,
        shared_bytes: int = 0,
        options: RunOptions | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> PreparedLaunch:
        """Makes a launch ready that repeats: its `run` executes it and records nothing.

        Takes what `run` takes, but for devices and sampling; `target` says whose machine code is
        executed. The time limit of `limits` is that of each run.
        Raises LaunchError when the launch does not fit the kernel.
        """
        chosen = RunOptions.of(self.prepare, options, keywords)
        check_options(chosen)
        sizes = LaunchDescription(grid, block, global_size, local_size, shared_bytes)
        launch = self._launch(args, sizes, chosen)
        plan = self._plan([], chosen)
        kernel = plan.machine[0][0] if plan.machine else self.kernel
        found = RunnableKernel(kernel)
        found._check(launch, [])
        if chosen.exact_sums:
            found = found.with_exact_sums()
        return PreparedLaunch(found.kernel, launch, chosen)

    def _launch(
        self, args: Sequence[Argument], sizes: LaunchDescription, options: RunOptions
    ) -> Launch:
        """The launch with arguments of a kernel, on the memory of the options."""
        if isinstance(args, str) or not isinstance(args, Sequence):
            raise LaunchError(f"args must be a list of arguments, got {type(args).__name__}")
        described = replace(
            sizes,
            cluster=options.cluster,
            registers=options.registers,
            argument_names=options.argument_names,
        )
        return replace(described.launch(self.kernel, args), memory=self._memory(options))

    def _memory(self, options: RunOptions) -> ModuleMemory | None:
        """The variables of the kernel's module in the memory of the launch; None without one."""
        if options.memory is None:
            return None
        return ModuleMemory.of(options.memory, self.module or self.kernel)

    def _plan(self, devices: Sequence[Device], options: RunOptions) -> CodePlan:
        """Which code is executed for which device; `target` says it where there are no devices."""
        is_asked_for = options.code is not None and options.chosen_code is Code.SOURCE
        if is_asked_for and self.kernel.machine is not None:
            raise LaunchError(
                f"{self.kernel.name} is machine code of {self.kernel.machine.architecture} and has "
                "no source form: leave out --code source"
            )
        target = load_device(options.target) if isinstance(options.target, str) else options.target
        asked = devices or ([] if target is None else [target])
        plan = planned(self.kernel, self.native, asked, options.chosen_code)
        return plan if devices else plan.without_devices()

    def _planned(self, launch: Launch, plan: CodePlan, options: RunOptions) -> KernelTrace:
        """One execution for each code of the plan, all from the same buffers."""
        parts = [(RunnableKernel(kernel), launch, group) for kernel, group in plan.machine]
        if plan.source or not parts:
            registers = launch.registers
            if self.kernel.machine is None:
                registers = registers or options.source_registers
            form = source_form(self.kernel, self.native, plan, options.chosen_code)
            mine = replace(self, kernel=form)
            parts.append((mine, replace(launch, registers=registers), plan.source))
        for runnable, launched, devices in parts:
            runnable._check(launched, devices)
        inputs = None
        if options.is_kept:
            inputs = inputs_digest(launch, [runnable.kernel for runnable, *_ in parts])
        snapshot = None
        if len(parts) > 1:
            snapshot = ArgumentSnapshot.of(launch, [runnable.kernel for runnable, *_ in parts])
        found: list[KernelTrace] = []
        for number, (runnable, launched, devices) in enumerate(parts):
            if snapshot is not None and found:
                snapshot.restore()
            chosen = replace(options, progress=_share_of(options.progress, number, len(parts)))
            kernel = runnable.with_exact_sums() if options.exact_sums else runnable
            with _heard(is_last=number == len(parts) - 1):
                found.append(kernel._recorded(launched, devices, chosen, inputs))
        has_source = self.kernel.machine is None
        return replace(KernelTrace.of_codes(found, plan.notes), has_source=has_source)

    def _recorded(
        self, launch: Launch, devices: Sequence[Device], options: RunOptions, inputs: str | None
    ) -> KernelTrace:
        """The trace of a launch that fits, with paths where they are wanted.

        `inputs`: a hash of the arguments before it; None where it is not to be kept.
        """
        widths = _widths(devices) if options.warp_width is None else [options.warp_width]
        kept = KeptRun.of(self.kernel, launch, devices, widths, options, inputs)
        sampler = found = None
        if (devices or not options.record_memory) and may_be_sampled(self.kernel, options):
            sampler = Sampler(self.kernel, launch, widths, options)
            found = kept.sampled(sampler.found)
        if found is not None:
            return found
        samples = kept.path_samples(partial(self._paths, launch, widths, options, sampler))
        paths = LaunchPaths.of(self.kernel, launch, samples, options.ends)
        return kept.exact(partial(self._executed, launch, options, kept), paths)

    def _paths(
        self, launch: Launch, widths: Sequence[int], options: RunOptions, sampler: Sampler | None
    ) -> PathSamples:
        """The paths of warps: those that told how large the launch is, unless they are cut off."""
        found = None if sampler is None else sampler.paths_of_executed
        if found is None:
            found = PathSamples.record(self.kernel, launch, widths, options.ends, MOST_EVENTS)
        tell_expected(found, launch, widths)
        return found

    def with_exact_sums(self) -> RunnableKernel:
        """The kernel with matrix instructions that add up exactly and round once."""
        from kernelcast.simcore.isa.analysis.static_products import with_exact_sums

        return replace(self, kernel=with_exact_sums(self.kernel))

    def _executed(
        self,
        launch: Launch,
        options: RunOptions,
        kept: KeptRun,
        devices: Sequence[Device],
        widths: Sequence[int],
    ) -> KernelTrace:
        """Executes all thread blocks, with the memory of `devices`; none keep the accesses."""
        records = options.record_memory
        memories = MemorySimulation(self.kernel, launch, devices if records else (), options)
        execute_at = partial(
            execute,
            self.kernel,
            launch,
            limits=options.ends,
            engine=options.engine,
            record_memory=records and not devices,
        )
        snapshot = ArgumentSnapshot.of(launch, [self.kernel]) if len(widths) > 1 else None
        traces = _at_each_width(
            widths,
            snapshot,
            lambda width: [*memories.sinks(width), *kept.sinks(width)],
            execute_at,
            options.progress,
        )
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
        check_fit(needs, launch, devices)


def _widths(devices: Sequence[Device]) -> list[int]:
    """The warp widths among the devices, rising."""
    return sorted({device.architecture.warp_width for device in devices}) or [_USUAL_WIDTH]


def _at_each_width(
    widths: Sequence[int],
    snapshot: ArgumentSnapshot | None,
    sinks: Callable[[int], list[AccessSink]],
    execute_at: Callable[..., Trace],
    progress: Progress | None,
) -> tuple[Trace, ...]:
    """One execution for each of the rising `widths`, all from the same buffers.

    The narrowest one comes last, and its results stay in the buffers.
    """
    traces: list[Trace] = []
    for width in reversed(widths):
        if snapshot is not None and traces:
            snapshot.restore()
        told = _share_of(progress, len(traces), len(widths))
        with _heard(is_last=len(traces) == len(widths) - 1):
            traces.append(execute_at(warp_width=width, listener=Listener(told), sinks=sinks(width)))
    return tuple(reversed(traces))


def _heard(*, is_last: bool) -> AbstractContextManager[object]:
    """What kernels print is heard once, of executions that repeat each other."""
    return nullcontext() if is_last else redirect_stdout(io.StringIO())


def _share_of(progress: Progress | None, done: int, runs: int) -> Progress | None:
    """Tells the progress of run `done` of `runs` as that of all of them."""
    if progress is None or runs == 1:
        return progress
    return lambda share: progress((done + share) / runs)


@dataclass(frozen=True)
class LoadedModule(Mapping[str, RunnableKernel]):
    """The kernels of a source file by name.

    A kernel is called by its symbol, or by its C++ name where only one has it. `names` are further
    names of symbols, such as `scale<float>`. `note` tells what of the file was left out.
    """

    module: Module
    names: Mapping[str, str] = field(default_factory=dict)
    native: NativeSource | None = None
    """Where machine code of its kernels comes from; None where there is none."""
    note: str = ""

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
            return RunnableKernel(self.module.kernels[symbol], self.native, self.module)
        for reason in self.module.rejected.get(symbol, ()):
            raise reason
        known = self._names_to_call()
        raise LaunchError(
            f"{self.module.path} has no kernel {name!r}{nearest(name, known)}; "
            f"it has {', '.join(known) or 'none'}"
        )

    def variable(self, name: str, memory: DeviceMemory) -> Allocation:
        """The place of a variable of the module, global or constant, in a device memory.

        It is made there with its initial contents if no launch or call has done so. LaunchError
        when no kernel that runs uses a variable of that name.
        """
        return ModuleMemory.of(memory, self.module).variable(name, self.module.kernels.values())

    def unload(self, memory: DeviceMemory) -> None:
        """Frees the module's variables; kernels that run there later begin with new ones."""
        ModuleMemory.of(memory, self.module).unload()

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
                f"{self.module.path} has {len(found)} kernels {name!r}: "
                f"{', '.join(shortest_names(found))}"
            )
        return found[0] if found else name

    def __iter__(self) -> Iterator[str]:
        return iter(self.module.kernels)

    def __len__(self) -> int:
        return len(self.module.kernels)

    def __contains__(self, name: object) -> bool:
        """Whether the module has a kernel of that name: any that `[]` takes."""
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
