"""Configurations of a Triton kernel, ranked by predicted time; none is sent to a GPU."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from kernelcast.errors import CompilationError, InputError, LaunchError
from kernelcast.models.estimate import Estimate
from kernelcast.models.interval.model import NAME as INTERVAL
from kernelcast.notebook import Tabular
from kernelcast.ranking.search import Search
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profile import Occupancy
from kernelcast.triton_calls.session import (
    CallSession,
    errors_of_triton,
    function_of,
    launches_on,
)
from kernelcast.triton_calls.trial import Prediction, Trial
from kernelcast.triton_calls.workers import Outcome, predictions
from kernelcast.units import format_seconds

__all__ = ["TuneOptions", "TunedConfig", "Tuning", "triton_perf_model", "tune"]


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """How configurations are tried.

    All are put in order by what a few of their thread blocks tell. `model`, by default the usual
    one, estimates the first, and goes on until `patience` more in a row are no faster than the
    fastest. `exhaustive`: it estimates all. `processes`: by default one for each core.
    """

    model: str | None = None
    patience: int = 0
    exhaustive: bool = False
    processes: int | None = None


@dataclass(frozen=True)
class TunedConfig:
    """One `triton.Config` that can be launched, with what is predicted of it."""

    config: Any
    prediction: Prediction

    @property
    def estimate(self) -> Estimate:
        """The predicted time, term by term."""
        return self.prediction.estimate

    @property
    def occupancy(self) -> Occupancy:
        """How much of an SM it fills."""
        return self.prediction.occupancy

    @property
    def time_s(self) -> float:
        """The predicted time of one launch."""
        return self.prediction.time_s

    @property
    def registers(self) -> int:
        """Registers of each thread."""
        return self.occupancy.registers_per_thread

    def as_dict(self) -> dict[str, Any]:
        """The configuration and its figures, for JSON; shared memory is that of a thread block."""
        return {
            "configuration": dict(self.config.all_kwargs()),
            "time_s": self.time_s,
            "bottleneck": self.estimate.bottleneck,
            "registers": self.registers,
            "shared_bytes": self.prediction.shared_bytes,
            "occupancy": self.occupancy.fraction,
        }

    def __str__(self) -> str:
        of_sm = f"{self.registers:4} registers {self.occupancy.fraction:5.0%} occupancy"
        why = self.estimate.bottleneck
        return f"{format_seconds(self.time_s):>10} {of_sm}  {self.config}  {why}"


@dataclass(frozen=True, repr=False)
class Tuning(Tabular):
    """Configurations of a kernel on a device, fastest first, and why others cannot be launched.

    `passed_over`: those that the model did not estimate, with their quick predictions.
    """

    kernel: str
    device: str
    rows: tuple[TunedConfig, ...]
    passed_over: tuple[TunedConfig, ...] = ()
    refused: tuple[tuple[Any, str], ...] = ()

    @property
    def label(self) -> str:
        """How many configurations there are, and the time of the fastest."""
        best = f", fastest {format_seconds(self.rows[0].time_s)}" if self.rows else ""
        return f"tuning of {self.kernel} on {self.device}: {len(self.rows)} configurations{best}"

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
            "rows": [{"rank": rank, **row.as_dict()} for rank, row in enumerate(self.rows, 1)],
            "passed_over": [row.as_dict() for row in self.passed_over],
            "refused": [
                {"configuration": dict(config.all_kwargs()), "reason": reason}
                for config, reason in self.refused
            ],
        }

    def __str__(self) -> str:
        lines = [f"{self.kernel} on {self.device}", *map(str, self.rows)]
        if self.passed_over:
            lines += ["not estimated; a few thread blocks tell:", *map(str, self.passed_over)]
        lines += [f"   refused {config}  {reason}" for config, reason in self.refused]
        return "\n".join(lines)


def tune(
    kernel: Any,
    grid: Any,
    args: Sequence[Any],
    *,
    device: Device | str,
    configs: Sequence[Any] | None = None,
    options: TuneOptions | None = None,
    **constants: Any,
) -> Tuning:
    """Ranks `triton.Config`s of `kernel[grid](*args, **constants)` by predicted time on a device.

    `configs` are by default those of the kernel's `triton.autotune`. Each is compiled; what cannot
    be launched, for its shared memory or registers, is left out with the reason. Launches whose
    paths do not depend on data are estimated from a part of their programs; tensors stay as they
    are. CompilationError when Triton refuses the function with every configuration.
    """
    chosen = options or TuneOptions()
    function, candidates = _candidates(kernel, configs)
    target = load_device(device) if isinstance(device, str) else device
    trial = Trial(function, tuple(args), constants, target, chosen.model)
    programs = [trial.grid_of(grid, config) for config in candidates]
    processes = chosen.processes or os.cpu_count() or 1

    def outcomes(numbers: Sequence[int], quickly: bool) -> Iterator[Outcome]:
        tasks = [(programs[n], candidates[n], quickly) for n in numbers]
        return predictions(trial, tasks, processes)

    search: Search[Prediction] = Search(
        len(candidates), outcomes, patience=chosen.patience, sketches=not chosen.exhaustive
    )
    if not search.found:
        for error in search.errors.values():
            if isinstance(error, CompilationError):
                raise error
    return Tuning(
        kernel=trial.name,
        device=trial.device.name,
        rows=_rows(candidates, search.found, search.ranked),
        passed_over=_rows(candidates, search.quick, search.passed_over),
        refused=tuple((candidates[n], str(error)) for n, error in search.errors.items()),
    )


def _rows(
    configs: Sequence[Any], predicted: Mapping[int, Prediction], numbers: Sequence[int]
) -> tuple[TunedConfig, ...]:
    return tuple(TunedConfig(configs[number], predicted[number]) for number in numbers)


def triton_perf_model(device: Device | str, *, model: str | None = None) -> Callable[..., float]:
    """A `perf_model` for `prune_configs_by` of `triton.autotune`: predicted seconds of a launch.

    `{"perf_model": kc.triton_perf_model("h100-sxm"), "top_k": 10}` leaves ten configurations to be
    measured, infinite for one that cannot be launched.
    """

    def seconds(grid: Any, warmup: bool = False, **given: Any) -> float:
        del warmup
        function = function_of(_autotuner_of(seconds))
        with launches_on(device, model=model) as session:
            try:
                return _predicted_s(session, function, grid, given)
            except LaunchError:
                return math.inf

    return seconds


def _predicted_s(session: CallSession, function: Any, grid: Any, given: Mapping[str, Any]) -> float:
    """The time that a few thread blocks tell, or that of the model where they cannot.

    LaunchError where the launch does not fit the device.
    """
    is_usual = session.model in (None, INTERVAL)
    for quickly in (True, False) if is_usual else (False,):
        with (
            suppress(LaunchError) if quickly else nullcontext(),
            errors_of_triton(function),
            session.predicting(quickly=quickly) as calls,
        ):
            session.run(function, grid, (), given)
            return calls[-1].estimate.time_s
    raise AssertionError("the model has told the time, or why not")


def _candidates(kernel: Any, configs: Sequence[Any] | None) -> tuple[Any, Sequence[Any]]:
    """The kernel without its autotuner, and the configurations to try."""
    is_autotuned = hasattr(kernel, "configs")
    chosen = kernel.configs if configs is None and is_autotuned else configs
    if not chosen:
        raise InputError("give configs, or a kernel under triton.autotune")
    return kernel.fn if is_autotuned else kernel, chosen


def _autotuner_of(model: Callable[..., float]) -> Any:
    """The autotuner that asks a model: Triton tells models the arguments, but not the kernel."""
    frame = inspect.currentframe()
    while frame is not None:
        asking = frame.f_locals.get("self")
        if getattr(asking, "perf_model", None) is model:
            return asking
        frame = frame.f_back
    raise InputError("triton_perf_model is for prune_configs_by of triton.autotune; see kc.tune")
