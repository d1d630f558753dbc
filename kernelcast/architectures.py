"""What if the GPU were another one: a kernel's estimates on changed architectures, side by side.

docs/whatif.md says what can be changed and what follows from a change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

from kernelcast.api import estimate
from kernelcast.errors import KernelcastError, LaunchError, ModelNotApplicable
from kernelcast.execution.code import machine_code_name
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.memory_simulation import SimulatedDevice
from kernelcast.models import MODELS, get_model, needs_paths
from kernelcast.models.estimate import Estimate
from kernelcast.notebook import Table, Tabular
from kernelcast.simcore.device.changed import (
    FollowedFact,
    changed_device,
    followed_facts,
    typed_changes,
)
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.rescaling import Scalar
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import KernelProfile, LaunchShape, WorkType
from kernelcast.store.memory_facts import MemoryFacts, memory_facts
from kernelcast.units import format_seconds
from kernelcast.workload.workload import Workload

__all__ = [
    "Architecture",
    "ExecutedKernel",
    "KernelSource",
    "StoredKernel",
    "WhatIf",
    "WhatIfRow",
    "architectures",
    "compare_architectures",
    "profiles_of",
    "trace_of",
    "whatif",
]


class KernelSource(Protocol):
    """Where the kernel comes from: a workload that is executed, or a trace."""

    def refusal(self, device: Device) -> str:
        """Why the launch does not fit the device; empty when it does."""

    def trace(self, devices: Sequence[Device]) -> KernelTrace:
        """One launch, with the memories of the devices simulated or its accesses kept."""

    def with_accesses(self, device: Device) -> KernelTrace:
        """One launch as a device executes it, with its accesses kept."""


@dataclass(frozen=True)
class StoredKernel:
    """A trace that has kept its accesses."""

    stored: KernelTrace

    def refusal(self, device: Device) -> str:
        """Why the launch does not fit the device; empty when it does."""
        trace = self.stored.at_width(device.architecture.warp_width)
        try:
            occupancy(trace.resources, LaunchShape(trace.grid, trace.thread_block), device)
        except LaunchError as error:
            return error.message
        return ""

    def trace(self, devices: Sequence[Device]) -> KernelTrace:
        """The stored trace, whatever the devices."""
        return self.stored

    def with_accesses(self, device: Device) -> KernelTrace:
        """The stored trace, which holds its accesses."""
        return self.stored


@dataclass(frozen=True)
class ExecutedKernel:
    """A workload in one of its sizes; `record_paths` for models that simulate an SM."""

    workload: Workload
    size: str | None
    record_paths: bool

    def refusal(self, device: Device) -> str:
        """Why the launch does not fit the device; empty when it does."""
        return self.workload.refusal(device, self.size)

    def trace(self, devices: Sequence[Device]) -> KernelTrace:
        """Executes the launch, with the memories of the devices simulated."""
        return self.workload.run(self.size, devices=devices, record_paths=self.record_paths)

    def with_accesses(self, device: Device) -> KernelTrace:
        """Executes the launch as a device does, with its accesses kept."""
        return self.workload.run(
            self.size,
            warp_width=device.architecture.warp_width,
            target=device,
            record_paths=self.record_paths,
        )


@dataclass(frozen=True)
class Architecture:
    """A device and what was changed in it.

    `changes` by the names that were asked for, `followed` what depends on them. Neither has
    anything in it for the device as it is.
    """

    base: str
    device: Device
    changes: Mapping[str, Scalar]
    followed: tuple[FollowedFact, ...] = ()

    @property
    def label(self) -> str:
        """The changes as text: `sm_count=40, l1=none`; `as it is` for the unchanged device."""
        return ", ".join(f"{k}={_shown(v)}" for k, v in self.changes.items()) or "as it is"


def _shown(value: Scalar) -> str:
    """`1200000000.0` as `1.2e+09`, what needs more digits in full."""
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return str(value)


@dataclass(frozen=True)
class WhatIfRow:
    """One model on one architecture; `speedup` over the same model on the unchanged device."""

    architecture: Architecture
    estimate: Estimate
    speedup: float


@dataclass(frozen=True, repr=False)
class WhatIf(Tabular):
    """`statements`: which models do not react and why, which launches do not fit, in sentences."""

    kernel: str
    rows: tuple[WhatIfRow, ...]
    statements: tuple[str, ...]

    @property
    def label(self) -> str:
        """Kernel, and how many estimates."""
        return f"what-if of {source_name(self.kernel)}: {len(self.rows)} estimates"

    def table(self) -> Table:
        """A row for each model and architecture."""
        rows = (
            (
                row.architecture.base,
                row.architecture.label,
                row.estimate.model,
                format_seconds(row.estimate.time_s),
                f"{row.speedup:.3f}",
                row.estimate.bottleneck,
            )
            for row in self.rows
        )
        return ("device", "changed", "model", ">time", ">speed-up", "limited by"), rows

    def row(self, model: str, **changes: Scalar) -> WhatIfRow:
        """The row of a model; KeyError without one. Dots in names are written as `__`."""
        wanted = {name.replace("__", "."): value for name, value in changes.items()}
        for item in self.rows:
            if item.estimate.model == model and dict(item.architecture.changes) == wanted:
                return item
        raise KeyError(f"{model} with {wanted}")


def whatif(
    kernel: Workload | KernelTrace,
    device: Device | str | Sequence[Device | str],
    changes: Mapping[str, Scalar] | None = None,
    *,
    sweep: Mapping[str, Sequence[Scalar]] | None = None,
    models: Sequence[str] | None = None,
    work_type: WorkType | str | None = None,
    size: str | None = None,
) -> WhatIf:
    """Estimates of a kernel on devices as they are and with `changes` made, by all models.

    `sweep` gives facts several values; several sweeps are combined with each other, each
    combination with `changes`. A workload is executed once for each width of warps; a trace needs
    its accesses. DeviceFileError, before anything runs, for what no GPU can be.
    """
    given = [device] if isinstance(device, Device | str) else device
    targets = [load_device(item) if isinstance(item, str) else item for item in given]
    found = [item for target in targets for item in architectures(target, changes, sweep)]
    chosen = tuple(MODELS) if models is None else tuple(models)
    if isinstance(kernel, KernelTrace):
        return compare_architectures(StoredKernel(kernel), found, chosen, work_type)
    source = ExecutedKernel(kernel, size, any(map(needs_paths, chosen)))
    return compare_architectures(source, found, chosen, work_type)


def architectures(
    device: Device,
    changes: Mapping[str, Scalar] | None = None,
    sweep: Mapping[str, Sequence[Scalar]] | None = None,
) -> tuple[Architecture, ...]:
    """The device as it is, then with the changes and every combination of the swept values."""
    swept = sweep or {}
    for name in swept:
        if name in (changes or {}):
            raise KernelcastError(f"{name} is both set and swept")
        if not swept[name]:
            raise KernelcastError(f"{name} is swept over no values")
    found = [Architecture(device.name, device, {})]
    for values in product(*swept.values()):
        made = {**(changes or {}), **dict(zip(swept, values, strict=True))}
        if made:
            shown = typed_changes(device, made)
            followed = followed_facts(device, made)
            found.append(Architecture(device.name, changed_device(device, made), shown, followed))
    return tuple(found)


def compare_architectures(
    source: KernelSource,
    found: Sequence[Architecture],
    models: Sequence[str],
    work_type: WorkType | str | None = None,
) -> WhatIf:
    """Every model on every architecture; the rows of a model follow each other, unchanged first.

    Raises why, when no model has anything to say of an unchanged device.
    """
    for model in models:
        get_model(model)
    fitting, statements = _fitting(source, found)
    profiles = list(zip(fitting, profiles_of(source, fitting), strict=True))
    rows: list[WhatIfRow] = []
    for model in models:
        for base in dict.fromkeys(item.base for item in found):
            own = [pair for pair in profiles if pair[0].base == base]
            answer, said = _by_model(model, own, work_type)
            rows += answer
            statements += said
    if not rows:
        raise ModelNotApplicable("; ".join(statements))
    return WhatIf(rows[0].estimate.kernel, tuple(rows), tuple(statements))


def _by_model(
    model: str,
    profiles: Sequence[tuple[Architecture, KernelProfile]],
    work_type: WorkType | str | None,
) -> tuple[list[WhatIfRow], list[str]]:
    """The rows of one model and one device, the unchanged one first, and what is to be said."""
    rows: list[WhatIfRow] = []
    said: list[str] = []
    for architecture, profile in profiles:
        try:
            found = estimate(profile, model, architecture.device, work_type=work_type)
        except ModelNotApplicable as reason:
            said.append(f"{model} on {architecture.base} {architecture.label}: {reason}")
            if not rows:  # nothing to compare the others with
                return [], [f"{model}: {reason}"]
            continue
        before = rows[0].estimate.time_s if rows else found.time_s
        speedup = before / found.time_s if found.time_s else 1.0
        rows.append(WhatIfRow(architecture, found, speedup))
    return rows, [*said, *_unmoved(model, rows)]


def _unmoved(model: str, rows: Sequence[WhatIfRow]) -> Iterator[str]:
    """What to say of a model none of whose times changes."""
    if len(rows) < 2 or any(row.estimate.time_s != rows[0].estimate.time_s for row in rows):
        return
    first = rows[0].estimate
    names = ", ".join(dict.fromkeys(name for row in rows for name in row.architecture.changes))
    where = f"{model} on {rows[0].architecture.base}"
    if all(row.estimate.terms == first.terms for row in rows):
        yield f"{where} does not react to {names}: none of its terms changes"
    else:
        yield (
            f"{where} reacts to {names}, but its time stays the same: it is limited by "
            f"{first.bottleneck}"
        )


def _fitting(
    source: KernelSource, found: Sequence[Architecture]
) -> tuple[list[Architecture], list[str]]:
    """The architectures that the launch fits, and a sentence for each other one.

    LaunchError when an unchanged device is among those.
    """
    fitting: list[Architecture] = []
    said: list[str] = []
    for item in found:
        reason = source.refusal(item.device)
        if not reason:
            fitting.append(item)
        elif not item.changes:
            raise LaunchError(reason)
        else:
            said.append(f"{item.base} with {item.label}: {reason}")
    return fitting, said


def profiles_of(source: KernelSource, found: Sequence[Architecture]) -> list[KernelProfile]:
    """A profile for each architecture.

    With early release only the execution tells how many thread blocks are resident, so that
    memories cannot be simulated meanwhile.
    """
    usual = [item.device for item in found if not item.device.early_release]
    trace = trace_of(source, usual)
    kept = {
        name: source.with_accesses(device)
        for name, device in {
            _code_and_width(item.device): item.device for item in found if item.device.early_release
        }.items()
    }
    return [
        (kept[_code_and_width(item.device)] if item.device.early_release else trace).profile(
            item.device
        )
        for item in found
    ]


def _code_and_width(device: Device) -> tuple[str | None, int]:
    """Equal for devices that one execution serves."""
    return machine_code_name(device), device.architecture.warp_width


def trace_of(source: KernelSource, devices: Sequence[Device]) -> KernelTrace:
    """One launch with the memory simulated once for all devices whose memories are the same."""
    representatives: dict[MemoryFacts, Device] = {}
    for device in devices:
        representatives.setdefault(memory_facts(device), device)
    trace = source.trace(list(representatives.values()))
    results = {
        memory_facts(item.device): item.memory
        for code in (trace, *trace.others)
        for item in code.simulated
    }
    simulated = tuple(
        SimulatedDevice(device, results[key])
        for device in devices
        if (key := memory_facts(device)) in results
    )
    others = tuple(replace(code, simulated=simulated) for code in trace.others)
    return replace(trace, simulated=simulated, others=others)
