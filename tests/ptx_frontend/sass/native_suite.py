"""The workloads of the validation and the examples as machine code, on both engines.

`python -m tests.ptx_frontend.sass.native_suite [--architectures sm_80 ...] [NAME ...]` shows what
differs: results from the NumPy reference, results with `-fmad=false` from those of the PTX bit for
bit, and sectors of global memory from those of the PTX.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from kernelcast.errors import KernelcastError
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.native.cubins import assembled_module
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

__all__ = ["ARCHITECTURES", "SuiteResult", "files", "native_results"]

ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
_ROOT = Path(__file__).parents[3]
_ENGINES = ("reference", "jit")
_SIZE = "small"
_DEVICE = "v100-sxm2"


@dataclass(frozen=True)
class SuiteResult:
    """A workload on an architecture: `failure` is why it does not run or what is wrong.

    `inexact`: arrays that differ from those of the PTX in some bits, with `-fmad=false`.
    `sectors`: of global loads and stores, those of the PTX first; empty where they are equal.
    """

    name: str
    architecture: str
    failure: str = ""
    inexact: tuple[str, ...] = ()
    sectors: tuple[int, ...] = ()


def files() -> list[Path]:
    """Workload files whose kernels are PTX."""
    folders = (_ROOT / "validation" / "workloads", _ROOT / "examples")
    found = (file for folder in folders for file in sorted(folder.glob("*/*.toml")))
    return [file for file in found if 'source = "' in (text := file.read_text()) and ".ptx" in text]


def native_results(file: Path, architecture: str) -> SuiteResult:
    """What a workload does as machine code."""
    workload = load_workload(file)
    text = workload.kernel.source.read_text(encoding="utf-8")
    try:
        return _result(workload, text, architecture)
    except KernelcastError as error:
        return SuiteResult(file.stem, architecture, f"{type(error).__name__}: {error}")


def _result(workload: Workload, text: str, architecture: str) -> SuiteResult:
    name, source = workload.path.stem, read_ptx(text, workload.path.name)
    entry = workload.load_kernel().name
    plain, exact = (
        _machine(text, architecture, entry, options) for options in ((), ("-fmad=false",))
    )
    for engine in _ENGINES:
        launch = _launch(workload, plain)
        before = _by_name(workload, _copies(launch.arguments))
        execute(plain, launch, engine=engine, record_memory=False)
        found = _by_name(workload, launch.arguments)
        for item in workload.compare(before, found, _SIZE):
            if item.mismatches:
                failure = f"{engine}: {item.name} has {item.mismatches} wrong elements"
                return SuiteResult(name, architecture, failure)
    expected, found_exactly = (
        _executed(workload, kernel) for kernel in (source.kernels[entry], exact)
    )
    inexact = tuple(
        spec.name
        for spec, one, other in zip(workload.arguments, expected, found_exactly, strict=True)
        if isinstance(one, np.ndarray) and not _same(one, other)
    )
    counts = [_sectors(workload, kernel) for kernel in (source.kernels[entry], plain)]
    sectors = () if counts[0] == counts[1] else (*counts[0], *counts[1])
    return SuiteResult(name, architecture, "", inexact, sectors)


def _machine(text: str, architecture: str, entry: str, options: Sequence[str]) -> Kernel:
    module = assembled_module(text, architecture, "suite.ptx", read_ptx(text, "suite.ptx"), options)
    for reason in module.rejected.get(entry, ()):
        raise reason
    return module.kernels[entry]


def _launch(workload: Workload, kernel: Kernel) -> Launch:
    return replace(workload.make_launch(_SIZE, kernel=kernel), registers=None)


def _executed(workload: Workload, kernel: Kernel) -> tuple[Argument, ...]:
    launch = _launch(workload, kernel)
    execute(kernel, launch, engine="jit", record_memory=False)
    return launch.arguments


def _copies(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def _by_name(workload: Workload, arguments: Sequence[Argument]) -> dict[str, Argument]:
    return {s.name: a for s, a in zip(workload.arguments, arguments, strict=True)}


def _same(one: np.ndarray, other: Argument) -> bool:
    """Bit for bit; any NaN is as good as another."""
    assert isinstance(other, np.ndarray)
    is_float = one.dtype.kind == "f"
    unlike = one.view(np.uint8).reshape(-1) != other.view(np.uint8).reshape(-1)
    if not unlike.any():
        return True
    different = unlike.reshape(-1, one.dtype.itemsize).any(axis=1)
    return is_float and bool(
        np.isnan(one.reshape(-1)[different]).all() and np.isnan(other.reshape(-1)[different]).all()
    )


def _sectors(workload: Workload, kernel: Kernel) -> tuple[int, int]:
    """Sectors of global loads and stores."""
    launch = _launch(workload, kernel)
    device = load_device(_DEVICE)
    trace = RunnableKernel(kernel).run(
        grid=launch.grid,
        block=launch.thread_block,
        args=launch.arguments,
        shared_bytes=launch.dynamic_shared_bytes,
        devices=(device,),
        engine="jit",
    )
    traffic = trace.profile(device).traffic
    assert traffic is not None
    return int(traffic.global_load_sectors or 0), int(traffic.global_store_sectors or 0)


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--architectures", nargs="+", default=list(ARCHITECTURES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    chosen = [f for f in files() if not options.names or f.stem in options.names]
    work = list(product(chosen, options.architectures))
    failed = count = 0
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for result in pool.map(native_results, *zip(*work, strict=True)):
            count += 1
            failed += bool(result.failure)
            if result.failure or result.inexact or result.sectors:
                sys.stdout.write(f"{result}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{count} workloads as machine code, {failed} fail\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(_main())
