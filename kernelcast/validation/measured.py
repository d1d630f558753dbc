"""The workloads against times and counters that were measured on real devices.

`validation/measured/<device>.json`, made by the tools of docs/measuring.md, is compared with the
device file of the same name; so is `<device>-published.json`, times that others published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from kernelcast.api import estimate
from kernelcast.defaults import only_time
from kernelcast.errors import KernelcastError, LaunchError, ModelNotApplicable
from kernelcast.execution.code import Code
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.models import MODELS, needs_paths
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.launch.launch import Limits
from kernelcast.simcore.profile.metric_names import Naming, metrics
from kernelcast.trust import Trust, is_within
from kernelcast.validation.comparison import CounterComparison, TimeComparison
from kernelcast.validation.measured_times import MeasuredDevice, MeasuredRow, read_measured
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
    progress: Callable[[str, float], None] | None = None,
    trust: Trust = Trust.FOREIGN,
    code: Code = Code.SOURCE,
    devices: Sequence[str] = (),
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
    times: list[TimeComparison] = []
    counters: list[CounterComparison] = []
    notes: list[str] = []
    for file in files:
        measured = read_measured(file)
        device = file.stem.removesuffix(_PUBLISHED)
        if measured.dry_run:
            notes.append(f"{file.name}: a dry run, nothing was measured")
        elif device not in known_devices():
            notes.append(f"{file.name}: there is no device file {device}")
        else:
            comparison = _Comparison(
                load_device(device), measured, models or tuple(MODELS), trust, code
            )
            comparison.run(progress)
            times += comparison.times
            counters += comparison.counters
            notes += comparison.notes
    return ValidationReport("measured", tuple(times), tuple(counters), tuple(notes))


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


class _Comparison:
    """One device's rows."""

    def __init__(
        self,
        device: Device,
        measured: MeasuredDevice,
        models: Sequence[str],
        trust: Trust,
        code: Code,
    ) -> None:
        self._trust = trust
        self._code = code
        self._device = device
        self._measured = measured
        self._models = models
        self.times: list[TimeComparison] = []
        self.counters: list[CounterComparison] = []
        self.notes = [
            f"{device.name}: {case.workload} {case.size} was not measured: {case.error}"
            for case in measured.failures
        ]

    def run(self, progress: Callable[[str, float], None] | None) -> None:
        for done, row in enumerate(self._measured.rows):
            name = f"{row.workload} {row.size}"
            if progress is not None:
                progress(f"{self._device.name}: {name}", done / len(self._measured.rows))
            if row.check is not None and not row.check.passed:
                self.notes.append(f"{self._device.name}: {name} gave wrong results where measured")
                continue
            try:
                trace = self._executed(row)
            except KernelcastError as error:
                self.notes.append(f"{self._device.name}: {name}: {str(error).splitlines()[0]}")
                continue
            self.times.extend(self._times(row, trace))
            self.counters.extend(self._counters(row, trace))

    def _executed(self, row: MeasuredRow) -> KernelTrace:
        root = _ROOT if row.workload.startswith(_EXAMPLES) else _SUITE
        file = root / f"{row.workload}.toml"
        is_ours = is_within(file, _SUITE) or is_within(file, _ROOT / _EXAMPLES)
        workload = load_workload(file, Trust.OWN if is_ours else self._trust)
        run = partial(
            workload.run,
            row.size,
            devices=[self._device],
            limits=_NO_LIMITS,
            record_paths=any(map(needs_paths, self._models)),
            code=self._code,
        )
        try:
            trace = run(sampling=Sampling.ALWAYS)
        except LaunchError:  # paths or addresses depend on data
            trace = run(sampling=Sampling.AUTO)
        if row.registers is not None and not trace.data.is_machine_code:
            trace = trace.with_registers(row.registers)
        return trace.repeated(1)

    def _times(self, row: MeasuredRow, trace: KernelTrace) -> Iterator[TimeComparison]:
        name = f"{row.workload} {row.size}"
        for model in self._models:
            try:
                own = only_time(model, self._device)
                found = estimate(trace.profile(self._device), model, **own)
            except ModelNotApplicable as reason:
                self.notes.append(f"{name}: {model} does not apply: {reason}")
                continue
            yield TimeComparison.of(
                name,
                found,
                row.kernel_s,
                row.published.source
                if row.published
                else f"{self._measured.device.name}, {self._measured.device.date}",
                is_calibration=self._device.is_fitted_on(f"measured/{row.workload}/time"),
            )

    def _counters(self, row: MeasuredRow, trace: KernelTrace) -> Iterator[CounterComparison]:
        """Every counter that both have, and what machine code should not have executed at all."""
        profile = trace.profile(self._device)
        predicted = {item.name: float(item.value) for item in metrics(profile, Naming.NCU)}
        if profile.machine is not None:
            absent = [name for name in row.metrics if name.startswith(_OF_MACHINE_CODE)]
            predicted = dict.fromkeys(absent, 0.0) | predicted
        for name, value in predicted.items():
            if name in row.metrics:
                yield CounterComparison(
                    kernel=f"{row.workload} {row.size}",
                    device=self._device.name,
                    metric=name,
                    simulated=value,
                    measured=row.metrics[name],
                    source="ncu",
                    is_calibration=self._device.is_fitted_on(f"measured/{row.workload}/{name}"),
                )
