"""What a trace holds, as a table, a record and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table

from kernelcast.simcore.isa.ir.source_names import source_name

if TYPE_CHECKING:
    from kernelcast.execution.kernel_trace import KernelTrace

__all__ = ["trace_record", "trace_rows", "trace_table"]


def trace_record(trace: KernelTrace) -> dict[str, Any]:
    """Sizes of its tables, and what was executed altogether."""
    data = trace.data
    warps, threads = data.source_instructions()
    return {
        "kernel": data.kernel,
        "grid": list(data.grid),
        "thread_block": list(data.thread_block),
        "warp_width": data.warp_width,
        "repeats": trace.repeats,
        "engine": data.engine,
        "code": data.code,
        "registers": data.resources.registers,
        "shared_bytes": data.resources.shared_bytes,
        "instructions": len(data.instructions),
        "warp_instructions": warps,
        "thread_instructions": threads,
        "accesses": len(data.accesses),
        "shared_and_constant_accesses": int(data.pattern_counts.count.sum()),
        "patterns": len(data.patterns.mask),
        "classes": len(data.classes.warp_issues),
        "barrier_stages": len(data.stage_warp_issues),
    }


def trace_rows(trace: KernelTrace) -> list[tuple[str, object]]:
    """What a trace holds, as rows below a header."""
    cells = [(name, _cell(value)) for name, value in trace_record(trace).items()]
    return [("name", "value"), *cells]


def trace_table(trace: KernelTrace) -> RenderableType:
    """What a trace holds, as a table."""
    table = Table(title=f"trace of {source_name(trace.data.kernel)}", title_justify="left")
    table.add_column("")
    table.add_column("value", justify="right", overflow="fold")
    for name, value in trace_record(trace).items():
        shown = f"{value:,}" if isinstance(value, int) else str(_cell(value))
        table.add_row(name.replace("_", " "), shown)
    return table


def _cell(value: object) -> object:
    """A cell of the table: sizes as 64x4x1, nothing for what is not known."""
    if isinstance(value, list):
        return "x".join(map(str, value))
    return "" if value is None else value
