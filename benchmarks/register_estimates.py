"""Registers per thread by our estimates beside those of ptxas.

`python benchmarks/register_estimates.py [suite] [convolutions] [triton] [--rows]`: for the
workloads of the validation (sm_80), for 200 unrolled variants of a tiled convolution (compiled by
nvcc), and for Triton's kernels (sm_80 and sm_90), how many lie within 15 % and 25 % as written and
after the pre-pass.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from convolution_variants import convolution_source
from triton_kernels import triton_ptx

from kernelcast.inputs.native.assembler import assemble
from kernelcast.ptx_frontend import read_ptx
from kernelcast.ptx_frontend.sass.container.cubin import read_cubin
from kernelcast.simcore.isa.analysis.control_flow import max_live_registers
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.isa.schedule.register_estimate import estimated_registers

__all__ = ["compared", "sources"]

_WORKLOADS = Path(__file__).parents[1] / "validation" / "workloads"
_SETS = ("suite", "convolutions", "triton")
_TRITON = {"sm_80": "sm_80", "sm_90": "sm_90a"}
Row = tuple[str, int, int, int]


def sources(group: str) -> Iterator[tuple[str, str, str]]:
    """(name, PTX, architecture) of the modules of a set."""
    if group == "suite":
        for file in sorted(_WORKLOADS.glob("*/*.ptx")):
            yield f"{file.parent.name}/{file.name}", file.read_text("utf-8"), "sm_80"
    elif group == "convolutions":
        with tempfile.TemporaryDirectory() as folder:
            source, made = Path(folder) / "convolutions.cu", Path(folder) / "convolutions.ptx"
            source.write_text(convolution_source(), encoding="utf-8")
            subprocess.run(["nvcc", "-arch=sm_80", "-ptx", source, "-o", made], check=True)
            yield "convolutions", made.read_text("utf-8"), "sm_80"
    else:
        for architecture, assembled in _TRITON.items():
            for name, ptx in triton_ptx(architecture):
                yield f"{name} ({architecture})", ptx, assembled


def compared(name: str, ptx: str, architecture: str) -> list[Row]:
    """(kernel, registers by ptxas, as written, after the pre-pass) of each kernel of a module."""
    cubin = read_cubin(assemble(ptx, architecture, name), name)
    module = read_ptx(ptx, name)
    return [
        (f"{name} {entry}", cubin.functions[entry].registers, *_ours(module.kernels[entry]))
        for entry in module.kernels
    ]


def _ours(kernel: Kernel) -> tuple[int, int]:
    return max_live_registers(kernel), estimated_registers(kernel)


def _summary(title: str, rows: list[Row], *, is_ordered: bool) -> str:
    ratio = np.array([(row[3] if is_ordered else row[2]) / row[1] for row in rows])
    shares = [100 * np.mean(np.abs(ratio - 1) <= limit) for limit in (0.15, 0.25)]
    ends = np.percentile(ratio, [0, 10, 50, 90, 100])
    return (
        f"{title}: {len(rows)} kernels, {shares[0]:.0f} % within 15 %, {shares[1]:.0f} % within "
        f"25 %, ratios {' '.join(f'{x:.2f}' for x in ends)} (0, 10, 50, 90, 100 %)\n"
    )


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", choices=[*_SETS, []], default=list(_SETS))
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args()
    for group in options.sets:
        rows = [row for source in sources(group) for row in compared(*source)]
        for row in sorted(rows, key=lambda row: row[3] / row[1]) if options.rows else ():
            sys.stdout.write(f"{row[3] / row[1]:5.2f} {row[3]:4} for {row[1]:4} {row[0]}\n")
        sys.stdout.write(_summary(f"{group}, as written", rows, is_ordered=False))
        sys.stdout.write(_summary(f"{group}, after the pre-pass", rows, is_ordered=True))
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(_main())
