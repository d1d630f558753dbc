// out = in transposed, n x n: reads are coalesced, writes are a column each.

extern "C" __global__ void transpose_naive(const float *in, float *out, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        out[x * n + y] = in[y * n + x];
}
