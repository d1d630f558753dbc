"""Configurations of a Triton kernel, ranked by predicted time; none is sent to a GPU."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelcast.errors import CompilationError, InputError, LaunchError
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import Occupancy
from kernelcast.triton_calls.session import (
    CallSession,
    capture,
    errors_of_triton,
    function_of,
)
from kernelcast.units import format_seconds

__all__ = ["TunedConfig", "Tuning", "triton_perf_model", "tune"]


@dataclass(frozen=True)
class TunedConfig:
    """One `triton.Config` that can be launched, with what is predicted of it.

    `registers` per thread, `shared_bytes` per thread block.
    """

    config: Any
    estimate: Estimate
    occupancy: Occupancy
    shared_bytes: int

    @property
    def time_s(self) -> float:
        """The predicted time of one launch."""
        return self.estimate.time_s

    @property
    def registers(self) -> int:
        """Registers of each thread."""
        return self.occupancy.registers_per_thread

    def as_dict(self) -> dict[str, Any]:
        """The configuration and its figures, for JSON."""
        return {
            "config": dict(self.config.all_kwargs()),
            "time_s": self.time_s,
            "bottleneck": self.estimate.bottleneck,
            "registers": self.registers,
            "shared_bytes": self.shared_bytes,
            "occupancy": self.occupancy.fraction,
        }


@dataclass(frozen=True)
class Tuning:
    """Configurations of a kernel on a device, fastest first, and why others cannot be launched."""

    kernel: str
    device: str
    rows: tuple[TunedConfig, ...]
    refused: tuple[tuple[Any, str], ...] = ()

    @property
    def best(self) -> Any:
        """The `triton.Config` with the least predicted time; LaunchError when none fits."""
        if not self.rows:
            raise LaunchError(f"{self.kernel}: no configuration fits {self.device}")
        return self.rows[0].config

    def as_dict(self) -> dict[str, Any]:
        """The table for JSON; a file of it can be shipped with the kernel."""
        return {
            "kernel": self.kernel,
            "device": self.device,
            "configs": [row.as_dict() for row in self.rows],
            "refused": [
                {"config": dict(config.all_kwargs()), "reason": reason}
                for config, reason in self.refused
            ],
        }

    def __str__(self) -> str:
        lines = [f"{self.kernel} on {self.device}"]
        for row in self.rows:
            of_sm = f"{row.registers:4} registers {row.occupancy.fraction:5.0%} occupancy"
            why = row.estimate.bottleneck
            lines.append(f"{format_seconds(row.time_s):>10} {of_sm}  {row.config}  {why}")
        lines += [f"   refused {config}  {reason}" for config, reason in self.refused]
        return "\n".join(lines)


def tune(
    kernel: Any,
    grid: Any,
    args: Sequence[Any],
    *,
    device: Device | str,
    configs: Sequence[Any] | None = None,
    model: str | None = None,
    **constants: Any,
) -> Tuning:
    """Ranks `triton.Config`s of `kernel[grid](*args, **constants)` by predicted time on a device.

    `configs` are by default those of the kernel's `triton.autotune`. Each is compiled; what cannot
    be launched, for its shared memory or registers, is left out with the reason. Launches whose
    paths do not depend on data are estimated from a part of their programs; tensors may stay as
    they are. CompilationError when Triton refuses the function with every configuration.
    """
    function, chosen = _candidates(kernel, configs)
    rows: list[TunedConfig] = []
    refused: list[tuple[Any, str]] = []
    first: CompilationError | None = None
    with capture(device, model=model) as session:
        for config in chosen:
            try:
                rows.append(_tried(session, function, grid, args, config, constants))
            except LaunchError as error:
                refused.append((config, str(error)))
            except CompilationError as error:
                first = first or error
                refused.append((config, str(error)))
        if first is not None and not rows:
            raise first
        rows.sort(key=lambda row: row.time_s)
        name = function_of(function).__name__
        return Tuning(name, session.devices[0].name, tuple(rows), tuple(refused))


def triton_perf_model(device: Device | str, *, model: str | None = None) -> Callable[..., float]:
    """A `perf_model` for `prune_configs_by` of `triton.autotune`: predicted seconds of a launch.

    `{"perf_model": kc.triton_perf_model("h100-sxm"), "top_k": 10}` leaves ten configurations to be
    measured, infinite for one that cannot be launched.
    """

    def seconds(grid: Any, warmup: bool = False, **given: Any) -> float:
        del warmup
        function = function_of(_autotuner_of(seconds))
        with capture(device, model=model) as session:
            try:
                with errors_of_triton(function), session.predicting() as calls:
                    session.run(function, grid, (), given)
            except LaunchError:
                return float("inf")
        return calls[-1].estimate.time_s

    return seconds


def _candidates(kernel: Any, configs: Sequence[Any] | None) -> tuple[Any, Sequence[Any]]:
    """The kernel without its autotuner, and the configurations to try."""
    is_autotuned = hasattr(kernel, "configs")
    chosen = kernel.configs if configs is None and is_autotuned else configs
    if not chosen:
        raise InputError("give configs, or a kernel under triton.autotune")
    return kernel.fn if is_autotuned else kernel, chosen


def _tried(
    session: CallSession,
    function: Any,
    grid: Any,
    args: Sequence[Any],
    config: Any,
    constants: Mapping[str, Any],
) -> TunedConfig:
    """What is predicted with one configuration; LaunchError when it does not fit the device."""
    keywords = {**constants, **config.all_kwargs()}
    if config.pre_hook is not None:
        config.pre_hook({**dict(zip(function.arg_names, args, strict=False)), **keywords})
    with errors_of_triton(function), session.predicting() as calls:
        session.run(function, grid, args, keywords)
    call = calls[-1]
    profile = call.profiles[session.devices[0].name]
    kernel = call.kernels[session.devices[0].name]
    assert profile.occupancy is not None, "an executed launch has one"
    return TunedConfig(config, call.estimate, profile.occupancy, kernel.shared_bytes)


def _autotuner_of(model: Callable[..., float]) -> Any:
    """The autotuner that asks a model: Triton tells models the arguments, but not the kernel."""
    frame = inspect.currentframe()
    while frame is not None:
        asking = frame.f_locals.get("self")
        if getattr(asking, "perf_model", None) is model:
            return asking
        frame = frame.f_back
    raise InputError("triton_perf_model is for prune_configs_by of triton.autotune; see kc.tune")
