"""Kernels of AMD's code around a few instructions, from assembly text.

Each loads its element of `in` to `v1`, has the lane's number in `v3`, and stores `v2` to `out`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import kernelcast as kc
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.ptx_frontend.amdgcn.code_object import KernelMetadata
from kernelcast.ptx_frontend.amdgcn.lowering.kernel import lowered_kernel
from kernelcast.ptx_frontend.amdgcn.text import read_kernel
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel

__all__ = ["LANES", "NARROW", "lowered", "lowered_for_rdna", "walked"]

LANES, NARROW = 64, 32
SOURCE = """target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  ret void
}
"""
TEXT = """k:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	v_mbcnt_lo_u32_b32 v3, -1, 0
	v_mbcnt_hi_u32_b32 v3, -1, v3
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[2:3]
	v_mov_b32_e32 v2, 0
	s_waitcnt vmcnt(0)
{}
	s_mov_b64 exec, -1
	global_store_dword v0, v2, s[0:1]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
"""
RDNA = """k:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_and_b32_e32 v0, 0x3ff, v0
	v_lshlrev_b32_e32 v0, 2, v0
	v_mbcnt_lo_u32_b32 v3, -1, 0
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[2:3]
	v_mov_b32_e32 v2, 0
	s_waitcnt vmcnt(0)
{}
	s_mov_b32 exec_lo, -1
	global_store_dword v0, v2, s[0:1]
	s_endpgm
.Lfunc_end0:
	.amdhsa_kernel k
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
"""
RESOURCES = KernelMetadata("k", 8, 32, 0, 1024, 64, 64, 16)


def lowered(tmp_path: Path, body: str, architecture: str = "gfx90a") -> RunnableKernel:
    """The kernel with this body, whose instructions `;` separates."""
    return _lowered(tmp_path, body, architecture, TEXT)


def lowered_for_rdna(tmp_path: Path, body: str, architecture: str = "gfx1100") -> RunnableKernel:
    """A kernel with this body, of wavefronts of 32 lanes that have their work-item in `v0`."""
    return _lowered(tmp_path, body, architecture, RDNA)


def walked(kernel: RunnableKernel, threads: int, device: str) -> TimedKernel:
    """One thread block of the kernel on a device, as the timing simulator walks it."""
    arrays = [np.zeros(threads + 4, np.uint32), np.zeros(threads + 4, np.uint32)]
    trace = kernel.run(grid=1, block=threads, args=arrays, devices=[device])
    found = trace.profile(device).derived(timed_warps)
    assert found is not None
    assert found.schedule is not None
    return found


def _lowered(tmp_path: Path, body: str, architecture: str, text: str) -> RunnableKernel:
    file = tmp_path / "k.ll"
    file.write_text(SOURCE)
    source = kc.load(file).module.kernels["k"]
    lines = "\n".join(
        f"\t{line.strip()}" if ":" not in line[:9] else line for line in body.split(";")
    )
    code = read_kernel(text.format(lines), "k", "k.s")
    return RunnableKernel(lowered_kernel(code, source, RESOURCES, architecture))
