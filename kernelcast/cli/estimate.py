"""`kernelcast estimate`: time, limit and explanation of a kernel on one GPU or several."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Group, RenderableType

import kernelcast as kc
from kernelcast.cli import estimate_options, options
from kernelcast.cli.model_options import OwnOptions
from kernelcast.cli.option_bundles import ExecutionOptions, OutputOptions, bundled
from kernelcast.cli.plot import QUADRANT_SPLIT_MODEL, TIME_SHARES_MODEL, check_plot, write_plot
from kernelcast.cli.terminal import show_progress
from kernelcast.cli.trace_source import Simulator, first_compiled
from kernelcast.comparison.records import read_records
from kernelcast.defaults import default_model
from kernelcast.errors import KernelcastError
from kernelcast.models import (
    check_options,
    check_variant,
    get_model,
    model_options,
    needs_paths,
)
from kernelcast.progress import Progress
from kernelcast.report import records, text
from kernelcast.report.summary import summary
from kernelcast.reporting import check_report_target, report_records

__all__ = ["EstimateRequest", "ProfileSource", "estimate"]

_NONE = OwnOptions()
ProfileSource: TypeAlias = Callable[[kc.Device], kc.KernelProfile]
"""The profile of the kernel on a device; the same for all when it was measured."""


@dataclass(frozen=True)
class EstimateRequest:
    """Which estimates are wanted, by default those of each device's default model.

    `reference_time_s` was measured on `reference`; `own` are options that some of the models have;
    the rest as for `kernelcast.estimate`.
    """

    devices: Sequence[kc.Device]
    models: Sequence[str]
    work_type: kc.WorkType | None
    reference: kc.Device
    reference_time_s: float | None
    variant: str | None = None
    own: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The models, the default ones among them."""
        return tuple(self.models or dict.fromkeys(map(default_model, self.devices)))

    @property
    def needs_paths(self) -> bool:
        """Whether one of the models simulates warps."""
        return any(map(needs_paths, self.names))

    @property
    def profiled(self) -> list[kc.Device]:
        """The devices whose memory must be simulated."""
        if self.reference_time_s is None or self.reference in self.devices:
            return [*self.devices]
        return [*self.devices, self.reference]

    def check(self) -> None:
        """Raises KernelcastError for what can be refused before a kernel is executed."""
        for model in self.models:
            check_variant(model, get_model(model), self.variant)
        check_options(self.names, self.own)
        time_s = self.reference_time_s
        if time_s is not None and not (math.isfinite(time_s) and time_s > 0):
            raise KernelcastError(f"--reference-time must be a positive time, got {time_s:g} s")

    def estimates(
        self, source: ProfileSource, profiles: Sequence[kc.KernelProfile]
    ) -> list[kc.Estimate]:
        """One for each model and device, in this order; `profiles` belong to the devices."""
        title = "estimating" + (first_compiled(Simulator.TIMING) if self.needs_paths else "")
        with show_progress(title) as progress:
            return self._estimates(source, profiles, progress or (lambda _share: None))

    def _estimates(
        self,
        source: ProfileSource,
        profiles: Sequence[kc.KernelProfile],
        progress: Progress,
    ) -> list[kc.Estimate]:
        wanted = [
            (model, device, profile)
            for model in self.models or (None,)
            for device, profile in zip(self.devices, profiles, strict=True)
        ]
        factors = {name: self._utilization(source, name) for name in self.names}
        found = []
        for model, device, profile in wanted:
            factor = factors[model or default_model(device)]
            found.append(
                kc.estimate(
                    profile,
                    model,
                    device,
                    work_type=self.work_type,
                    utilization=factor,
                    variant=self.variant,
                    **self._own(model or default_model(device)),
                )
            )
            progress(len(found) / len(wanted))
        return found

    def _utilization(self, source: ProfileSource, model: str) -> float | None:
        if self.reference_time_s is None:
            return None
        return kc.reference_utilization(
            source(self.reference),
            self.reference_time_s,
            model,
            self.reference,
            self.work_type,
            variant=self.variant,
            **self._own(model),
        )

    def _own(self, model: str) -> dict[str, Any]:
        """Returns those of the options that the model has, by name."""
        known = model_options(model)
        return {name: value for name, value in self.own.items() if name in known}


