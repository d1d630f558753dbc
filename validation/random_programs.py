"""Random kernels on a CUDA GPU against what kernelcast makes of the same machine code.

    python validation/random_programs.py make PACK.zip --count 4000
    python validation/random_programs.py run PACK.zip RESULTS.npz
    python validation/random_programs.py compare PACK.zip RESULTS.npz

`make` and `compare` need this repository with its tests, and NVIDIA's assembler; `run` needs a GPU,
NumPy and CuPy alone. The kernels are those of `tests/ptx_frontend/sass/random_programs.py`.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import math
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_TOGETHER = 8
"""Kernels of one cubin."""
_SCALARS = (9, 3)
"""`pitch` and `three`, the last arguments."""
_ADDRESSES = re.compile(r"ld\.local\.v2\.u(?:64|32) [^;]*depot\+(?:16|24)\]|mov\.u64 %a1, depot")
"""Reads of an address as a number, which each machine has its own of."""
_WARP = 32

Bytes = npt.NDArray[np.uint8]


def _parts(count: int, first: int) -> Iterator[tuple[int, int]]:
    for start in range(first, first + count, _TOGETHER):
        yield start, min(_TOGETHER, first + count - start)


def _assembled(part: tuple[int, int], architecture: str) -> tuple[bytes, list[int]]:
    from kernelcast.inputs.native.assembler import assemble
    from tests.ptx_frontend.sass.random_programs import programs, together

    items = programs(*part)
    content = assemble(together(items), architecture, "random.ptx", ("-fmad=false",))
    return content, [item.shape for item in items]


def _make(options: argparse.Namespace) -> int:
    from tests.simcore.random_kernels import SHAPES, random_buffers

    parts = list(_parts(options.count, options.first))
    with zipfile.ZipFile(options.pack, "w", zipfile.ZIP_DEFLATED) as pack, _pool() as pool:
        shapes = []
        for (start, _), (content, found) in zip(
            parts, pool.map(_assembled, parts, [options.architecture] * len(parts)), strict=True
        ):
            pack.writestr(f"{start}.cubin", content)
            shapes += found
        buffers = io.BytesIO()
        np.savez(buffers, *random_buffers())
        pack.writestr("buffers.npz", buffers.getvalue())
        about = {
            "architecture": options.architecture,
            "first": options.first,
            "launches": [SHAPES[shape] for shape in shapes],
        }
        pack.writestr("about.json", json.dumps(about))
    return 0


def _run(options: argparse.Namespace) -> int:
    cupy: Any = importlib.import_module("cupy")

    with zipfile.ZipFile(options.pack) as pack:
        about = json.loads(pack.read("about.json"))
        start = np.load(io.BytesIO(pack.read("buffers.npz")))
        initial = [start[name] for name in start.files]
        memory = [cupy.asarray(buffer) for buffer in initial]
        results: list[Bytes] = []
        module: Any = None
        for index, (grid, block) in enumerate(about["launches"]):
            if index % _TOGETHER == 0:
                module = cupy.cuda.function.Module()
                module.load(pack.read(f"{about['first'] + index}.cubin"))
            for buffer, values in zip(memory, initial, strict=True):
                buffer.set(values)
            kernel = module.get_function(f"k{index % _TOGETHER}")
            kernel(tuple(grid), tuple(block), (*memory, *map(np.uint32, _SCALARS)))
            results.append(np.concatenate([buffer.get() for buffer in memory]))
    np.savez_compressed(options.results, results=np.stack(results))
    sys.stdout.write(f"{len(results)} kernels ran\n")
    return 0


def _executed(part: tuple[int, int], content: bytes, engine: str) -> list[Bytes | str]:
    """The memory that each kernel of a cubin leaves on an engine, or why there is none."""
    from kernelcast.inputs.native.cubins import AssembledSource, cubin_module
    from kernelcast.ptx_frontend import read_ptx
    from kernelcast.simcore.engine import execute
    from kernelcast.simcore.launch.launch import Launch
    from tests.ptx_frontend.sass.random_programs import programs, together
    from tests.simcore.random_kernels import SHAPES, random_buffers

    items = programs(*part)
    text = together(items)
    module = cubin_module(
        content, "random.cubin", AssembledSource(text, read_ptx(text, "random.ptx"))
    )
    found: list[Bytes | str] = []
    for index, item in enumerate(items):
        name = f"k{index}"
        if name in module.rejected:
            found.append(f"refused: {module.rejected[name][0]}")
            continue
        buffers = random_buffers()
        try:
            execute(
                module.kernels[name],
                Launch(*SHAPES[item.shape], (*buffers, *_SCALARS)),
                engine=engine,
            )
        except Exception as error:  # whatever it is: the GPU ran the kernel
            found.append(f"{type(error).__name__}: {error}")
            continue
        found.append(np.concatenate(buffers))
    return found


def _left_open(text: str, threads: int) -> str:
    """What makes the results of a kernel a machine's own, or ""."""
    if _ADDRESSES.search(text):
        return "reads an address as a number"
    if "shfl." in text and threads % _WARP:
        return "exchanges with lanes that are not there"
    return ""


def _compare(options: argparse.Namespace) -> int:
    from tests.ptx_frontend.sass.random_programs import programs
    from tests.simcore.random_kernels import SHAPES

    measured: npt.NDArray[Any] = np.load(options.results)["results"]
    with zipfile.ZipFile(options.pack) as pack:
        first = json.loads(pack.read("about.json"))["first"]
        parts = list(_parts(len(measured), first))
        contents = [pack.read(f"{start}.cubin") for start, _ in parts]
    reasons = [
        _left_open(item.text, math.prod(SHAPES[item.shape][1]))
        for item in programs(first, len(measured))
    ]
    wrong = 0
    for engine in options.engine or ["jit"]:
        with _pool() as pool:
            found = pool.map(_executed, parts, contents, [engine] * len(parts))
            executed = (one for of_part in found for one in of_part)
            for seed, (one, other) in enumerate(zip(measured, executed, strict=True), first):
                what = _unlike(one, other)
                if what and not reasons[seed - first]:
                    wrong += 1
                    sys.stdout.write(f"{seed} on {engine}: {what}\n")
                    sys.stdout.flush()
    sys.stdout.write(f"{len(measured) - sum(map(bool, reasons))} kernels, {wrong} differ\n")
    for reason in sorted({reason for reason in reasons if reason}):
        sys.stdout.write(f"{reasons.count(reason)} left out: {reason}\n")
    return 1 if wrong else 0


def _unlike(measured: Bytes, executed: Bytes | str) -> str:
    if isinstance(executed, str):
        return executed
    places = np.flatnonzero(measured != executed)
    return f"byte {places[0]} and {places.size - 1} others" if places.size else ""


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(mp_context=get_context("spawn"))


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status: 1 where a kernel did something else."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "make": _make,
        "run": _run,
        "compare": _compare,
    }
    for name, action in actions.items():
        command = commands.add_parser(name)
        command.set_defaults(action=action)
        command.add_argument("pack", type=Path, help="zip file of cubins and launches")
        if name == "make":
            command.add_argument("--count", type=int, default=4000)
            command.add_argument("--first", type=int, default=0, help="seed of the first kernel")
            command.add_argument("--architecture", default="sm_90")
        else:
            command.add_argument("results", type=Path, help="npz file of what memory held")
        if name == "compare":
            command.add_argument("--engine", action="append", choices=("jit", "reference"))
    options = parser.parse_args(argv)
    return int(options.action(options))


if __name__ == "__main__":
    raise SystemExit(main())
