"""Results as text and tables for a terminal. Every function returns something rich can show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from kernelcast.report.tables import column_table, first_rows
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.units import format_count, format_quantity, format_seconds

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
    "check_report",
    "devices_table",
    "estimate_details",
    "exact_number",
    "mix_table",
    "model_report",
    "models_table",
    "profile_table",
    "run_line",
]


_SHORT_NAME = 28
"""Characters of a metric's name that leave room for two on a line of 100."""
_MOST_INSTRUCTIONS, _MOST_SPOTS = 16, 4


def estimate_details(estimates: Sequence[Estimate], *, is_complete: bool) -> RenderableType:
    """Where the time of each estimate goes; complete with formulas, parameters, assumptions.

    What is assumed for several estimates is told once.
    """
    parts: list[RenderableType] = []
    for item in estimates:
        parts += [Text(), Text(item.headline, style="bold")]
        parts += map(_indented, item.breakdown(formulas=is_complete))
        if is_complete:
            parts.append(_parameters(item))
    return Group(*parts, *(_assumptions(estimates) if is_complete else ()))


def _parameters(estimate: Estimate) -> RenderableType:
    table = column_table("", "parameter", ">value", "meaning")
    for item in estimate.parameters:
        table.add_row(item.symbol, format_quantity(item.value, item.unit), item.meaning)
    return table


def _assumptions(estimates: Sequence[Estimate]) -> Iterator[RenderableType]:
    """Each line once, with the devices and models that it is for unless it is for all of them."""
    told: dict[str, list[Estimate]] = {}
    for item in estimates:
        for line in dict.fromkeys((*item.assumptions, *item.validity.checks)):
            told.setdefault(line, []).append(item)
    yield Text()
    yield Text("assumed, and conditions for the models to hold", style="bold")
    for line, of in told.items():
        names = ", ".join(dict.fromkeys(f"{item.model} on {item.device}" for item in of))
        yield _indented(f"  {line}" if len(of) == len(estimates) else f"  {names}: {line}")


def profile_table(
    profile: KernelProfile, metrics: Sequence[MetricValue], detail: int
) -> RenderableType:
    """The metrics of a profile and its occupancy; with details their meanings and those at zero."""
    title = f"{source_name(profile.kernel)} on {profile.device}"
    parts: list[RenderableType] = [
        _explained_metrics(title, metrics) if detail else _metrics(title, metrics)
    ]
    occupancy = profile.occupancy
    if occupancy is not None:
        registers = f"{occupancy.registers_per_thread} registers a thread"
        assumed = " (assumed)" if occupancy.registers_assumed else ""
        parts.append(
            Text(
                f"occupancy {occupancy.fraction:.0%}: {occupancy.thread_blocks_per_sm} thread "
                f"blocks an SM, limited by {occupancy.limiter.value}; {registers}{assumed}; "
                f"{occupancy.waves:.2f} waves"
            )
        )
    spots = [spot for spot in profile.hot_spots if spot.transactions > spot.ideal_transactions]
    parts.extend(
        Text(
            f"{spot.origin_place or spot.place} {spot.mnemonic}: "
            f"{format_count(spot.transactions)} transactions, "
            f"{format_count(spot.ideal_transactions)} would do"
        )
        for spot in (profile.hot_spots if detail else spots[:_MOST_SPOTS])
    )
    parts.extend(Text(f"assumed: {item}") for item in profile.assumptions if detail)
    return Group(*parts)


def _explained_metrics(title: str, metrics: Iterable[MetricValue]) -> RenderableType:
    table = column_table(title, "metric", ">value", "unit", "meaning")
    for item in metrics:
        table.add_row(item.name, exact_number(item.value), item.unit, item.description)
    return table


