"""PTX that llvmlite's LLVM makes, as text."""

from __future__ import annotations

import llvmlite.binding as llvm
import numpy as np
import pytest

import kernelcast as kc

_IR = """
target triple = "nvptx64-nvidia-cuda"
@factors = internal addrspace(4) constant [4 x i32] [i32 3, i32 5, i32 7, i32 0]
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @scale(ptr addrspace(1) %x) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %which = and i32 %tid, 3
  %factor_at = getelementptr i32, ptr addrspace(4) @factors, i32 %which
  %factor = load i32, ptr addrspace(4) %factor_at
  %at = getelementptr i32, ptr addrspace(1) %x, i32 %tid
  %old = load i32, ptr addrspace(1) %at
  %new = mul i32 %old, %factor
  store i32 %new, ptr addrspace(1) %at
  ret void
}
"""


def test_ptx_of_llvm() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    except RuntimeError as error:
        pytest.skip(f"this LLVM has no NVPTX: {error}")
    machine = target.create_target_machine(cpu="sm_75", features="+ptx80")
    text = machine.emit_assembly(llvm.parse_assembly(_IR))
    x = np.arange(32, dtype=np.int32)
    kc.load_ptx(text)["scale"].run(grid=1, block=32, args=[x])
    np.testing.assert_array_equal(x, np.arange(32) * np.tile([3, 5, 7, 0], 8))
