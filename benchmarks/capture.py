"""What a captured launch costs here: empty ones, and those of a solver beside the JIT engine alone.

    python benchmarks/capture.py [--launches N]

A program in C makes the launches; a C compiler is needed. Each figure is the median of three runs.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kernelcast as kc
from kernelcast.program_capture.libraries import libraries

HERE = Path(__file__).parent
PTX = HERE / "launches.ptx"
RUNS = 3
SIDE = 1024
EMPTY_TARGET_US = 100.0
SOLVER_TARGET = 3.0


def built(folder: Path) -> Path:
    """The program, linked to the driver that stands in for CUDA's."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("a C compiler is needed")
    found, program = libraries(), folder / "launches"
    command = [compiler, "-O2", str(HERE / "launches.c"), str(found / "libcuda.so.1")]
    subprocess.run([*command, f"-Wl,-rpath-link,{found}", "-o", str(program)], check=True)
    return program


def captured_us(program: Path, kind: str, count: int) -> float:
    """Microseconds of a launch under capture, as the program measures them."""
    command = [sys.executable, "-m", "kernelcast", "capture", "--device", "a100-40gb", "--json"]
    done = subprocess.run(
        [*command, "--", str(program), str(PTX), kind, str(count)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stderr.split()[-1])  # with --json the program's output goes there


def pure_us(count: int) -> float:
    """Microseconds of a sweep of the solver on the JIT engine, without a program and estimates."""
    memory = kc.DeviceMemory()
    grids = [memory.allocate(4 * SIDE * SIDE, name) for name in ("from", "to")]
    kernel = kc.load(PTX)["solver"]
    sweeps = [
        kernel.prepare(
            grid=SIDE * SIDE // 256, block=256, args=[first, second, SIDE], memory=memory
        )
        for first, second in (grids, grids[::-1])
    ]
    for sweep in sweeps:
        sweep.run()
    began = time.perf_counter()
    for number in range(count):
        sweeps[number & 1].run()
    return (time.perf_counter() - began) / count * 1e6


def main() -> None:
    """Measures and prints both figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=10_000)
    count = parser.parse_args().launches
    with tempfile.TemporaryDirectory() as folder:
        program = built(Path(folder))
        empty = statistics.median(captured_us(program, "empty", count) for _ in range(RUNS))
        pairs = [
            (captured_us(program, "solver", count // 2), pure_us(count // 2)) for _ in range(RUNS)
        ]
    ratio = statistics.median(captured / pure for captured, pure in pairs)
    sys.stdout.write(
        f"empty launch: {empty:.1f} us (target {EMPTY_TARGET_US:.0f})\n"
        f"sweep of a solver: {ratio:.2f} times the JIT engine alone (target {SOLVER_TARGET:.0f})\n"
    )


if __name__ == "__main__":
    main()
