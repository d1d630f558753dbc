"""Results as JSON objects and CSV tables, for other programs. Every object carries the schema."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelcast.execution.instruction_mix import InstructionMix
    from kernelcast.execution.kernel_trace import KernelTrace
    from kernelcast.model_descriptions import ModelDescription
    from kernelcast.models.estimate import Estimate
    from kernelcast.simcore.device.device import Device
    from kernelcast.simcore.profile.metric_names import MetricValue
    from kernelcast.simcore.profile.profile import KernelProfile
    from kernelcast.workload.workload import CheckResult

__all__ = [
    "SCHEMA",
    "check_record",
    "device_list_rows",
    "devices_record",
    "estimate_rows",
    "estimates_record",
    "metric_rows",
    "mix_record",
    "mix_rows",
    "model_record",
    "models_record",
    "profile_record",
    "run_record",
    "speed_ups",
    "to_csv",
    "to_json",
]

SCHEMA = 1
Record = dict[str, Any]
Rows = list[Sequence[object]]


def to_json(record: Mapping[str, Any]) -> str:
    """Indented JSON with the schema first; ValueError for NaN or infinity, which JSON lacks."""
    return json.dumps({"schema": SCHEMA, **record}, indent=2, ensure_ascii=False, allow_nan=False)


def to_csv(rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated lines, header first, without a newline at the end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().rstrip("\n")


def estimates_record(
    kernel: str, estimates: Sequence[Estimate], details: Sequence[Record] = ()
) -> Record:
    """The estimates with their terms, as a record; each with its `details` where there are any."""
    record = _estimates_record(kernel, estimates)
    for item, found in zip(record["estimates"], details, strict=bool(details)):
        item["details"] = found
    return record


def _estimates_record(kernel: str, estimates: Sequence[Estimate]) -> Record:
    return {
        "kernel": kernel,
        "estimates": [
            {
                "device": item.device,
                "model": item.model,
                "time_s": item.time_s,
                "time_low_s": item.time_low_s,
                "time_high_s": item.time_high_s,
                "coverage": item.coverage,
                "bottleneck": item.bottleneck,
                "gain": item.gain,
                "causes": list(item.causes),
                "advice": [
                    {"what": advice.what, "gain": advice.gain, "where": list(advice.where)}
                    for advice in item.advice
                ],
                "contradictions": list(item.contradictions),
                "cycles": item.cycles,
                "clock_hz": item.clock_hz,
                "terms": item.terms.as_dict(),
                "parameters": [
                    {"symbol": p.symbol, "value": p.value, "unit": p.unit} for p in item.parameters
                ],
                "assumptions": list(item.assumptions),
                "code": item.code,
                "achieved": dict(item.achieved),
                "decisive_facts": [
                    {"name": fact.name, "change": fact.change, "effect": fact.effect}
                    for fact in item.decisive_facts
                ],
                "sample_share": item.sample_share,
                "speed_up": speed_up,
                "valid": item.is_valid,
            }
            for item, speed_up in zip(estimates, speed_ups(estimates), strict=True)
        ],
    }


def speed_ups(estimates: Sequence[Estimate]) -> list[float]:
    """How many times as fast each is as the first one of the same model."""
    first = {item.model: item.time_s for item in reversed(estimates)}
    return [first[item.model] / item.time_s for item in estimates]


def estimate_rows(estimates: Sequence[Estimate]) -> Rows:
    """The estimates as rows below a header."""
    header = [
        "kernel",
        "device",
        "model",
        "time_s",
        "time_low_s",
        "time_high_s",
        "bottleneck",
        "valid",
    ]
    return [
        header,
        *(
            (
                item.kernel,
                item.device,
                item.model,
                item.time_s,
                item.time_low_s,
                item.time_high_s,
                item.bottleneck,
                str(item.is_valid).lower(),
            )
            for item in estimates
        ),
    ]


def profile_record(profile: KernelProfile, metrics: Sequence[MetricValue]) -> Record:
    """The metrics of a profile, as a record."""
    return {
        "kernel": profile.kernel,
        "device": profile.device,
        "code": profile.code,
        "metrics": {item.name: item.value for item in metrics},
        "occupancy": occupancy_record(profile),
    }


def occupancy_record(profile: KernelProfile) -> Record | None:
    """How many warps an SM holds of the launch, and why not more; None where nobody knows."""
    resident = profile.occupancy
    if resident is None:
        return None
    return {
        "share": resident.fraction,
        "warps_per_sm": resident.warps_per_sm,
        "thread_blocks_per_sm": resident.thread_blocks_per_sm,
        "limited_by": resident.limiter.value,
        "registers_per_thread": resident.registers_per_thread,
        "registers_assumed": resident.registers_assumed,
        "waves": resident.waves,
    }


def metric_rows(metrics: Iterable[MetricValue]) -> Rows:
    """Metrics as rows below a header."""
    return [("metric", "value"), *((item.name, item.value) for item in metrics)]


def mix_record(mix: InstructionMix, engine: str, elapsed_s: float) -> Record:
    """The instruction mix with its totals, as a record."""
    total = sum(row.thread for row in mix.rows)
    return {
        "kernel": mix.kernel,
        "engine": engine,
        "code": mix.code,
        "architecture": mix.architecture,
        "note": mix.note,
        "registers": mix.registers,
        "elapsed_s": elapsed_s,
        "thread_instructions": mix.thread_instructions,
        "warp_instructions": mix.warp_instructions,
        "tensor_operations": dict(mix.tensor_operations),
        "classes": dict(mix.classes),
        "mix": [
            {
                "opcode": row.opcode,
                "unit": row.unit,
                "thread": row.thread,
                "warp": row.warp,
                "thread_share": row.thread / total if total else 0.0,
            }
            for row in mix.rows
        ],
    }


def mix_rows(mix: InstructionMix) -> Rows:
    """The instruction mix as rows below a header."""
    rows = [(row.opcode, row.unit, row.thread, row.warp) for row in mix.rows]
    return [("opcode", "unit", "thread", "warp"), *rows]


def check_record(result: CheckResult) -> Record:
    """What a check found in each buffer, as a record."""
    return {
        "kernel": result.trace.data.kernel,
        "engine": result.trace.data.engine,
        "elapsed_s": result.trace.data.elapsed_s,
        "passed": result.passed,
        "buffers": [
            {
                "name": item.name,
                "elements": item.elements,
                "mismatches": item.mismatches,
                "absolute_error": item.absolute_error,
                "relative_error": item.relative_error,
            }
            for item in result.comparisons
        ],
    }


def run_record(trace: KernelTrace) -> Record:
    """Counts and duration of a run, as a record."""
    warps, threads = trace.data.source_instructions()
    return {
        "kernel": trace.data.kernel,
        "engine": trace.data.engine,
        "elapsed_s": trace.data.elapsed_s,
        "thread_instructions": threads,
        "warp_instructions": warps,
    }


def devices_record(devices: Iterable[Device]) -> Record:
    """A list of devices, as a record."""
    header, *rows = device_list_rows(devices)
    names = [str(name) for name in header]
    return {"devices": [dict(zip(names, row, strict=True)) for row in rows]}


def device_list_rows(devices: Iterable[Device]) -> Rows:
    """The devices as rows below a header."""
    header = [
        "name",
        "title",
        "compute_capability",
        "sm_count",
        "dram_bandwidth_bytes_per_s",
        "throughputs",
    ]
    return [
        header,
        *(
            (
                item.name,
                item.title,
                item.architecture.compute_capability,
                item.architecture.sm_count,
                item.dram.bandwidth_bytes_per_s,
                item.throughputs,
            )
            for item in devices
        ),
    ]


def models_record(models: Iterable[ModelDescription]) -> Record:
    """The models with their summaries, as a record."""
    return {"models": [{"name": item.name, "summary": item.summary} for item in models]}


def model_record(model: ModelDescription) -> Record:
    """A model's name, summary and documentation, as a record."""
    return {"model": model.name, "summary": model.summary, "description": model.text}
