"""Launches of Triton kernels, `kernel[grid](...)`, executed and estimated without a GPU."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from kernelcast.api import estimate
from kernelcast.defaults import only_time
from kernelcast.errors import InputError, LaunchError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.inputs.native.triton_stages import assembled_once
from kernelcast.inputs.numba_kernel import NumbaKernel
from kernelcast.inputs.triton_kernel import TritonKernel, compilation_error
from kernelcast.models.estimate import Estimate
from kernelcast.models.interval.model import NAME as INTERVAL
from kernelcast.notebook import Tabular
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.host.collector import collector_paused
from kernelcast.simcore.launch.launch import Argument
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.triton_calls.descriptors import TENSOR_MAP, tensor_map
from kernelcast.triton_calls.driver import CompiledLaunch, KernelcastDriver
from kernelcast.triton_calls.tensors import HostTensors, as_tensor
from kernelcast.units import format_seconds

__all__ = [
    "JOINING",
    "CallSession",
    "CapturedCall",
    "Devices",
    "capture",
    "devices_of",
    "errors_of_triton",
    "estimate_call",
    "function_of",
    "launches_on",
]

Devices = Device | str | Sequence[Device | str]
"""A device, or several."""
_MS_PER_S = 1e3
JOINING = {
    "torch": "kernelcast.torch_modules.capturing.compiled_functions",
    "numba.cuda": "kernelcast.numba_calls.numba_launches",
}
"""Functions, of modules above this one, that make launches of other libraries a session's."""
_OPTIONS = ("num_warps", "num_stages", "num_ctas")


@dataclass(frozen=True)
class CapturedCall:
    """One launch: `estimates` and `profiles` by device name, `kernels` likewise.

    `constants`: the compile-time values, arguments that are equal to 1 among them; `options`:
    `num_warps`, `num_stages` and `num_ctas`.
    """

    name: str
    grid: tuple[int, ...]
    constants: Mapping[str, Any]
    options: Mapping[str, int]
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    profiles: Mapping[str, KernelProfile] = field(default_factory=dict)
    kernels: Mapping[str, TritonKernel | NumbaKernel] = field(default_factory=dict)

    @property
    def estimate(self) -> Estimate:
        """The estimate on the first device."""
        return next(iter(self.estimates.values()))

    @property
    def ptx(self) -> str:
        """What Triton compiled for the first device."""
        return next(iter(self.kernels.values())).ptx

    def __str__(self) -> str:
        times = ", ".join(
            f"{device} {format_seconds(item.time_s)} ({item.bottleneck})"
            for device, item in self.estimates.items()
        )
        return f"{self.name}{list(self.grid)}: {times}"


