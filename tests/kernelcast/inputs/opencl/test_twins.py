"""One kernel as CUDA C++ and as OpenCL C gets the same time, whichever compiler read it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.execution.instruction_mix import Counting, instruction_mix
from kernelcast.validation.thesis import thesis_devices
from kernelcast.workload.file import load_workload
from kernelcast.workload.workload import Workload

EXAMPLES = Path(__file__).parents[4] / "examples"
COMPILERS = ("clang-15", "clang-14", "clang")
COMPILER = next((name for name in COMPILERS if shutil.which(name)), "")
OPTIONS = (
    "-cl-std=CL1.2",
    "-target",
    "spir64-unknown-unknown",
    "-Xclang",
    "-finclude-default-header",
)
MODELS = ("quantitative-roofline", "roofline")
LARGEST_DIFFERENCE = 0.1
PAIRS = {
    # the workload of the CUDA twin, the OpenCL twin, threads of a thread block
    "saxpy": ("saxpy/saxpy.toml", "saxpy/saxpy.cl", 256),
    "sgemm 32x32": ("sgemm/sgemm32.toml", "sgemm/sgemm.cl", 1024),
    "sgemm 16x16": ("sgemm/sgemm16.toml", "sgemm/sgemm.cl", 256),
    "sor": ("sor/sor.toml", "sor/sor.cl", 256),
}

pytestmark = pytest.mark.skipif(not COMPILER, reason="clang is not installed")


@dataclass(frozen=True)
class Twins:
    """Both workloads, their traces at the small size, and the GPUs that thread blocks fit."""

    workloads: tuple[Workload, Workload]
    traces: tuple[kc.KernelTrace, kc.KernelTrace]
    devices: tuple[str, ...]


@pytest.fixture(scope="module", params=PAIRS)
def twins(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Twins:
    name, source, threads = PAIRS[request.param]
    file = EXAMPLES / name
    folder = tmp_path_factory.mktemp("twins") / file.parent.name
    shutil.copytree(file.parent, folder)
    command = [COMPILER, *OPTIONS, "-emit-llvm", "-c", "-O2", str(EXAMPLES / source)]
    subprocess.run([*command, "-o", str(folder / "twin.bc")], check=True)
    other = folder / file.name
    text = re.sub(r'source = ".*"', 'source = "twin.bc"', other.read_text(), count=1)
    other.write_text(text)
    devices = [x for x in thesis_devices() if most_threads(x) >= threads]
    workloads = load_workload(file), load_workload(other)
    one, two = (x.run("small", devices=devices) for x in workloads)
    return Twins(workloads, (one, two), tuple(devices))


def most_threads(device: str) -> int:
    return kc.device(device).sm.max_threads_per_thread_block


def test_the_twin_computes_what_the_reference_does(twins: Twins) -> None:
    assert twins.workloads[1].run_check("small").passed


def test_twins_take_the_same_time(twins: Twins) -> None:
    assert len(twins.devices) >= 6
    for device in twins.devices:
        profiles = [trace.profile(kc.device(device)) for trace in twins.traces]
        for model in MODELS:
            one, other = (kc.estimate(profile, model).time_s for profile in profiles)
            assert abs(other / one - 1) < LARGEST_DIFFERENCE, (device, model)


def test_twins_do_the_same_work(twins: Twins) -> None:
    """Arithmetic, accesses and their transactions are equal; only addresses are computed apart."""
    one, other = (trace.profile(kc.device("gtx-480")) for trace in twins.traces)
    for name in ("fma32", "fma64", "fp32", "fp64", "load_store", "special_function", "conversion"):
        assert getattr(one.instructions, name) == getattr(other.instructions, name), name
    for name in ("global_load_requests", "global_load_sectors", "global_store_sectors"):
        assert getattr(one.traffic, name) == getattr(other.traffic, name), name
    assert one.occupancy is not None
    assert other.occupancy is not None
    assert one.occupancy.fraction == other.occupancy.fraction


def test_native_counts_hold_no_change_to_fewer_bits(twins: Twins) -> None:
    """Work-item functions give 64 bits, which the kernels cut to 32 at once."""
    opencl = twins.traces[1].data
    source = {row.opcode for row in instruction_mix(opencl).rows}
    native = {row.opcode for row in instruction_mix(opencl, Counting.MERGED).rows}
    assert "trunc" in source
    assert "trunc" not in native
