"""Workloads that begin with a device memory from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.module_memory import ModuleMemory
from kernelcast.store.launches import inputs_digest
from kernelcast.workload.memory_snapshot import write_snapshot

PTX = """
.version 7.0
.target sm_70
.address_size 64
.global .u32 shift;
.const .u32 of_the_other;
.visible .entry shifted(.param .u64 data)
{
  .reg .b32 %r<4>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3]; ld.global.u32 %r3, [shift]; add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd3], %r2;
  ret;
}
.visible .entry other(.param .u64 data)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [data]; ld.const.u32 %r1, [of_the_other]; st.global.u32 [%rd1], %r1;
  ret;
}
"""
WORKLOAD = """
[kernel]
source = "shifted.ptx"
entry = "shifted"
[memory]
file = "launch.npz"
[launch]
grid = 1
block = 32
[[args]]
name = "data"
type = "u64"
value = {address}
"""


def written(folder: Path) -> kc.Workload:
    """A workload whose memory has an allocation and the variables of both kernels."""
    (folder / "shifted.ptx").write_text(PTX)
    module = kc.load(folder / "shifted.ptx")
    memory = kc.DeviceMemory()
    data = memory.allocate(128, "data", address=0x2000_0000_1000)
    memory.write(data, np.arange(32, dtype=np.uint32))
    memory.write(module.variable("shift", memory), np.uint32(5))
    memory.write(module.variable("of_the_other", memory), np.uint32(9))
    variables = ModuleMemory.of(memory, module.module).variables
    write_snapshot(folder / "launch.npz", {data.address: data}, variables)
    (folder / "launch.toml").write_text(WORKLOAD.format(address=data.address))
    return kc.load_workload(folder / "launch.toml")


def test_the_launch_finds_what_the_file_holds(tmp_path: Path) -> None:
    workload, kernel = written(tmp_path), kc.load(tmp_path / "shifted.ptx")["shifted"]
    assert workload.memory is not None
    memory = workload.memory.memory(kernel)
    (data,) = (item for item in memory.allocations if item.name == "data")
    assert data.address == 0x2000_0000_1000
    kernel.run(grid=1, block=32, args=[data.address], memory=memory)
    assert memory.read(data, 32, np.uint32).tolist() == list(range(5, 37))


def test_each_run_begins_with_the_file(tmp_path: Path) -> None:
    workload = written(tmp_path)
    first, second = workload.run(), workload.run()
    assert first.data.thread_blocks == second.data.thread_blocks == 1


def test_damaged_files_are_one_line(tmp_path: Path) -> None:
    workload = written(tmp_path)
    (tmp_path / "launch.npz").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(kc.KernelcastError, match=r"launch\.toml.*launch\.npz"):
        workload.run()


def test_what_is_kept_of_a_launch_depends_on_all_that_its_memory_holds(
    tmp_path: Path,
) -> None:
    workload, kernel = written(tmp_path), kc.load(tmp_path / "shifted.ptx")["shifted"]
    assert workload.memory is not None
    found = set()
    for name in ("", "", "data", "shift", "of_the_other"):
        memory = workload.memory.memory(kernel)
        module = ModuleMemory.of(memory, kernel.module)
        for item in memory.allocations:
            if item.name == name:
                memory.write(item, np.uint32(77))
        launch = Launch((1, 1, 1), (32, 1, 1), (0x2000_0000_1000,), memory=module)
        found.add(inputs_digest(launch, [kernel.kernel]))
    assert len(found) == 4
