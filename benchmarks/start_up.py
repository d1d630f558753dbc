"""How long a user waits: for the import, for the first result, for one of full size.

Run as a script, it is the process whose first result is measured.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from targets import Target
from timing import isolated_environment, process_core_seconds, process_wall_seconds

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel

__all__ = ["DEVICE", "start_up_targets"]

ROOT = Path(__file__).parents[1]
DEVICE = "gtx-1060-6gb"
_EXAMPLES = ("saxpy/saxpy", "sor/sor", "sgemm/sgemm32", "reduction/reduction")
_GROUPS = 90
_THREADS = 128
_HEAD = """.version 8.0
.target sm_75
.address_size 64
.visible .entry long_kernel(.param .u64 values, .param .u64 sums)
{
    .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<5>; .reg .f32 %f<8>; .reg .f32 %value;
    ld.param.u64 %rd0, [values];
    ld.param.u64 %rd1, [sums];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd2, %r0, 4;
    add.s64 %rd3, %rd0, %rd2;
    add.s64 %rd4, %rd1, %rd2;
"""


def long_kernel() -> str:
    """PTX of about a thousand instructions: loads, arithmetic and ifs, no loop."""
    lines = [_HEAD]
    lines += [f"    mov.f32 %f{i}, 0f3F800000;" for i in range(8)]
    for group in range(_GROUPS):
        a, b, c = (f"%f{(group + k) % 8}" for k in range(3))
        lines.append(
            f"""    ld.global.f32 %value, [%rd3+{4 * group}];
    fma.rn.f32 {a}, %value, {b}, {c};
    mul.f32 {b}, {a}, %value;
    sub.f32 {c}, {b}, {a};
    fma.rn.f32 {b}, {b}, 0f3E800000, {c};
    max.f32 {c}, {c}, {a};
    setp.gt.f32 %p, {a}, {b};
    @%p bra $after{group};
    mul.f32 {a}, {a}, 0f3F000000;
    add.f32 {b}, {b}, %value;
    min.f32 {c}, {c}, 0f40000000;
$after{group}:"""
        )
    lines += [f"    add.f32 %f0, %f0, %f{i};" for i in range(1, 8)]
    return "\n".join([*lines, "    st.global.f32 [%rd4], %f0;", "    ret;", "}", ""])


def _import_seconds(repeats: int) -> float:
    return process_wall_seconds([sys.executable, "-c", "import kernelcast"], repeats)


@dataclass(frozen=True, slots=True)
class FirstResults:
    """Seconds from a process's start to its first result, without and with a filled cache.

    Then, in that process, of the same source read anew, and of the same kernel run again.
    """

    empty_s: float
    filled_s: float
    anew_s: float
    again_s: float


def _first_results(engine: str, folder: Path, repeats: int, *, records: bool) -> FirstResults:
    """`records`: with memory accesses, not only counters."""
    source = folder / "long_kernel.ptx"
    source.write_text(long_kernel())
    found: list[tuple[float, ...]] = []
    for turn in range(repeats):
        environment = isolated_environment(folder / f"cache{turn}{records}")
        results = []
        for _ in ("empty cache", "filled cache"):
            command = [sys.executable, __file__, str(source), engine, str(time.monotonic())]
            command += ["--records"] * records
            finished = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, env=environment
            )
            results.append(json.loads(finished.stdout))
        (empty, *_), rest = results
        found.append((empty, *rest))
    return FirstResults(*(statistics.median(column) for column in zip(*found, strict=True)))


def _estimates(folder: Path, repeats: int) -> list[Target]:
    """Processor time of whole estimates, with an empty cache folder and with that one again."""
    found = []
    for name in _EXAMPLES:
        command = [sys.executable, "-m", "kernelcast", "estimate", f"examples/{name}.toml"]
        command += ["--device", DEVICE]
        first: list[float] = []
        later: list[float] = []
        for turn in range(repeats):
            environment = isolated_environment(folder / f"{Path(name).stem}{turn}")
            for times in (first, later):
                times.append(process_core_seconds(command, folder=ROOT, environment=environment))
        what = f"estimate of {name} for {DEVICE}, processor time"
        found += [
            Target(f"first {what}", statistics.median(first), 8.0, "s"),
            Target(f"later {what}", statistics.median(later), 1.5, "s"),
        ]
    return found


def _sor_seconds(engine: str, repeats: int) -> float:
    command = [sys.executable, "-m", "kernelcast", "estimate", "examples/sor/sor.toml"]
    command = [*command, "--device", DEVICE, "--engine", engine, "--exact"]
    return process_wall_seconds(command, repeats, folder=ROOT)


_LARGE_SGEMM = """[kernel]
source = "{source}"
entry = "sgemm"
[launch]
grid = [128, 128]
block = [32, 32]
[[args]]
name = "a"
type = "f32[4096, 4096]"
[[args]]
name = "b"
type = "f32[4096, 4096]"
[[args]]
name = "c"
type = "f32[4096, 4096]"
[[args]]
name = "n"
type = "u32"
value = 4096
"""


def _sgemm(engine: str, folder: Path, repeats: int) -> list[Target]:
    """SGEMM 4096^3 from a sample: how long, and how far from all thread blocks."""
    source = ROOT / "examples" / "sgemm" / "sgemm.ptx"
    workload = folder / "sgemm4096.toml"
    workload.write_text(_LARGE_SGEMM.format(source=source))
    command = [sys.executable, "-m", "kernelcast", "profile", str(workload)]
    command = [*command, "--device", DEVICE, "--engine", engine, "--csv"]
    seconds = process_wall_seconds([*command, "--sample"], repeats, folder=ROOT)
    sampled, exact = (_dram_bytes([*command, how]) for how in ("--sample", "--exact"))
    error = abs(sampled / exact - 1)
    name = f"SGEMM 4096^3 sampled for {DEVICE}"
    return [
        Target(name, seconds, 3.0, "s"),
        Target(f"{name}: DRAM traffic off by", 100 * error, 2.0, "%"),
    ]


def _dram_bytes(command: list[str]) -> float:
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    found = dict(line.split(",")[:2] for line in finished.stdout.splitlines())
    reads, writes = (float(found[f"dram_{kind}_transactions"]) for kind in ("read", "write"))
    return 32 * (reads + writes)


def start_up_targets(engine: str, folder: Path, repeats: int) -> list[Target]:
    """Every value is a median of `repeats`; `folder` is for the caches and is empty."""
    found = [Target("import kernelcast, whole process", _import_seconds(repeats), 0.15, "s")]
    for records, kind in ((False, "counters"), (True, "accesses")):
        first = _first_results(engine, folder, repeats, records=records)
        what = f"1,000 instructions, {kind}"
        found += [
            Target(f"first result, {what}, new process, empty cache", first.empty_s, 1.0, "s"),
            Target(f"first result, {what}, new process, filled cache", first.filled_s, 1.0, "s"),
            Target(f"first result, {what}, warm process, read anew", first.anew_s, None, "s"),
            Target(f"same result again, {what}, warm process", first.again_s, 0.01, "s"),
        ]
    return [
        *found,
        *_estimates(folder, repeats),
        Target(f"SOR 8192 x 8192 estimated for {DEVICE}", _sor_seconds(engine, repeats), 5.0, "s"),
        *_sgemm(engine, folder, repeats),
    ]


def _run_as_child(source: str, engine: str, started: float, *, records: bool) -> None:
    """Prints seconds from `started` to the first result, of the source read anew, of a repeat."""
    values = np.linspace(0, 1, _THREADS + _GROUPS, dtype=np.float32)
    sums = np.zeros(_THREADS, np.float32)
    kernel = kc.load(source)["long_kernel"]

    def run(again: RunnableKernel) -> None:
        again.run(grid=1, block=_THREADS, args=[values, sums], engine=engine, record_memory=records)

    def median_of(call: Callable[[], None]) -> float:
        return statistics.median(_seconds(call) for _ in range(5))

    run(kernel)
    first = time.monotonic() - started
    anew = median_of(lambda: run(kc.load(source)["long_kernel"]))
    json.dump((first, anew, median_of(lambda: run(kernel))), sys.stdout)


def _seconds(call: Callable[[], None]) -> float:
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


if __name__ == "__main__":
    _run_as_child(sys.argv[1], sys.argv[2], float(sys.argv[3]), records="--records" in sys.argv)
