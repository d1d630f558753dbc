"""The workloads against times and counters that were measured on real devices.

`validation/measured/<device>.json`, made by the tools of docs/measuring.md, is compared with the
device file of the same name; so is `<device>-published.json`, times that others published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kernelcast.api import estimate
from kernelcast.defaults import only_time
from kernelcast.errors import KernelcastError, LaunchError, ModelNotApplicable
from kernelcast.execution.code import Code
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.models import MODELS, needs_paths
from kernelcast.progress import StageProgress
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.launch.launch import Limits
from kernelcast.simcore.profile.metric_names import Naming, metrics
from kernelcast.trust import Trust, is_within
from kernelcast.validation.comparison import CounterComparison, TimeComparison
from kernelcast.validation.in_processes import in_processes
from kernelcast.validation.measured_times import MeasuredRow, read_measured
from kernelcast.validation.report import ValidationReport
from kernelcast.workload.file import load_workload

__all__ = ["MEASURED", "validate_measured"]

_ROOT = Path(__file__).resolve().parents[2]
MEASURED = _ROOT / "validation" / "measured"
_SUITE = _ROOT / "validation" / "workloads"
_EXAMPLES = "examples/"
_PUBLISHED = "-published"
_OF_MACHINE_CODE = (
    "sass__inst_executed_per_opcode_with_modifier_all.",
    "smsp__inst_executed_pipe_",
    "smsp__inst_executed_op_local_",
)
"""Counters of which a profile of machine code has all that are not 0."""
# Each ended where it was measured: full sizes take long, not for ever.
_NO_LIMITS = Limits(seconds=None, instructions_per_warp=None)


def validate_measured(
    models: Sequence[str] = (),
    folder: Path = MEASURED,
    progress: StageProgress | None = None,
    trust: Trust = Trust.FOREIGN,
    code: Code = Code.SOURCE,
    devices: Sequence[str] = (),
    processes: int = 1,
) -> ValidationReport:
    """Executes every workload at the sizes that were measured. All models unless some are named.

    Of `devices` what our own tools measured; without any, what others published, and what lies in a
    folder of the user's. `trust` is of workloads that the measurements name outside of this tree:
    another file names them, not the user. `code` is what is executed. KernelcastError when nothing
    was measured; a device without a device file is in the notes.
    """
    files = _chosen(folder, devices)
    if not files:
        raise KernelcastError(
            f"{folder} holds no measurements: make some on a GPU with validation/measure_cuda.py "
            "(docs/measuring.md)"
        )
    notes: list[str] = []
    rows: list[_Row] = []
    for file in files:
        measured = read_measured(file)
        device = file.stem.removesuffix(_PUBLISHED)
        if measured.dry_run:
            notes.append(f"{file.name}: a dry run, nothing was measured")
        elif device not in known_devices():
            notes.append(f"{file.name}: there is no device file {device}")
        else:
            notes += [
                f"{device}: {case.workload} {case.size} was not measured: {case.error}"
                for case in measured.failures
            ]
            told = f"{measured.device.name}, {measured.device.date}"
            rows += [_Row(device, told, row) for row in measured.rows]
    predict = partial(_predicted, models=tuple(models) or tuple(MODELS), trust=trust, code=code)
    names = [f"{row.device}: {row.name}" for row in rows]
    work = [row.measured.kernel_s for row in rows]  # long launches as a rule are long to simulate
    found = in_processes(predict, rows, names, processes, progress, work)
    return ValidationReport(
        "measured",
        tuple(time for row in found for time in row.times),
        tuple(counter for row in found for counter in row.counters),
        (*notes, *(note for row in found for note in row.notes)),
    )


def _chosen(folder: Path, devices: Sequence[str]) -> list[Path]:
    """The files of measurements; KernelcastError for a device that has none."""
    files = sorted(folder.glob("*.json"))
    own = {file.stem: file for file in files if not file.stem.endswith(_PUBLISHED)}
    for device in devices:
        if device not in own:
            known = ", ".join(own) or "none"
            raise KernelcastError(f"{device} was not measured: {folder} has {known}")
    if devices:
        return [own[device] for device in devices]
    return [file for file in files if folder != MEASURED or file.stem not in own]


@dataclass(frozen=True, slots=True)
class _Row:
    """What was measured of one launch; `told`: the device and the day, in words."""

    device: str
    told: str
    measured: MeasuredRow

    @property
    def name(self) -> str:
        """Workload and size."""
        return f"{self.measured.workload} {self.measured.size}"


@dataclass(frozen=True, slots=True)
class _Compared:
    """What a row gave."""

    times: tuple[TimeComparison, ...] = ()
    counters: tuple[CounterComparison, ...] = ()
    notes: tuple[str, ...] = ()


def _predicted(row: _Row, models: Sequence[str], trust: Trust, code: Code) -> _Compared:
    check = row.measured.check
    if check is not None and not check.passed:
        return _Compared(notes=(f"{row.device}: {row.name} gave wrong results where measured",))
    device = load_device(row.device)
    try:
        trace = _executed(row.measured, device, models, trust, code)
    except KernelcastError as error:
        return _Compared(notes=(f"{row.device}: {row.name}: {str(error).splitlines()[0]}",))
    times, notes = _times(row, trace, device, models)
    return _Compared(times, tuple(_counters(row, trace, device)), notes)


def _executed(
    row: MeasuredRow, device: Device, models: Sequence[str], trust: Trust, code: Code
) -> KernelTrace:
    root = _ROOT if row.workload.startswith(_EXAMPLES) else _SUITE
    file = root / f"{row.workload}.toml"
    is_ours = is_within(file, _SUITE) or is_within(file, _ROOT / _EXAMPLES)
    workload = load_workload(file, Trust.OWN if is_ours else trust)
    run = partial(
        workload.run,
        row.size,
        devices=[device],
        limits=_NO_LIMITS,
        record_paths=any(map(needs_paths, models)),
        code=code,
    )
    try:
        trace = run(sampling=Sampling.ALWAYS)
    except LaunchError:  # paths or addresses depend on data
        trace = run(sampling=Sampling.AUTO)
    if row.registers is not None and not trace.data.is_machine_code:
        trace = trace.with_registers(row.registers)
    return trace.repeated(1)


def _times(
    row: _Row, trace: KernelTrace, device: Device, models: Sequence[str]
) -> tuple[tuple[TimeComparison, ...], tuple[str, ...]]:
    """The times of each model, and which models do not apply."""
    times, notes, measured = [], [], row.measured
    for model in models:
        try:
            found = estimate(trace.profile(device), model, **only_time(model, device))
        except ModelNotApplicable as reason:
            notes.append(f"{row.name}: {model} does not apply: {reason}")
            continue
        times.append(
            TimeComparison.of(
                row.name,
                found,
                measured.kernel_s,
                measured.published.source if measured.published else row.told,
                is_calibration=device.is_fitted_on(f"measured/{measured.workload}/time"),
            )
        )
    return tuple(times), tuple(notes)


def _counters(row: _Row, trace: KernelTrace, device: Device) -> Iterator[CounterComparison]:
    """Every counter that both have, and what machine code should not have executed at all."""
    profile, measured = trace.profile(device), row.measured
    predicted = {item.name: float(item.value) for item in metrics(profile, Naming.NCU)}
    if profile.machine is not None:
        absent = [name for name in measured.metrics if name.startswith(_OF_MACHINE_CODE)]
        predicted = dict.fromkeys(absent, 0.0) | predicted
    for name, value in predicted.items():
        if name in measured.metrics:
            yield CounterComparison(
                kernel=row.name,
                device=device.name,
                metric=name,
                simulated=value,
                measured=measured.metrics[name],
                source="ncu",
                is_calibration=device.is_fitted_on(f"measured/{measured.workload}/{name}"),
            )
