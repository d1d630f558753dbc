"""PTX and machine code of the validation's workloads side by side, as a table in Markdown.

`python benchmarks/native_table.py [--architecture sm_80] [NAME ...]`: registers per thread,
executed instructions of all threads, the share of those on integers, and those that access shared
memory or branch. Registers of PTX are the most that live at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.analysis.control_flow import max_live_registers
from kernelcast.simcore.isa.ir.kernel import (
    Branch,
    Compute,
    Instruction,
    Jump,
    Kernel,
    Load,
    Store,
)
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = ["row", "workload_files"]

_WORKLOADS = Path(__file__).parents[1] / "validation" / "workloads"
_HEAD = ("registers", "instructions", "integer %", "shared", "branches")


def workload_files() -> list[Path]:
    """Workloads whose kernels are PTX."""
    return [f for f in sorted(_WORKLOADS.glob("*/*.toml")) if ".ptx" in f.read_text()]


def row(workload: Workload, architecture: str) -> list[str]:
    """A line of the table: each number of the PTX, then of the machine code."""
    text = workload.kernel.source.read_text(encoding="utf-8")
    name = workload.kernel.source.name
    source, entry = read_ptx(text, name), workload.load_kernel().name
    module = assembled_module(text, architecture, name, source)
    for reason in module.rejected.get(entry, ()):
        raise reason
    both = [_numbers(workload, m.kernels[entry]) for m in (source, module)]
    cells = [f"{both[0][key]:,} / {both[1][key]:,}" for key in _HEAD]
    return [f"{workload.path.parent.name}/{workload.path.stem}", *cells]


def _numbers(workload: Workload, kernel: Kernel) -> Mapping[str, int]:
    launch = workload.make_launch("small", kernel=kernel)
    trace = execute(kernel, launch, engine="jit", record_memory=False)
    lanes = trace.classes.totals()[1]
    counted = {i.pc: i for i in kernel.instructions if not i.is_part and not i.is_added}
    executed = {pc: int(lanes[pc]) for pc in counted}
    total = sum(executed.values())
    of_integers = sum(n for pc, n in executed.items() if _is_of_integers(counted[pc]))
    return {
        "registers": max_live_registers(kernel)
        if kernel.machine is None
        else kernel.machine.registers,
        "instructions": total,
        "integer %": round(100 * of_integers / max(total, 1)),
        "shared": sum(n for pc, n in executed.items() if _is_shared(counted[pc])),
        "branches": sum(n for pc, n in executed.items() if _is_branch(counted[pc])),
    }


def _is_of_integers(instruction: object) -> bool:
    return isinstance(instruction, Compute) and not instruction.type.is_float


def _is_branch(instruction: Instruction) -> bool:
    """Whether the instruction goes elsewhere in the kernel; lanes that exit do not."""
    return isinstance(instruction, Branch | Jump) and not instruction.mnemonic.startswith("EXIT")


def _is_shared(instruction: object) -> bool:
    return (
        isinstance(instruction, Load | Store) and instruction.address.space is AddressSpace.SHARED
    )


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--architecture", default="sm_80")
    options = parser.parse_args()
    sys.stdout.write("| workload | " + " | ".join(_HEAD) + " |\n")
    sys.stdout.write("|---" * (len(_HEAD) + 1) + "|\n")
    for file in workload_files():
        if options.names and file.stem not in options.names:
            continue
        try:
            cells = row(load_workload(file), options.architecture)
        except KernelcastError as error:
            sys.stderr.write(f"{file.stem}: {error}\n")
            continue
        sys.stdout.write("| " + " | ".join(cells) + " |\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(_main())
