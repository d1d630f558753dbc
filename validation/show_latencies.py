"""Shows the latencies that validation/measure_cuda.py measured, by opcodes of the machine code.

    python validation/show_latencies.py validation/measured/<device>.json

No GPU is needed. Chains that were timed without their machine code get that of the assembler here,
where there is one, and are marked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kernelcast.measuring.accelerator import MeasuringError
from kernelcast.measuring.chains.machine import with_machine
from kernelcast.measuring.command_line import exit_status
from kernelcast.validation.latency_chains import MeasuredChain
from kernelcast.validation.measured_times import read_measured


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Shows cycles from each instruction to the one that waits for its result. "
        "`stalls` are the cycles that the assembler's control bits wait in a step."
    )
    parser.add_argument("file", type=Path, help="what validation/measure_cuda.py wrote")
    return parser


def _line(chain: MeasuredChain) -> str:
    step = f"{chain.name}: {chain.line.cycles_per_step:.2f} cycles a step"
    parts = [f"{step} (farthest point {chain.line.residual:.1f})"]
    parts += [f"{pair}: {cycles:.2f}" for pair, cycles in chain.pair_cycles.items()]
    machine = chain.machine
    if machine is not None:
        stalls = machine.stall_cycles
        parts += [] if stalls is None else [f"stalls {stalls:.2f}"]
        parts += [] if machine.is_loaded else [f"assembled here for {machine.architecture}"]
    return "; ".join(parts)


def run(arguments: argparse.Namespace) -> int:
    """Prints one line for each chain; MeasuringError when there is none."""
    measured = read_measured(arguments.file)
    if measured.latencies is None:
        raise MeasuringError(
            f"{arguments.file} has no latencies: measure them with --latencies yes"
        )
    found = with_machine(measured.latencies, measured.device)
    for chain in found.chains:
        sys.stdout.write(f"{_line(chain)}\n")
    for failure in found.failures:
        sys.stdout.write(f"{failure.name}: not measured: {failure.error}\n")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of the command line."""
    arguments = _parser().parse_args(argv)
    return exit_status(lambda: run(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
