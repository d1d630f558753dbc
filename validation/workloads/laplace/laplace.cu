// A step of Jacobi's method for Laplace's equation on (imax + 2) x (jmax + 2) floats, and the copy
// back: the kernels of I. Reguly's laplace_vector, written anew. Thread blocks of 32 x 8, one point
// a thread, or four along i.

__device__ __forceinline__ int along_i() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ int along_j() { return blockIdx.y * blockDim.y + threadIdx.y; }

extern "C" __global__ void stencil(int imax, int jmax, float *next, float *now)
{
    const int i = along_i(), j = along_j(), row = imax + 2;
    if (i > 0 && i <= imax && j > 0 && j <= jmax)
        next[j * row + i] = 0.25f * (now[j * row + i + 1] + now[j * row + i - 1]
                                      + now[(j - 1) * row + i] + now[(j + 1) * row + i]);
}

extern "C" __global__ void copy(int imax, int jmax, float *next, float *now)
{
    const int i = along_i(), j = along_j(), row = imax + 2;
    if (i > 0 && i <= imax && j > 0 && j <= jmax)
        now[j * row + i] = next[j * row + i];
}

extern "C" __global__ void stencil_vector(int imax, int jmax, float4 *next, float4 *now)
{
    const int i = along_i(), j = along_j(), row = (imax + 2) / 4;
    if (i > 0 && i < row && j > 0 && j <= jmax) {
        const float4 here = now[j * row + i];
        const float4 left = now[j * row + i - 1], right = now[j * row + i + 1];
        const float4 below = now[(j - 1) * row + i], above = now[(j + 1) * row + i];
        float4 mean;
        mean.x = 0.25f * (left.w + here.y + below.x + above.x);
        mean.y = 0.25f * (here.x + here.z + below.y + above.y);
        mean.z = 0.25f * (here.y + here.w + below.z + above.z);
        mean.w = 0.25f * (here.z + right.x + below.w + above.w);
        next[j * row + i] = mean;
    }
}

extern "C" __global__ void copy_vector(int imax, int jmax, float4 *next, float4 *now)
{
    const int i = along_i(), j = along_j(), row = (imax + 2) / 4;
    if (i > 0 && i < row && j > 0 && j <= jmax)
        now[j * row + i] = next[j * row + i];
}
