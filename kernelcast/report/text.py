"""Results as text and tables for a terminal. Every function returns something rich can show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

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
    "comparison_table",
    "devices_table",
    "estimate_report",
    "exact_number",
    "mix_table",
    "model_report",
    "models_table",
    "profile_table",
    "run_line",
    "titled_table",
]


def estimate_report(estimate: Estimate) -> RenderableType:
    """Headline and explanation, then the model's parameters in the order of its equations."""
    parameters = titled_table("", "parameter", ">value", "meaning")
    for item in estimate.parameters:
        parameters.add_row(item.symbol, format_quantity(item.value, item.unit), item.meaning)
    return Group(
        Text(estimate.headline, style="bold"),
        *(_indented(line) for line in estimate.explanation),
        parameters,
        Text(),
    )


def comparison_table(estimates: Sequence[Estimate]) -> RenderableType:
    """Device and model against time; the speed-up is over the first row of the same model."""
    table = titled_table(
        source_name(estimates[0].kernel), "device", "model", ">time", ">speed-up", "bound", "valid"
    )
    first = {item.model: item.time_s for item in reversed(estimates)}
    for item in estimates:
        table.add_row(
            item.device,
            item.model,
            format_seconds(item.time_s),
            f"{first[item.model] / item.time_s:.2f}",
            item.bottleneck,
            "yes" if item.is_valid else "; ".join(item.validity.reasons),
        )
    return table


def profile_table(profile: KernelProfile, metrics: Iterable[MetricValue]) -> RenderableType:
    """The metrics of a profile as a table, and its occupancy."""
    table = titled_table(
        f"{source_name(profile.kernel)} on {profile.device}", "metric", ">value", "unit", "meaning"
    )
    for item in metrics:
        table.add_row(item.name, exact_number(item.value), item.unit, item.description)
    parts: list[RenderableType] = [table]
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
    parts.extend(
        Text(
            f"{spot.origin_place or spot.place} {spot.mnemonic}: "
            f"{format_count(spot.transactions)} transactions, "
            f"{format_count(spot.ideal_transactions)} would do"
        )
        for spot in profile.hot_spots
    )
    parts.extend(Text(f"assumed: {item}") for item in profile.assumptions)
    return Group(*parts)


def _mix_title(mix: InstructionMix) -> str:
    """What was counted: machine code of an architecture with its registers, or the source."""
    name = source_name(mix.kernel)
    if mix.architecture is not None:
        return f"{name}, machine code of {mix.architecture}, {mix.registers} registers a thread"
    return f"{name}, {mix.counting.value} instructions of the source"


def mix_table(mix: InstructionMix) -> RenderableType:
    """The instruction mix as a table."""
    table = titled_table(
        _mix_title(mix),
        "instruction",
        "unit",
        ">threads",
        ">warps",
        ">share",
    )
    total = mix.thread_instructions
    for row in mix.rows:
        share = f"{row.thread / total:.1%}" if total else ""
        table.add_row(row.opcode, row.unit, f"{row.thread:,}", f"{row.warp:,}", share)
    table.add_section()
    table.add_row("all", "", f"{total:,}", f"{mix.warp_instructions:,}", "")
    counts = (f"{count:,.0f} {name}" for name, count in mix.tensor_operations.items())
    below = [Text(f"tensor operations: {', '.join(counts)}")] if mix.tensor_operations else []
    if mix.note:
        below.append(Text(mix.note))
    return Group(table, *below) if below else table


def devices_table(devices: Iterable[Device]) -> RenderableType:
    """The devices as a table."""
    table = titled_table(
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


def models_table(models: Iterable[ModelDescription]) -> RenderableType:
    """The models with their summaries as a table."""
    table = titled_table("", "model", "summary")
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
    table = titled_table(
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


def titled_table(title: str, *columns: str) -> Table:
    """A table whose columns marked with `>` are numbers, aligned to the right."""
    table = Table(title=title or None, title_justify="left")
    for column in columns:
        table.add_column(
            column.lstrip(">"),
            justify="right" if column.startswith(">") else "left",
            overflow="fold",
        )
    return table
