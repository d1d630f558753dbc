"""Results as tables of pandas. The columns are called as in JSON, with units in their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from kernelcast.address.layer_sizes import LayerTable
from kernelcast.architectures import WhatIf
from kernelcast.comparison.comparison import Comparison
from kernelcast.errors import InputError
from kernelcast.execution.instruction_mix import InstructionMix
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.models.estimate import Estimate
from kernelcast.program_capture.result import CaptureResult
from kernelcast.ranking.ranking import Ranking
from kernelcast.ranking.variants import VariantTuning
from kernelcast.report.capture import capture_record
from kernelcast.report.comparison import comparison_record
from kernelcast.report.devices import device_record
from kernelcast.report.layers import layers_record
from kernelcast.report.rank import rank_record
from kernelcast.report.records import estimates_record, metric_rows, mix_record
from kernelcast.report.traces import trace_record
from kernelcast.report.whatif import whatif_record
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.metric_names import Naming, metrics
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.studies.data_set import SweepResult
from kernelcast.torch_modules.module_estimate import ModuleEstimate
from kernelcast.triton_calls.session import CallSession
from kernelcast.triton_calls.tuning import Tuning

__all__ = ["flat_records", "frame_of"]

Record: TypeAlias = Mapping[str, Any]


def frame_of(result: object) -> Any:
    """The `pandas.DataFrame` of a result.

    Raises InputError where pandas is not installed, TypeError for what is no table.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        raise InputError("a frame needs pandas: pip install 'kernelcast[pandas]'") from None
    return DataFrame.from_records(flat_records(result))


def flat_records(result: object) -> list[dict[str, Any]]:
    """The rows of a result: numbers and texts of its JSON by name.

    Objects within a row become columns with a dot, `volumes.dram_bytes`; lists of texts and
    numbers become texts; other lists, such as the terms of an estimate, are left out.
    """
    for kind, records in _RECORDS.items():
        if isinstance(result, kind):
            rows = [dict(_flat(record)) for record in records(result)]
            names = dict.fromkeys(name for row in rows for name in row)
            return [{name: row.get(name) for name in names} for row in rows]
    raise TypeError(f"{type(result).__name__} is no table")


def _flat(record: Record, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list | tuple):
            yield f"{prefix}{name}", value
        elif not any(isinstance(item, Mapping | list | tuple) for item in value):
            separator = "x" if value and all(isinstance(item, int) for item in value) else "; "
            yield f"{prefix}{name}", separator.join(map(str, value))


def _estimate(found: Estimate) -> list[Record]:
    (record,) = estimates_record(found.kernel, [found])["estimates"]
    return [{"kernel": found.kernel, **record}]


def _profile(found: KernelProfile) -> list[Record]:
    header, *rows = metric_rows(metrics(found, Naming.NVPROF))
    return [dict(zip(map(str, header), row, strict=True)) for row in rows]


def _mix(found: InstructionMix) -> list[Record]:
    rows: list[Record] = mix_record(found, "", 0.0)["mix"]
    return rows


def _launches(found: CaptureResult) -> list[Record]:
    """A row for each launch on each device."""
    return [
        {**launch, **estimate}
        for launch in capture_record(found)["launches"]
        for estimate in launch["estimates"]
    ]


def _calls(found: CallSession) -> list[Record]:
    """A row for each launch on each device."""
    return [
        {
            "index": number,
            "kernel": call.name,
            "grid": list(call.grid),
            "constants": call.constants,
            "options": call.options,
            "device": device,
            "time_s": estimate.time_s,
            "time_low_s": estimate.time_low_s,
            "time_high_s": estimate.time_high_s,
            "bottleneck": estimate.bottleneck,
        }
        for number, call in enumerate(found.calls)
        for device, estimate in call.estimates.items()
    ]


def _rows_of(record: Callable[[Any], Record]) -> Callable[[Any], Sequence[Record]]:
    """The rows of a result whose JSON has them under `rows`."""

    def rows(found: Any) -> Sequence[Record]:
        listed: Sequence[Record] = record(found)["rows"]
        return listed

    return rows


_RECORDS: Mapping[type, Callable[[Any], Sequence[Record]]] = {
    Estimate: _estimate,
    KernelProfile: _profile,
    KernelTrace: lambda found: [trace_record(found)],
    Device: lambda found: device_record(found)["values"],
    Ranking: _rows_of(lambda found: rank_record([found])),
    LayerTable: _rows_of(layers_record),
    InstructionMix: _mix,
    WhatIf: _rows_of(whatif_record),
    Comparison: _rows_of(lambda found: comparison_record(found, (), None)),
    VariantTuning: _rows_of(VariantTuning.as_dict),
    Tuning: _rows_of(Tuning.as_dict),
    ModuleEstimate: _rows_of(ModuleEstimate.as_dict),
    CaptureResult: _launches,
    CallSession: _calls,
    SweepResult: lambda found: found.rows,
}
