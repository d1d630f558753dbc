// to[i] = from[i * stride]: reads spread over `stride` times as many cache lines as they need.

extern "C" __global__ void strided_read(float *to, const float *from, int n, int stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i * stride];
}
