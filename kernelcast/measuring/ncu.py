"""Hardware counters through NVIDIA Nsight Compute: its command line, and its CSV."""

from __future__ import annotations

import csv
import math
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelcast.measuring.accelerator import MeasuringError
from kernelcast.simcore.profile.machine_counts import PIPES

__all__ = ["METRICS", "NcuProfiler", "ProfiledLaunch", "find_ncu", "read_raw_page"]

_INSTRUCTIONS = (
    "fp32",
    "fp64",
    "fadd",
    "fmul",
    "ffma",
    "dadd",
    "dmul",
    "dfma",
    "hadd",
    "hmul",
    "hfma",
    "integer",
    "control",
    "conversion",
    "memory",
)
_STALLS = (
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "not_selected",
    "selected",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
    "gmma",
)

_COUNTS_BY_OPCODE = "sass__inst_executed_per_opcode_with_modifier_all"
_OF_MACHINE_CODE = (
    "launch__registers_per_thread",
    "launch__shared_mem_config_size",
    "smsp__inst_executed_op_local_ld.sum",
    "smsp__inst_executed_op_local_st.sum",
    *(f"smsp__inst_executed_pipe_{pipe}.sum" for pipe in PIPES),
    _COUNTS_BY_OPCODE,
)
"""What `--code native` predicts besides: registers, spills, instructions by pipe and by opcode."""

METRICS = (
    "gpu__time_duration.sum",
    "sm__cycles_elapsed.max",
    "sm__cycles_active.avg",
    "sm__cycles_active.max",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    *(f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum" for name in _INSTRUCTIONS),
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "lts__t_sectors_srcunit_tex_op_write.sum",
    "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "lts__t_sector_hit_rate.pct",
    "dram__sectors_read.sum",
    "dram__sectors_write.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    *(f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio" for name in _STALLS),
    *_OF_MACHINE_CODE,
)
"""What is asked for, which includes all that kernelcast can estimate from.

A GPU that does not count one of them goes without it."""

_COLLECTIONS = ("profiling", "launch", "source")
"""Where ncu keeps metrics: of hardware, of launches, of the code (`--query-metrics-collection`)."""
_INSTANCE = re.compile(r"([A-Z][A-Z0-9_.]*):\s*(\d[\d,]*)")
_KERNEL_NAME = "Kernel Name"
_QUERY_S, _PROFILE_S = 120.0, 1800.0
_NO_PERMISSION = "ERR_NVGPUCTRPERM"


def find_ncu() -> Path | None:
    """The path of `ncu`; None where it is not installed."""
    found = shutil.which("ncu")
    return Path(found) if found else None


@dataclass(frozen=True, slots=True)
class ProfiledLaunch:
    """One launch: the kernel's name, and its metrics in ncu's base units."""

    kernel: str
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class NcuProfiler:
    """`ncu` and the metrics that it counts on this GPU."""

    ncu: Path
    metrics: tuple[str, ...]

    @classmethod
    def on_this_gpu(cls, ncu: Path, device: int) -> NcuProfiler:
        """Asks ncu what it can count; all METRICS are tried where it does not say."""
        names = {name for item in _COLLECTIONS for name in _listed(ncu, device, item)}
        known = tuple(metric for metric in METRICS if metric.partition(".")[0] in names)
        return cls(ncu, known or METRICS)

    def profile(self, command: Sequence[str]) -> tuple[tuple[ProfiledLaunch, ...], str]:
        """The launches of `command` in order, and what it printed; MeasuringError if none."""
        printed = _run([*self.prefix(), *command], _PROFILE_S)
        return tuple(self._asked_for(launch) for launch in read_raw_page(printed)), printed

    def _asked_for(self, launch: ProfiledLaunch) -> ProfiledLaunch:
        """The launch without what ncu tells of itself and opcodes that the kernel has not."""
        by_opcode = f"{_COUNTS_BY_OPCODE}."
        kept = {
            name: value
            for name, value in launch.metrics.items()
            if name in self.metrics or (name.startswith(by_opcode) and value)
        }
        return ProfiledLaunch(launch.kernel, kept)

    @property
    def not_counted(self) -> tuple[str, ...]:
        """Metrics of METRICS that this GPU does not count."""
        return tuple(name for name in METRICS if name not in self.metrics)

    def warnings(self, metrics: Mapping[str, float]) -> tuple[str, ...]:
        """Names what was asked for and is not among `metrics`."""
        found = {*metrics, *(name.partition(".")[0] for name in metrics)}
        missing = [name for name in self.metrics if name not in found]
        return (f"ncu gave no value for {', '.join(missing)}",) if missing else ()

    @property
    def _has_instances(self) -> bool:
        """An ncu that counts by opcode knows the option that shows these counts."""
        return _COUNTS_BY_OPCODE in self.metrics

    def prefix(self) -> list[str]:
        """The command line before the program: CSV of the metrics, a line for each launch."""
        return [
            *(str(self.ncu), "--csv", "--page", "raw", "--print-units", "base"),
            *(("--print-metric-instances", "details") if self._has_instances else ()),
            *("--cache-control", "all", "--clock-control", "none"),
            *("--target-processes", "all"),
            *("--metrics", ",".join(self.metrics)),
        ]


