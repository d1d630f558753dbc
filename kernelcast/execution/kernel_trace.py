"""What a run leaves: its trace, which a profile can be made of for a device."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from kernelcast.errors import TraceFormatError
from kernelcast.execution.caches import Caches, first_contents
from kernelcast.execution.code import machine_code_name
from kernelcast.execution.memory_simulation import SimulatedDevice
from kernelcast.notebook import Table, Tabular
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.host.shared_tables import SharedTables
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.memory.contents.cache_contents import FirstContents
from kernelcast.simcore.profile.derived import ProfileSource
from kernelcast.simcore.profile.occupancy import held_share, occupancy
from kernelcast.simcore.profile.profile import KernelProfile, LaunchShape
from kernelcast.simcore.profile.shared_configuration import with_l1_left
from kernelcast.store.estimates import kept_profile
from kernelcast.store.launches import KeptDevice, KeptLaunch
from kernelcast.traces.trace import Trace
from kernelcast.traces.widen import widened

if TYPE_CHECKING:
    from kernelcast.simcore.memory.simulated_memory import MemoryResult

__all__ = ["KernelTrace"]

_HOW_TO_GET_A_WIDTH = (
    "execute the kernel with `warp_width={0}` (`kernelcast trace --warp-width {0}`) or with the "
    "device among `devices`"
)


@dataclass(frozen=True, repr=False)
class KernelTrace(Tabular):
    """One launch, executed for each of the warp widths of `traces`, which rise.

    `repeats` launches are to be estimated. `simulated`: what the run's devices did meanwhile.
    `caches`: what each launch finds there. `others`: the same launch as the machine code of other
    architectures. `notes`: what is to be said of a device's code, by its name. `has_source`: the
    kernel has a source form, too. `kept`: what the store has of it; None where nothing is kept.
    `tables`: what models make of the launch for several devices alike.
    """

    traces: tuple[Trace, ...]
    repeats: int = 1
    simulated: tuple[SimulatedDevice | KeptDevice, ...] = ()
    others: tuple[KernelTrace, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    caches: FirstContents = FirstContents.NOTHING
    has_source: bool = False
    kept: KeptLaunch | None = None
    tables: SharedTables = field(default_factory=SharedTables, compare=False)

    @classmethod
    def of_codes(cls, found: Sequence[KernelTrace], notes: Mapping[str, str]) -> KernelTrace:
        """The traces of one launch as several codes, of which the last one stands for all."""
        return replace(found[-1], others=tuple(found[:-1]), notes=notes)

    @property
    def label(self) -> str:
        """Kernel and engine."""
        return f"trace of {source_name(self.data.kernel)}, {self.data.engine} engine"

    def table(self) -> Table:
        """Counts for each warp width."""
        rows = (
            (item.warp_width, item.grid, item.thread_block, f"{item.source_instructions()[0]:,}")
            for item in self.traces
        )
        return (">warp width", "grid", "thread block", ">warp instructions"), rows

    @property
    def code(self) -> str:
        """The code that `data` is of: `source`, or the architecture of machine code."""
        return self.data.code

    def of_device(self, device: Device) -> KernelTrace:
        """The trace of the code that a device runs, else the one that stands for all."""
        own = machine_code_name(device)
        return next((item for item in self.others if item.code == own), self)

    @property
    def data(self) -> Trace:
        """The trace of the narrowest warps; what threads did is the same in all."""
        return self.traces[0]

    def repeated(self, repeats: int) -> KernelTrace:
        """The trace as one of `repeats` equal launches, which times are then for."""
        others = tuple(item.repeated(repeats) for item in self.others)
        return replace(self, repeats=repeats, others=others)

    def with_caches(self, caches: Caches | str | None) -> KernelTrace:
        """The trace as of a launch with `cold` or `warm` caches, None for cold."""
        return self.finding(first_contents(caches))

    def finding(self, contents: FirstContents) -> KernelTrace:
        """The trace as of a launch that finds that in L2."""
        others = tuple(item.finding(contents) for item in self.others)
        return replace(self, caches=contents, others=others)

    def with_registers(self, registers: int) -> KernelTrace:
        """The trace as if compiled to that many registers: another occupancy, the same counts."""
        return replace(
            self,
            traces=tuple(
                replace(trace, resources=replace(trace.resources, registers=registers))
                for trace in self.traces
            ),
            others=tuple(item.with_registers(registers) for item in self.others),
        )

    def at_width(self, warp_width: int) -> Trace:
        """The trace in warps of that many threads, joined from narrower ones if need be.

        TraceFormatError when only another execution can tell.
        """
        narrower = [trace for trace in self.traces if trace.warp_width <= warp_width]
        if not narrower:
            raise TraceFormatError(
                f"the trace has warps of {self.data.warp_width} threads, not of {warp_width}: "
                f"{_HOW_TO_GET_A_WIDTH.format(warp_width)}"
            )
        found = narrower[-1]
        try:
            while found.warp_width < warp_width:
                found = widened(found)
        except TraceFormatError as error:
            raise TraceFormatError(f"{error}; {_HOW_TO_GET_A_WIDTH.format(warp_width)}") from None
        return found

    def on_equal_memory(self, known: SimulatedDevice | KeptDevice, device: Device) -> KernelTrace:
        """The trace for a device whose memory does what that of a `known` one has done."""
        own = (replace(known, device=device),)
        others = tuple(replace(item, simulated=own) for item in self.others)
        return replace(self, simulated=own, others=others)

    def profile(self, device: Device | str) -> KernelProfile:
        """What a profiler would report of this launch on `device`.

        TraceFormatError when its warps are of another width that `at_width` does not give, and
        when the run did not keep its accesses.
        """
        target = load_device(device) if isinstance(device, str) else device
        mine = self.of_device(target)
        trace = mine.at_width(target.architecture.warp_width)
        found = mine._profile(trace, target)
        found = replace(found, assumptions=(*found.assumptions, *self._about_code(trace, target)))
        return replace(found, target=target, has_source=self.has_source)

    def _profile(self, trace: Trace, target: Device) -> KernelProfile:
        """The profile of this code, made or kept."""
        memory = self._memory(trace, target)

        def made() -> KernelProfile:
            # The compiled memory simulator is slow to import and runs of the kernel need none.
            from kernelcast.simcore.profile.profiler import profile

            known = None if memory is None else memory()
            return profile(trace, target, self.repeats, known, self.tables)

        kept = self._kept_at(trace)
        if kept is None or memory is None:
            return made()
        shown = target, self.repeats, self.caches
        return kept_profile(
            kept, lambda: ProfileSource(trace, target, memory(), self.tables), trace, shown, made
        )

    def _kept_at(self, trace: Trace) -> KeptLaunch | None:
        """What is kept of the launch in the warps of a trace, be they joined from narrower ones."""
        if self.kept is None or any(item is trace for item in self.traces):
            return self.kept
        return self.kept.of_mode(f"joined from warps of {self.data.warp_width} threads and more")

    def _about_code(self, trace: Trace, target: Device) -> Iterator[str]:
        """What is assumed because the device does not run the code that was executed."""
        note = self.notes.get(target.name)
        if note is not None:
            yield note
        elif trace.is_machine_code and trace.code != machine_code_name(target):
            yield f"machine code of {trace.code} stands for that of {target.name}"

    def _memory(self, trace: Trace, target: Device) -> Callable[[], MemoryResult] | None:
        """What the launch does to the memory of a device, when it is called.

        None where the trace has no accesses, and no devices were to be simulated on the way.
        """
        launch = LaunchShape(trace.grid, trace.thread_block)
        resident = occupancy(trace.resources, launch, target, held_share(trace))
        for item in self.simulated:
            is_same = item.found is self.caches and item.device == target
            if is_same and item.thread_blocks_per_sm == resident.thread_blocks_per_sm:
                return partial(getattr, item, "memory")
        if self.simulated and not trace.has_memory:
            asked = target, resident.thread_blocks_per_sm, self.caches
            raise TraceFormatError(_not_simulated(self.simulated, *asked))
        if not trace.has_memory:
            return None
        left = with_l1_left(target, trace.resources, resident)
        return cache(partial(self._simulated, trace, left, resident.thread_blocks_per_sm))

    def _simulated(self, trace: Trace, left: Device, thread_blocks_per_sm: int) -> MemoryResult:
        """The memory of a device with the L1 that is `left`, simulated or kept."""
        from kernelcast.simcore.memory.simulated_memory import simulate_memory  # slow to import

        kept = self._kept_at(trace)
        width = trace.warp_width
        if kept is not None:
            sealed = kept.memory(width, left, thread_blocks_per_sm, self.caches)
            if sealed is not None:
                known: MemoryResult = sealed.value
                return known
        is_warm = self.caches is FirstContents.EQUAL_LAUNCH
        found = simulate_memory(trace, left, thread_blocks_per_sm, is_warm)
        if kept is not None:
            kept.keep_memory(width, left, found)
        return found

    def profiles(self, devices: Sequence[Device | str]) -> list[KernelProfile]:
        """`profile` on several devices, in their order, on all cores."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(self.profile, devices))


def _not_simulated(
    simulated: Sequence[SimulatedDevice | KeptDevice],
    target: Device,
    thread_blocks_per_sm: int,
    caches: FirstContents,
) -> str:
    """Why none of the memories that a run simulated is the one that is asked for."""
    of_target = [item for item in simulated if item.device.name == target.name]
    if not of_target:
        known = ", ".join(dict.fromkeys(item.device.name for item in simulated))
        return (
            f"the run simulated the memory of {known}, not of {target.name}: execute the kernel "
            f"with {target.name} among its devices, or without devices"
        )
    nearest = of_target[0]
    differences = []
    if nearest.thread_blocks_per_sm != thread_blocks_per_sm:
        found = nearest.thread_blocks_per_sm
        differences.append(f"{found} thread blocks per SM, not {thread_blocks_per_sm}")
    if nearest.found is not caches:
        differences.append(f"{nearest.found.value} caches, not {caches.value} ones")
    if nearest.device != target:
        differences.append("other facts of the device")
    return (
        f"the run simulated the memory of {target.name} with {' and '.join(differences)}: execute "
        "the kernel with this device and these registers, or without devices"
    )
