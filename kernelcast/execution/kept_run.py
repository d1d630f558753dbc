"""One launch of one code, of which the store may have all, a part or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.launch_paths import LaunchPaths
from kernelcast.execution.memory_simulation import (
    MemorySimulation,
    SimulatedDevice,
    resident_launch,
)
from kernelcast.execution.path_samples import PathSamples
from kernelcast.execution.run_options import RunOptions
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.processors import processors
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.local_arrays import resource_needs
from kernelcast.simcore.sampling.decision import why_not_sampled
from kernelcast.store.accesses import AccessKeeper, KeptAccesses
from kernelcast.store.launches import KeptDevice, KeptLaunch, KeptPaths, launch_identity
from kernelcast.traces.collector import AccessCollector
from kernelcast.traces.stream import AccessSink
from kernelcast.traces.trace import Trace

__all__ = ["KeptRun"]

_LEAST_SECONDS = 0.05
"""What takes less is done again: an entry has to be read, too."""

_Run = Callable[[Sequence[Device], Sequence[int]], KernelTrace | None]
"""Executes a launch for devices, in warps of the widths; None where it cannot."""


@dataclass
class KeptRun:
    """What is wanted of a launch on `devices`, in warps of the `widths`, beside what is kept of it.

    `kept` None: nothing is looked for and nothing kept.
    """

    kernel: Kernel
    launch: Launch
    devices: Sequence[Device]
    widths: Sequence[int]
    options: RunOptions
    kept: KeptLaunch | None
    _keepers: dict[int, AccessKeeper] = field(default_factory=dict)
    _paths: dict[int, KeptPaths] = field(default_factory=dict)
    _found_exact: KeptLaunch | None = None
    _new_widths: set[int] = field(default_factory=set)
    _began: float = field(default_factory=time.monotonic)

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        launch: Launch,
        devices: Sequence[Device],
        widths: Sequence[int],
        options: RunOptions,
        inputs: str | None,
    ) -> KeptRun:
        """`inputs`: a hash of the arguments before the launch, None where nothing is to be kept."""
        kept = None
        if inputs is not None:
            ends = options.ends
            chosen = options.engine, ends.seconds, ends.instructions_per_warp
            kept = launch_identity(kernel, launch, inputs, chosen)
        return cls(kernel, launch, devices, widths, options, kept)

    def sampled(self, run: _Run) -> KernelTrace | None:
        """What `run` makes of a part of the thread blocks, or made, with paths; else None.

        What is sampled may depend on all that is wanted: it is kept for just that.
        """
        if self.kept is None:
            return run(self._told_devices, self.widths)
        options = self.options
        wanted = options.sampling.value, self.widths, options.keeps_paths, options.record_memory
        # Where thread blocks depend on each other, the waves decide whether there is a sample.
        registers = None if why_not_sampled(self.kernel) is None else self.launch.registers
        mode = self.kept.of_mode(*wanted, registers)
        if mode.is_exact:
            return None
        found = self._completed(mode, run)
        if found is None:
            self._found_exact = mode
            return None
        has_new_paths = options.keeps_paths and bool(self._new_widths)
        return self._with_new_kept(found, has_new_paths=has_new_paths)

    def path_samples(self, record: Callable[[], PathSamples]) -> PathSamples | None:
        """The paths of warps, recorded before all run; None for unwanted and kept ones."""
        if not self.options.keeps_paths:
            return None
        if self.kept is not None:
            paths = {width: self.kept.paths(width) for width in self.widths}
            self._paths = {width: item for width, item in paths.items() if item is not None}
            if len(self._paths) == len(self.widths):
                return None
        return record()

    def exact(self, run: _Run, paths: LaunchPaths | None) -> KernelTrace:
        """What `run` makes of all thread blocks, or made; with paths where they are wanted."""
        if self.kept is None:
            found = run(self._told_devices, self.widths)
        else:
            found = self._completed(self.kept, run)
        assert found is not None
        if paths is not None:
            found = paths.added_to(found)
        elif self.options.keeps_paths:
            kept = (self._paths[trace.warp_width].of(trace) for trace in found.traces)
            found = replace(found, traces=tuple(kept))
        return self._with_new_kept(found, has_new_paths=paths is not None)

    def sinks(self, width: int) -> list[AccessSink]:
        """Who keeps the accesses of a run in warps of that many threads."""
        if self.kept is None or not self.options.record_memory:
            return []
        self._keepers[width] = AccessKeeper()
        return [self._keepers[width]]

    def _with_new_kept(self, found: KernelTrace, *, has_new_paths: bool) -> KernelTrace:
        """The trace, of which what is new is kept now, unless it was made in no time."""
        if found.kept is None:
            return found
        is_new = self._new_widths.issuperset(self.widths)
        if is_new and time.monotonic() - self._began < _LEAST_SECONDS:
            return replace(found, kept=None)
        self._keep(found, found.kept, has_new_paths=has_new_paths)
        return found

    @property
    def _told_devices(self) -> Sequence[Device]:
        """The devices that a run must know of, which then forgets its accesses."""
        return self.devices if self.options.record_memory else ()

    @property
    def _memories(self) -> Sequence[Device]:
        """The devices whose memories are wanted."""
        if not self.options.record_memory:
            return ()
        return [item for item in self.devices if item.architecture.warp_width in self.widths]

    def _completed(self, kept: KeptLaunch, run: _Run) -> KernelTrace | None:
        traces = {width: self._kept_trace(kept, width) for width in self.widths}
        simulated: dict[Device, SimulatedDevice | KeptDevice] = {}
        for width, trace in traces.items():
            if trace is not None:
                simulated |= self._kept_memories(kept, width)
        missing = [item for item in self._memories if item not in simulated]
        widths = [
            width
            for width in self.widths
            if traces[width] is None
            or any(item.architecture.warp_width == width for item in missing)
        ]
        if widths:
            widths = widths if kept is self.kept else list(self.widths)
            made = run(missing or self._told_devices, widths)
            if made is None:
                return None
            self._new_widths.update(widths)
            traces |= {trace.warp_width: trace for trace in made.traces}
            simulated |= {item.device: item for item in made.simulated}
        return KernelTrace(
            tuple(trace for trace in traces.values() if trace is not None),
            simulated=tuple(simulated[item] for item in self._memories),
            kept=kept,
        )

    def _kept_trace(self, kept: KeptLaunch, width: int) -> Trace | None:
        """The counts, and the accesses where no device forgets them; of a sample the paths, too."""
        found = kept.trace(width)
        if found is not None:
            found = replace(found, resources=resource_needs(self.kernel, self.launch))
        if found is not None and kept is not self.kept and self.options.keeps_paths:
            paths = kept.paths(width)
            return None if paths is None else paths.of(found)
        if found is None or self.devices or not self.options.record_memory:
            return found
        accesses = kept.accesses(width)
        return None if accesses is None else _with_accesses(found, accesses)

    def _kept_memories(
        self, kept: KeptLaunch, width: int
    ) -> dict[Device, SimulatedDevice | KeptDevice]:
        """What is kept of the memories of the devices, or follows from the accesses that are."""
        found: dict[Device, SimulatedDevice | KeptDevice] = {}
        missing = []
        for device in self._memories:
            if device.architecture.warp_width == width:
                resident = resident_launch(self.kernel, self.launch, device)
                contents = self.options.first_contents
                sealed = kept.memory(width, *resident, contents)
                if sealed is None:
                    missing.append(device)
                else:
                    blocks = resident.thread_blocks_per_sm
                    found[device] = KeptDevice(device, blocks, contents, sealed)
        accesses = kept.accesses(width) if missing else None
        if accesses is None:
            return found
        return found | {item.device: item for item in self._simulated(width, missing, accesses)}

    def _simulated(
        self, width: int, devices: Sequence[Device], accesses: KeptAccesses
    ) -> tuple[SimulatedDevice, ...]:
        """The memories of devices, from the accesses of an earlier run."""
        memories = MemorySimulation(self.kernel, self.launch, devices, self.options)
        sinks = memories.sinks(width)
        progress = self.options.progress or (lambda _share: None)
        with ThreadPoolExecutor(processors()) as pool:  # more would push each other out of caches
            for batch in accesses.batches():
                for waiting in [pool.submit(sink.accept, batch) for sink in sinks]:
                    waiting.result()
                end = batch.first_thread_block + batch.thread_blocks
                progress(end / self.launch.thread_blocks)
        return memories.finish()

    def _keep(self, found: KernelTrace, kept: KeptLaunch, *, has_new_paths: bool) -> None:
        """Keeps what was recorded and simulated just now."""
        if self._found_exact is not None:
            self._found_exact.keep_is_exact()
        for trace in found.traces:
            if has_new_paths:
                kept.keep_paths(trace)
            if trace.warp_width in self._new_widths:
                kept.keep_trace(trace)
        for width, keeper in self._keepers.items():
            kept.keep_accesses(keeper, width)
        for item in found.simulated:
            if isinstance(item, SimulatedDevice):
                width = item.device.architecture.warp_width
                left, _ = resident_launch(self.kernel, self.launch, item.device)
                kept.keep_memory(width, left, item.memory)


def _with_accesses(trace: Trace, accesses: KeptAccesses) -> Trace:
    """The trace as a run records it that keeps its accesses."""
    collector = AccessCollector()
    for batch in accesses.batches():
        collector.accept(batch)
    patterns, table = collector.tables()
    counts = collector.pattern_counts()
    return replace(trace, patterns=patterns, accesses=table, pattern_counts=counts, has_memory=True)
