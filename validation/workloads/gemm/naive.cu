// C = A B in single precision, row-major: A is m x k, B is k x n. One element of C a thread, which
// reads its row of A and its column of B from global memory.

extern "C" __global__ void gemm_naive(
    const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
    int m, int n, int k)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}