@bundled
def estimate(
    workload: options.OptionalWorkload = None,
    device: options.Devices = None,
    model: estimate_options.Models = None,
    work_type: estimate_options.WorkType = None,
    variant: estimate_options.Variant = None,
    own: OwnOptions = _NONE,
    reference_time: estimate_options.ReferenceTime = None,
    measured_on: estimate_options.MeasuredOn = None,
    measured: estimate_options.Measured = None,
    plot: estimate_options.Plot = None,
    report: estimate_options.Report = None,
    baseline: estimate_options.Baseline = None,
    metrics: estimate_options.Metrics = None,
    kernel: estimate_options.Kernel = None,
    repeats: estimate_options.Repeats = None,
    explain: estimate_options.Explain = None,
    *,
    how: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Predict the time of a kernel on GPUs, and explain what limits it.

    The workload is executed once for all GPUs whose warps are equally wide.
    """
    devices = options.named_devices(device)
    reference = kc.device(measured_on) if measured_on else devices[0]
    options.check_sources(
        is_executed=workload is not None,
        is_measured=metrics is not None,
        of_execution=how.of_workload,
        of_metrics={"--kernel": kernel, "--repeats": repeats},
    )
    models = tuple(model or (() if plot is None else (QUADRANT_SPLIT_MODEL,)))
    request = EstimateRequest(
        devices,
        models,
        work_type,
        reference,
        reference_time,
        variant,
        own.values,
    )
    request.check()
    _check_pictures(request, plot, measured, report, baseline)
    if metrics is not None:
        measured_profile = kc.load_metrics(metrics, reference, kernel, repeats or 1)
        source, profiles = _always(measured_profile), [measured_profile] * len(devices)
    else:
        assert workload is not None
        execution = how.execution(record_paths=request.needs_paths)
        trace = execution.trace(workload, request.profiled)
        source, profiles = trace.profile, trace.profiles(devices)
    estimates = request.estimates(source, profiles)
    if plot is not None:
        drawn = _drawn(request, source, profiles, estimates)
        write_plot(plot, drawn, profiles[0], devices, measured)
    of_estimates = profiles * len(models or (None,))
    if report is not None:
        kc.write_report(report, estimates, of_estimates, baseline=baseline)
    output.show(
        record=lambda: _record(estimates, of_estimates if how.verbose else ()),
        rows=lambda: records.estimate_rows(estimates),
        report=lambda: _report(estimates, how.verbose),
    )


def _drawn(
    request: EstimateRequest,
    source: ProfileSource,
    profiles: Sequence[kc.KernelProfile],
    estimates: Sequence[kc.Estimate],
) -> Sequence[kc.Estimate]:
    """The estimates of a picture: where a kernel is one line, of its profile of the first GPU."""
    if set(request.models) == {TIME_SHARES_MODEL}:
        return estimates
    return request.estimates(source, [profiles[0]] * len(request.devices))


def _always(profile: kc.KernelProfile) -> ProfileSource:
    return lambda _device: profile


def _check_pictures(
    request: EstimateRequest,
    plot: Path | None,
    measured_s: float | None,
    report: Path | None,
    baseline: Path | None,
) -> None:
    """Raises KernelcastError if no plot or report can come of a run, before it begins."""
    if plot is not None:
        check_plot(plot, request.models, request.devices, measured_s)
    if report is not None:
        check_report_target(report)
    if baseline is not None:
        if report is None:
            raise KernelcastError("--baseline goes with --report; `kernelcast compare` needs none")
        read_records(baseline)


def _record(
    estimates: Sequence[kc.Estimate], profiles: Sequence[kc.KernelProfile]
) -> Mapping[str, Any]:
    """The record of the estimates, with details where there are profiles of them."""
    if profiles:
        return report_records(list(zip(estimates, profiles, strict=True)))[0]
    return records.estimates_record(estimates[0].kernel, estimates)


def _report(estimates: Sequence[kc.Estimate], detail: int) -> RenderableType:
    details = text.estimate_details(estimates, is_complete=detail > 1) if detail else Group()
    return Group(summary(estimates), details)
