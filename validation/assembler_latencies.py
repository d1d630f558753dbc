"""Shows the latencies that the installed assembler counts on; no GPU is needed.

    python validation/assembler_latencies.py sm_80 sm_90
    python validation/assembler_latencies.py --json sm_70

A row is a producer and a consumer in a chain of dependent instructions, with the stall cycles that
the assembler writes between them; `scoreboard` where it waits for one, as the time is not fixed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from kernelcast.measuring.chains.stalls import StatedLatency, stated_latencies
from kernelcast.measuring.command_line import exit_status

ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Shows the cycles that the assembler has a warp stall from each instruction "
        "to the one that reads its result."
    )
    parser.add_argument("architectures", nargs="*", default=ARCHITECTURES, help="sm_80, ...")
    parser.add_argument("--json", action="store_true", help="one JSON list instead of lines")
    return parser


def _line(item: StatedLatency) -> str:
    cycles = "scoreboard" if item.cycles is None else f"{item.cycles} cycles"
    return f"{item.architecture} {item.chain}: {item.producer} -> {item.consumer}: {cycles}"


def run(arguments: argparse.Namespace) -> int:
    """Prints a line or a record for each pair; InputError without the tools."""
    found = [item for name in arguments.architectures for item in stated_latencies(name)]
    if arguments.json:
        sys.stdout.write(json.dumps([asdict(item) for item in found], indent=1) + "\n")
    else:
        sys.stdout.writelines(f"{_line(item)}\n" for item in found)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of the command line."""
    arguments = _parser().parse_args(argv)
    return exit_status(lambda: run(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
