// to[i] = from[i + offset]: a warp's reads straddle one more cache line than aligned ones do.

extern "C" __global__ void misaligned(float *to, const float *from, int n, int offset)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i + offset];
}
