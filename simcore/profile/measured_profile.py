"""KernelProfile from what a profiler measured, whichever tool's metric names are present."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.errors import MetricsError
from kernelcast.simcore.profile.metric_vocabularies import (
    NCU,
    NVPROF,
    REQUIRED,
    ROCPROF,
    Derivation,
    Vocabulary,
)
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    LaunchShape,
    MemoryTraffic,
    SharedMemoryUse,
)
from kernelcast.traces.profilers.metric_table import KernelMetrics

__all__ = ["profile_from_metrics"]

_FUSED_WITHIN = {"fma32": "fp32", "fma64": "fp64"}
_SHARED = ("load_requests", "load_wavefronts", "store_requests", "store_wavefronts")


def profile_from_metrics(
    measured: KernelMetrics, kernel: str, device_name: str, repeats: int = 1
) -> KernelProfile:
    """One mean launch of `measured` on the device where it ran.

    MetricsError lists the metrics that are missing, under the names of the tool whose names the
    file uses.
    """
    vocabulary = _vocabulary(measured)
    warp_width = measured.warp_width or vocabulary.warp_width
    values, assumptions = _derive(measured, vocabulary, warp_width)
    missing = _missing(measured, vocabulary, values)
    if missing:
        raise MetricsError(
            f"kernel {kernel or measured.kernel}: these {vocabulary.tool} metrics are missing: "
            + ", ".join(missing)
        )
    shape = None
    if measured.grid and measured.thread_block:
        shape = LaunchShape(measured.grid, measured.thread_block)
    return KernelProfile(
        kernel=kernel or measured.kernel,
        device=device_name,
        origin=f"{vocabulary.tool} metrics, launches averaged: {measured.launch_count}",
        instructions=_instructions(values),
        traffic=_traffic(values),
        launch=shape,
        shared=_shared(values),
        repeats=repeats,
        warp_width=warp_width,
        divergence=values.get("divergence"),
        assumptions=assumptions,
    )


def _vocabulary(measured: KernelMetrics) -> Vocabulary:
    """The tool whose names fit most metrics; a plain file may use any tool's names."""
    names = measured.mean.keys() | measured.unavailable
    best = max((NVPROF, NCU, ROCPROF), key=lambda item: len(item.metrics & names))
    if not best.metrics & names:
        raise MetricsError(
            f"kernel {measured.kernel or '(unnamed)'}: no metric of nvprof, ncu or rocprof that a "
            f"profile needs among {', '.join(sorted(names)[:5]) or 'none'}"
        )
    return best


def _derive(
    measured: KernelMetrics, vocabulary: Vocabulary, warp_width: int
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Every field that the metrics give, and what had to be assumed for it."""
    metrics = measured.mean
    values: dict[str, float] = {}
    assumptions: tuple[str, ...] = ()
    active = _evaluate(vocabulary.fields["divergence"], metrics)
    for field, derivations in vocabulary.fields.items():
        value = _evaluate(derivations, metrics)
        if value is None:
            continue
        if derivations[0].per_wave:
            value *= warp_width * (1.0 if active is None else active)
            lanes = "all lanes active" if active is None else f"{active:.1%} of lanes active"
            assumptions = (
                f"threads counted as {warp_width} lanes a wavefront instruction, {lanes}",
            )
        if value < 0:
            raise MetricsError(f"kernel {measured.kernel}: {field} is negative ({value:g})")
        if field == "divergence" and value > 1:  # a percentage without its sign, as in plain files
            value /= 100
        values[field] = value
    for fused, whole in _FUSED_WITHIN.items():
        if values.get(whole) == 0:
            values.setdefault(fused, 0.0)
    return values, assumptions


def _evaluate(derivations: tuple[Derivation, ...], metrics: Mapping[str, float]) -> float | None:
    for derivation in derivations:
        if all(name in metrics for name in derivation.metrics):
            optional = sum(metrics.get(name, 0.0) for name in derivation.optional)
            return derivation.factor * (
                sum(metrics[name] for name in derivation.metrics) + optional
            )
    return None


def _missing(
    measured: KernelMetrics, vocabulary: Vocabulary, values: Mapping[str, float]
) -> list[str]:
    """Names of the first derivation of each missing field, without repetition."""
    names = [
        name
        for field in REQUIRED
        if field not in values
        for name in vocabulary.fields[field][0].metrics
        if name not in measured.mean
    ]
    unavailable = measured.unavailable
    return [
        f"{name} (asked for, without a value)" if name in unavailable else name
        for name in dict.fromkeys(names)
    ]


def _instructions(values: Mapping[str, float]) -> InstructionCounts:
    return InstructionCounts(
        fma32=values["fma32"],
        fma64=values["fma64"],
        fp32=values["fp32"],
        fp64=values["fp64"],
        integer=values["integer"],
        load_store=values["load_store"],
        warp_instructions=values["warp_instructions"],
        thread_instructions=values.get("thread_instructions"),
        conversion=values.get("conversion"),
        control=values.get("control"),
        special_function=values.get("special_function"),
    )


def _traffic(values: Mapping[str, float]) -> MemoryTraffic:
    return MemoryTraffic(
        dram_read_transactions=values["dram_read_transactions"],
        dram_write_transactions=values["dram_write_transactions"],
        global_load_requests=values.get("global_load_requests"),
        global_store_requests=values.get("global_store_requests"),
        global_load_sectors=values.get("global_load_sectors"),
        global_store_sectors=values.get("global_store_sectors"),
        l2_read_sectors=values.get("l2_read_sectors"),
        l2_write_sectors=values.get("l2_write_sectors"),
    )


def _shared(values: Mapping[str, float]) -> SharedMemoryUse | None:
    """None unless requests and wavefronts of loads and stores are all known."""
    found = [values.get(f"shared_{name}") for name in _SHARED]
    known = [value for value in found if value is not None]
    return SharedMemoryUse(*known) if len(known) == len(_SHARED) else None