def _listed(ncu: Path, device: int, collection: str) -> list[str]:
    """Names of the metrics of one collection; none where ncu does not know it."""
    command = [str(ncu), "--query-metrics", "--devices", str(device)]
    if collection != _COLLECTIONS[0]:  # the only one that older releases have
        command += ["--query-metrics-collection", collection]
    try:
        listed = _run(command, _QUERY_S)
    except MeasuringError:
        return []
    return re.findall(r"^\s*(\w+__\w+)\b", listed, re.MULTILINE)


def _run(command: Sequence[str], seconds: float) -> str:
    try:
        finished = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise MeasuringError(f"ncu: no answer in {seconds:.0f} s") from None
    except OSError as error:
        raise MeasuringError(f"ncu: {error.strerror}") from None
    if finished.returncode:
        raise MeasuringError(f"ncu: {_reason(finished.stdout + finished.stderr)}")
    return finished.stdout


def _reason(output: str) -> str:
    """The first error that ncu prints, in one line."""
    if _NO_PERMISSION in output:
        return (
            "no permission to read the counters: run as root, or allow it for all users "
            "(NVreg_RestrictProfilingToAdminUsers=0)"
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("==ERROR==") or "error:" in line.lower()]
    return (errors or lines or ["failed without a message"])[0].removeprefix("==ERROR== ")


def read_raw_page(text: str) -> tuple[ProfiledLaunch, ...]:
    """Launches from `--csv --page raw`: a header, a line of units, a line a launch.

    Lines before the header are ncu's own messages and the program's output. MeasuringError when
    there is no launch, or one without a metric; values that are no numbers are left out. Counts by
    opcode, which ncu prints as instances of one metric, are metrics by the opcode:
    `sass__...all.LDG.E`.
    """
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith('"ID",')]
    if not starts:
        raise MeasuringError(f"ncu: {_reason(text)}")
    header, *rows = csv.reader(lines[starts[0] :])
    found = tuple(
        _launch(dict(zip(header, row, strict=True)))
        for row in rows
        if len(row) == len(header) and row[0].isdigit()
    )
    if not found:
        raise MeasuringError("ncu: no launch was profiled")
    return found


def _launch(row: Mapping[str, str]) -> ProfiledLaunch:
    metrics = dict(_numbers(row.items()))
    if not metrics:
        raise MeasuringError("ncu: no metric has a value")
    return ProfiledLaunch(row.get(_KERNEL_NAME, ""), metrics)


def _numbers(columns: Iterable[tuple[str, str]]) -> Iterator[tuple[str, float]]:
    """Columns that are metrics (`unit__quantity.rollup`) with a finite value."""
    for name, text in columns:
        if "__" not in name:
            continue
        whole, _, instances = text.partition("(")
        if name == _COUNTS_BY_OPCODE:
            for opcode, count in _INSTANCE.findall(instances):
                yield f"{name}.{opcode}", float(count.replace(",", ""))
            continue
        try:
            value = float(whole.replace(",", ""))
        except ValueError:
            continue
        if math.isfinite(value):
            yield name, value
