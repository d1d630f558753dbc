"""Executes what a GPU executed, as its machine code, and compares the buffers that it left.

    python validation/compare_results.py validation/measured/<device>.json

The file is one of validation/measure_cuda.py; docs/measuring.md describes it. No GPU is needed, but
assembler and disassembler are: pip install 'kernelcast[native]'.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kernelcast.measuring.accelerator import MeasuringError
from kernelcast.measuring.cases import find_workloads
from kernelcast.measuring.command_line import exit_status
from kernelcast.validation.machine_results import RowComparison, compare_results
from kernelcast.validation.measured_times import read_measured

_DIFFERENT = 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Compares the results that a GPU left with those of its machine code, executed "
        "here. Exit status: 0; 1 when a result is beyond the workload's tolerance or a workload "
        "could not be executed; 2 when nothing could be compared."
    )
    parser.add_argument("file", type=Path, help="what validation/measure_cuda.py wrote")
    parser.add_argument("--workload", action="append", default=[], metavar="NAME")
    parser.add_argument("--size", action="append", default=[], metavar="NAME")
    parser.add_argument("--engine", default="auto", help="reference, jit or auto (default)")
    return parser


def _show(row: RowComparison) -> None:
    name = f"{row.workload} {row.size}"
    if row.problem:
        sys.stdout.write(f"{name}: not executed: {row.problem}\n")
    for item in row.buffers:
        sys.stdout.write(f"{name}: {item.name}: {item.verdict}\n")
    sys.stdout.flush()


def run(arguments: argparse.Namespace) -> int:
    """Compares the chosen rows one by one; the exit status."""
    measured = read_measured(arguments.file)
    files = find_workloads(arguments.workload)
    rows = []
    for row in compare_results(measured, files, arguments.size, arguments.engine):
        _show(row)
        rows.append(row)
    if not rows:
        raise MeasuringError(f"{arguments.file} has no results of what was asked for")
    equal, good = sum(row.is_equal for row in rows), sum(row.is_good for row in rows)
    sys.stdout.write(f"{equal} of {len(rows)} equal, {good} within their tolerance\n")
    return 0 if good == len(rows) else _DIFFERENT


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of the command line."""
    arguments = _parser().parse_args(argv)
    return exit_status(lambda: run(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
