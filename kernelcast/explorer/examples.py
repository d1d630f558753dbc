"""Kernels to begin with."""

from __future__ import annotations

__all__ = ["EXAMPLES"]

_CUDA = """extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
_TRANSPOSE = """extern "C" __global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < n && y < n)
        tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < n && y < n)
        out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
"""
_HIP = """#include <hip/hip_runtime.h>

extern "C" __global__ void scale(float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}
"""
_OPENCL = """__kernel void add(
    __global const float *a, __global const float *b, __global float *c, int n)
{
    int i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}
"""
_PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 to, .param .u32 n)
{
    .reg .pred %p; .reg .u32 %r<6>; .reg .u64 %d<4>;
    ld.param.u64 %d0, [to];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %p, %r4, %r0;
    @%p bra done;
    mul.wide.u32 %d1, %r4, 4;
    add.u64 %d2, %d0, %d1;
    st.global.u32 [%d2], %r4;
done:
    ret;
}
"""
_ADDRESSES = """b[z, y, x] = a[z, y, x - 4..4] + a[z, y - 4..4, x] + a[z - 4..4, y, x];
domain = 640x512x512; registers = 32; flops = 25
"""

EXAMPLES = [
    {"name": "saxpy (CUDA)", "language": "cuda", "source": _CUDA},
    {"name": "transpose (CUDA)", "language": "cuda", "source": _TRANSPOSE},
    {"name": "scale (HIP)", "language": "hip", "source": _HIP},
    {"name": "add (OpenCL)", "language": "opencl", "source": _OPENCL},
    {"name": "fill (PTX)", "language": "ptx", "source": _PTX},
    {"name": "25-point star (addresses)", "language": "addresses", "source": _ADDRESSES},
]
"""Name, language and source."""
