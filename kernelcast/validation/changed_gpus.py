"""GPUs that are changed fact by fact: one becomes another, and better hardware is never slower."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelcast.api import estimate
from kernelcast.errors import ModelNotApplicable
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.models import MODELS
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.device.named_facts import device_facts
from kernelcast.simcore.device.rescaling import Scalar
from kernelcast.units import format_seconds
from kernelcast.validation.paper_figures import PaperFigure, Subject
from kernelcast.validation.workload_suite import SUITE
from kernelcast.workload.file import load_workload

__all__ = ["CHANGED_GPUS", "changed_gpu_figures", "differing_facts", "estimates_by_model"]

CHANGED_GPUS = "Changed GPUs"
_BEFORE, _WANTED = "gtx-480", "tesla-m2050"
_KERNEL = SUITE / "gemm" / "tiled.toml"
_FACTS = {
    "architecture.clock_hz": 2.0,
    "architecture.sm_count": 2.0,
    "dram.bandwidth_bytes_per_s": 2.0,
    "shared.banks": 2.0,
    "timing.l2_latency_cycles": 0.5,
}
"""Factors of the facts in a change that is for the better of any kernel."""
_ROUNDING = 1e-9


def changed_gpu_figures(models: Sequence[str] = ()) -> Iterator[PaperFigure]:
    """Executes one kernel, a few seconds. All models unless some are named."""
    chosen = tuple(models or MODELS)
    trace = load_workload(_KERNEL).run("small", record_paths=True)
    yield from _exactness_figures(trace, chosen)
    yield from _elasticity_figures(trace, chosen, must_react=not models)


def differing_facts(before: Device, wanted: Device) -> dict[str, Scalar]:
    """The facts that differ, with the wanted values."""
    has, wants = device_facts(before), device_facts(wanted)
    return {name: value for name, value in wants.items() if has.get(name) != value}


def estimates_by_model(
    trace: KernelTrace, device: Device, models: Sequence[str]
) -> dict[str, Estimate]:
    """Estimates of the models that have something to say, by model."""
    profile = trace.profile(device)
    found = {}
    for model in models:
        try:
            found[model] = estimate(profile, model, device)
        except ModelNotApplicable:
            continue
    return found


def _exactness_figures(trace: KernelTrace, models: Sequence[str]) -> Iterator[PaperFigure]:
    before, wanted = load_device(_BEFORE), load_device(_WANTED)
    changes = differing_facts(before, wanted)
    made = estimates_by_model(trace, changed_device(before, changes), models)
    others = estimates_by_model(trace, wanted, models)
    subject = Subject(CHANGED_GPUS, f"{_BEFORE} as {_WANTED}", trace.data.kernel)
    yield subject.same(
        f"models that apply, {len(changes)} facts set", ", ".join(others), ", ".join(made)
    )
    for model in sorted(made.keys() & others.keys()):
        yield subject.judged(
            f"time by {model}",
            format_seconds(others[model].time_s),
            format_seconds(made[model].time_s),
            "exactly, in every term",
            is_met=made[model].terms == others[model].terms,
        )


def _elasticity_figures(
    trace: KernelTrace, models: Sequence[str], *, must_react: bool
) -> Iterator[PaperFigure]:
    """`must_react`: one of the models must gain by each fact, which holds for all of them."""
    device = load_device(_BEFORE)
    before, facts = estimates_by_model(trace, device, models), device_facts(device)
    subject = Subject(CHANGED_GPUS, f"{_BEFORE}, {len(before)} models", trace.data.kernel)
    for fact, factor in _FACTS.items():
        after = estimates_by_model(
            trace, changed_device(device, {fact: factor * float(facts[fact])}), models
        )
        gains = [before[model].time_s / after[model].time_s for model in before]
        yield subject.judged(
            f"speed-up, {factor:g} x {fact}",
            "at least 1",
            f"{min(gains):.4g} to {max(gains):.4g}",
            "no model slower, one faster" if must_react else "not slower",
            is_met=min(gains) >= 1 - _ROUNDING and (max(gains) > 1 + _ROUNDING or not must_react),
        )
