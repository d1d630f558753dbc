"""Times the validation workloads that have an OpenCL C twin on any OpenCL device.

    pip install .
    python validation/measure_opencl.py

The results go to validation/measured/<device>-opencl.json; docs/measuring.md describes them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from fake_accelerator import FakeAccelerator

from kernelcast.measuring.accelerator import Accelerator
from kernelcast.measuring.cases import opencl_twin
from kernelcast.measuring.command_line import (
    add_common_options,
    exit_status,
    find_chosen,
    list_cases,
    measure_all,
)
from kernelcast.measuring.opencl_device import OpenClDevice, device_names
from kernelcast.validation.measured_times import Api


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Times the validation workloads on an OpenCL device: each kernel is launched "
        "once and its results compared with the reference, then timed with profiled events from "
        "cold caches. Exit status: 0, 1 when a case failed, 2 when nothing could be measured.",
        epilog="To see the devices: python validation/measure_opencl.py --devices",
    )
    add_common_options(parser)
    parser.add_argument("--devices", action="store_true", help="show the devices, and end")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Lists devices or cases, or measures the chosen ones; the exit status."""
    if arguments.devices:
        for number, name in enumerate(device_names()):
            sys.stdout.write(f"{number}: {name}\n")
        return 0
    if arguments.list:
        list_cases(find_chosen(arguments, opencl_twin))
        return 0
    device: Accelerator = (
        FakeAccelerator(Api.OPENCL) if arguments.dry_run else OpenClDevice(arguments.device)
    )
    return measure_all(device, arguments, opencl_twin)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of the command line."""
    arguments = _parser().parse_args(argv)
    return exit_status(lambda: run(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