def _metrics(title: str, metrics: Iterable[MetricValue]) -> RenderableType:
    """Metrics that are not zero, side by side where their names are short enough."""
    shown = [item for item in metrics if item.value]
    is_narrow = max((len(item.name) for item in shown), default=0) <= _SHORT_NAME
    columns = 2 if is_narrow else 1
    height = -(-len(shown) // columns)
    table = column_table(title, *("metric", ">value", "") * columns)
    for row in range(height):
        cells = [_metric_cells(item) for item in shown[row::height]]
        table.add_row(*(cell for item in cells for cell in item))
    return table


def _metric_cells(item: MetricValue) -> tuple[str, str, str]:
    return item.name, exact_number(item.value), item.unit if item.unit == "%" else ""


def _mix_title(mix: InstructionMix) -> str:
    """What was counted: machine code of an architecture with its registers, or the source."""
    name = source_name(mix.kernel)
    if mix.architecture is not None:
        return f"{name}, machine code of {mix.architecture}, {mix.registers} registers a thread"
    return f"{name}, {mix.counting.value} instructions of the source"


def mix_table(mix: InstructionMix, detail: int) -> RenderableType:
    """The instruction mix: the most frequent instructions, with details all of them."""
    table = column_table(
        _mix_title(mix), "instruction", "unit", ">threads", ">warps", ">of threads'"
    )
    total = mix.thread_instructions
    shown = first_rows(mix.rows, _MOST_INSTRUCTIONS, detail)
    for row in shown:
        table.add_row(
            row.opcode, row.unit, f"{row.thread:,}", f"{row.warp:,}", _share(row.thread, total)
        )
    rest = mix.rows[len(shown) :]
    if rest:
        threads, warps = sum(row.thread for row in rest), sum(row.warp for row in rest)
        name = f"{len(rest)} more (-v)"
        table.add_row(name, "", f"{threads:,}", f"{warps:,}", _share(threads, total))
    table.add_row("all", "", f"{total:,}", f"{mix.warp_instructions:,}", "")
    counts = (f"{count:,.0f} {name}" for name, count in mix.tensor_operations.items())
    below = [Text(f"tensor operations: {', '.join(counts)}")] if mix.tensor_operations else []
    if mix.classes:
        kinds = (f"{count:,} {name}" for name, count in mix.classes.items())
        below.append(Text(f"warp instructions by unit: {', '.join(kinds)}"))
    if mix.note:
        below.append(Text(mix.note))
    return Group(table, *below) if below else table


def _share(count: float, total: float) -> str:
    return f"{count / total:.1%}" if total else ""


def devices_table(devices: Sequence[Device], detail: int) -> RenderableType:
    """The names of the devices by architecture; with details a row for each."""
    if not detail:
        return _device_names(devices)
    table = column_table(
        "", "device", "title", "compute capability", ">SMs", ">DRAM", "throughputs"
    )
    for item in devices:
        table.add_row(
            item.name,
            item.title,
            item.architecture.compute_capability,
            str(item.architecture.sm_count),
            format_quantity(item.dram.bandwidth_bytes_per_s, "B/s"),
            item.throughputs or "none",
        )
    return table


def _device_names(devices: Iterable[Device]) -> RenderableType:
    names: dict[str, list[str]] = {}
    for item in devices:
        names.setdefault(item.architecture.compute_capability, []).append(item.name)
    table = column_table("", "architecture", "devices")
    for capability in sorted(names, key=_generation):
        table.add_row(capability, ", ".join(names[capability]))
    return Group(table, Text("-v shows SMs and bandwidths, `devices NAME` every value."))


def _generation(capability: str) -> tuple[bool, float, str]:
    """Compute capabilities by their number, then the names of other vendors."""
    try:
        return False, float(capability), ""
    except ValueError:
        return True, 0.0, capability


def models_table(models: Iterable[ModelDescription]) -> RenderableType:
    """The models with their summaries as a table."""
    table = column_table("", "model", "summary")
    for item in models:
        table.add_row(item.name, item.summary)
    return table


def model_report(model: ModelDescription) -> RenderableType:
    """A model's name and documentation."""
    return Group(Text(model.name, style="bold"), Text(model.text))


def run_line(trace: KernelTrace) -> RenderableType:
    """The counts and duration of a run in one line."""
    warps, threads = trace.data.source_instructions()
    return Text(
        f"{source_name(trace.data.kernel)}: {format_count(threads)} thread instructions, "
        f"{format_count(warps)} warp instructions in "
        f"{format_seconds(trace.data.elapsed_s)} ({trace.data.engine} engine)"
    )


def check_report(result: CheckResult) -> RenderableType:
    """What a check found in each buffer, as a table."""
    table = column_table(
        f"{source_name(result.trace.data.kernel)} against its reference",
        "buffer",
        ">elements",
        ">mismatches",
        ">absolute error",
        ">relative error",
    )
    for item in result.comparisons:
        table.add_row(
            item.name,
            f"{item.elements:,}",
            f"{item.mismatches:,}",
            f"{item.absolute_error:.3g}",
            f"{item.relative_error:.3g}",
        )
    return Group(table, Text("passed" if result.passed else "failed: the buffers differ"))


def _indented(line: str) -> RenderableType:
    """A line whose continuation keeps its indentation."""
    text = line.lstrip(" ")
    return Padding(Text(text), (0, 0, 0, len(line) - len(text)), expand=False)


def exact_number(value: float) -> str:
    """Counts in full, everything else with six significant digits."""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.6g}"