class CallSession(Tabular):
    """The launches of a `with capture(...)` block, in their order."""

    def __init__(self, devices: Sequence[Device], model: str | None = None) -> None:
        self.devices = tuple(devices)
        self.model = model
        self.calls: list[CapturedCall] = []
        self.wants_results = True
        self._wants_reasons = True
        self._groups = [
            (KernelcastDriver(group[0], self), group) for group in _by_architecture(devices)
        ]
        self._made = self.calls
        self._keeps_tensors = False
        self._sketches = False

    def __str__(self) -> str:
        return "\n".join(map(str, self.calls))

    @property
    def label(self) -> str:
        """How many launches there are, and the devices."""
        names = ", ".join(device.name for device in self.devices)
        return f"{len(self.calls)} captured launches on {names}"

    @property
    def groups(self) -> list[list[Device]]:
        """The devices, those together for which code is the same."""
        return [group for _, group in self._groups]

    @property
    def driver(self) -> KernelcastDriver:
        """The driver of the first device, whose results stay in the tensors."""
        return self._groups[0][0]

    def seconds(self, device: Device | str | None = None) -> float:
        """The predicted time of all launches on a device, by default the first one."""
        chosen = self.devices[0] if device is None else device
        name = load_device(chosen).name if isinstance(chosen, str) else chosen.name
        return sum(call.estimates[name].time_s for call in self.calls)

    def run(self, kernel: Any, grid: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Launches a kernel once for each architecture, on copies of the tensors but for the first.

        Returns what Triton returns for the first one.
        """
        given = [as_tensor(value) for value in args]
        named = {name: as_tensor(value) for name, value in keywords.items()}
        found: list[list[CapturedCall]] = []
        compiled = None
        for driver, _ in reversed(self._groups):
            keeps_tensors = driver is not self.driver or not self.wants_results
            with self._making(driver, keeps_tensors=keeps_tensors) as made:
                compiled = kernel.run(*given, grid=grid, warmup=False, **named)
            found.append(made)
        self._made.extend(map(_joined, zip(*reversed(found), strict=True)))
        return compiled

    def launch(self, compiled: CompiledLaunch, grid: Sequence[int], args: Sequence[Any]) -> None:
        """Executes one launch and estimates it on the devices of the active driver."""
        active = _driver_of_triton().active
        group = next(group for driver, group in self._groups if driver is active)
        given = list(compiled.parameters([as_tensor(value) for value in args]))
        # a sketch undoes what it writes
        keeps_tensors = self._keeps_tensors and not self._sketches
        tensors = HostTensors(_tensors(given), copies=keeps_tensors)
        run = partial(
            compiled.kernel.run,
            [_argument(kind, value, tensors) for _, kind, value in given],
            grid=grid,
            devices=group,
            memory=tensors.memory,
            results=self.wants_results,
        )
        if self._sketches:
            trace = run(sampling=Sampling.SKETCH)
        else:
            trace = run() if self.wants_results else _sampled(run)
        profiles = {device.name: trace.profile(device) for device in group}
        model = INTERVAL if self._sketches else self.model
        own = {
            device.name: {} if self._wants_reasons else only_time(model, device, ranged=False)
            for device in group
        }
        metadata = compiled.metadata
        self._made.append(
            CapturedCall(
                name=compiled.kernel.name,
                grid=tuple(grid),
                constants=compiled.constants,
                options={name: getattr(metadata, name) for name in _OPTIONS},
                estimates={
                    name: estimate(item, model, **own[name]) for name, item in profiles.items()
                },
                profiles=profiles,
                kernels=dict.fromkeys(profiles, compiled.kernel),
            )
        )

    def measure(self, call: Callable[[], object]) -> float:
        """The milliseconds of the launches of `call` on the first device; infinite if none fit."""
        try:
            with self.predicting() as made:
                call()
        except LaunchError:
            return math.inf
        return sum(item.estimate.time_s for item in made) * _MS_PER_S

    @contextmanager
    def predicting(
        self, *, quickly: bool = False, everywhere: bool = False
    ) -> Iterator[list[CapturedCall]]:
        """Launches are timed for the first device alone; nobody wants their results, nor reasons.

        They go to a list of their own; tensors stay as they are. `quickly`: model `interval` times
        sketches of them. `everywhere`: for all devices, and with reasons.
        """
        before = self.wants_results, self._groups, self._sketches, self._wants_reasons
        self.wants_results = False
        self._groups = self._groups if everywhere else self._groups[:1]
        self._sketches, self._wants_reasons = quickly, everywhere
        try:
            with (
                collector_paused(),
                self._making(self.driver, keeps_tensors=True) as made,
            ):
                yield made
        finally:
            self.wants_results, self._groups, self._sketches, self._wants_reasons = before

    @contextmanager
    def _making(
        self, driver: KernelcastDriver, *, keeps_tensors: bool
    ) -> Iterator[list[CapturedCall]]:
        """Launches go to a list of their own, and to that driver."""
        config = _driver_of_triton()
        before = config.active, self._made, self._keeps_tensors
        made: list[CapturedCall] = []
        self._made, self._keeps_tensors = made, keeps_tensors
        config.set_active(driver)
        try:
            yield made
        finally:
            active, self._made, self._keeps_tensors = before
            config.set_active(active)


@contextmanager
def capture(device: Devices, *, model: str | None = None) -> Iterator[CallSession]:
    """Launches of Triton kernels within the block run here, on NumPy arrays or CPU tensors.

    `kernel[grid](...)` of functions under `triton.jit`, `autotune` and `heuristics` is specialised
    and compiled by Triton as for `device`, executed completely, and estimated by `model` on
    one or several devices. An autotuner takes predicted times for measured ones. Functions under
    `torch.compile` launch the kernels that inductor generates for the first device, and those under
    `numba.cuda.jit` run as well, where torch and Numba were imported before the block.
    InputError when Triton is not installed or does not compile for a device.
    """
    with launches_on(device, model=model) as session, ExitStack() as others:
        for loaded, joining in JOINING.items():
            if loaded in sys.modules:
                name, _, function = joining.rpartition(".")
                join = getattr(importlib.import_module(name), function)
                others.enter_context(join(session))
        yield session


@contextmanager
def launches_on(device: Devices, *, model: str | None = None) -> Iterator[CallSession]:
    """Launches of Triton kernels are those of a session, as `capture` has it; torch stays alone."""
    config = _driver_of_triton()
    interface = importlib.import_module("triton.runtime.jit").KernelInterface
    session = CallSession(devices_of(device), model)

    def launcher(kernel: Any, grid: Any) -> Callable[..., Any]:
        return lambda *args, **keywords: session.run(kernel, grid, args, keywords)

    active, plain = _active_before(config), interface.__getitem__
    interface.__getitem__ = launcher
    config.set_active(session.driver)
    try:
        with assembled_once():
            yield session
    finally:
        interface.__getitem__ = plain
        config.set_active(active)


def estimate_call(
    kernel: Any,
    grid: Any,
    args: Sequence[Any],
    *,
    device: Devices,
    model: str | None = None,
    results: bool = True,
    **constants: Any,
) -> CapturedCall:
    """One launch `kernel[grid](*args, **constants)`, as `capture` makes it.

    Without `results` tensors stay as they are, and a large launch is estimated from a part of its
    programs. CompilationError when Triton refuses the function, LaunchError when the launch
    does not fit the device.
    """
    with launches_on(device, model=model) as session:
        session.wants_results = results
        with errors_of_triton(kernel):
            session.run(kernel, grid, args, constants)
    return session.calls[-1]


@contextmanager
def errors_of_triton(kernel: Any) -> Iterator[None]:
    """Raises what Triton raises as errors of kernelcast."""
    errors = importlib.import_module("triton.errors")
    resources = importlib.import_module("triton.runtime.errors").OutOfResources
    try:
        yield
    except resources as error:
        raise LaunchError(str(error).splitlines()[0]) from None
    except errors.TritonError as error:
        raise compilation_error(function_of(kernel), error) from None


def function_of(kernel: Any) -> Any:
    """The function under `triton.jit` within decorators."""
    while not hasattr(kernel, "raw_src"):
        kernel = kernel.fn
    return kernel


def _tensors(given: Sequence[tuple[str, str, Any]]) -> Iterator[tuple[str, Any]]:
    """Names and values of the arguments that lie in memory."""
    for name, kind, value in given:
        if kind.startswith("*"):
            yield name, value
        elif kind == TENSOR_MAP:
            yield name, value[0].base


def _argument(kind: str, value: Any, tensors: HostTensors) -> Argument:
    """What a kernel takes for an argument."""
    if kind.startswith("*"):
        return tensors.pointer(value)
    if kind == TENSOR_MAP:
        descriptor, layout = value
        return tensor_map(descriptor, layout, int(tensors.pointer(descriptor.base)))
    found: Argument = value
    return found


def _sampled(run: Callable[..., KernelTrace]) -> KernelTrace:
    """The trace of a part of the thread blocks where these may stand for all, else of all."""
    try:
        return run(sampling=Sampling.ALWAYS)
    except LaunchError:
        return run()


def _joined(calls: Sequence[CapturedCall]) -> CapturedCall:
    """One launch of what it was for each architecture."""
    return replace(
        calls[0],
        estimates={name: item for call in calls for name, item in call.estimates.items()},
        profiles={name: item for call in calls for name, item in call.profiles.items()},
        kernels={name: item for call in calls for name, item in call.kernels.items()},
    )


def devices_of(given: Devices) -> list[Device]:
    """The devices that are given by themselves or by name; InputError when there is none."""
    items = [given] if isinstance(given, (Device, str)) else list(given)
    if not items:
        raise InputError("name a device to estimate launches on")
    return [load_device(item) if isinstance(item, str) else item for item in items]


def _by_architecture(devices: Sequence[Device]) -> list[list[Device]]:
    """Devices that Triton compiles alike for, in the order of the first of each."""
    groups: dict[str, list[Device]] = {}
    for device in devices:
        groups.setdefault(device.architecture.compute_capability, []).append(device)
    return list(groups.values())


def _driver_of_triton() -> Any:
    try:
        return importlib.import_module("triton.runtime.driver").driver
    except ImportError as error:
        raise InputError(f"this needs Triton: pip install triton ({error})") from None


def _active_before(config: Any) -> Any:
    """The driver that Triton has; None where there is no GPU."""
    try:
        return config.active
    except RuntimeError:
        return None
