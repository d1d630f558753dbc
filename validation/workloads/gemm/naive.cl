// C = A B in single precision, row-major: A is m x k, B is k x n. One element of C a work-item, which
// reads its row of A and its column of B from global memory.

__kernel __attribute__((reqd_work_group_size(32, 8, 1)))
void gemm_naive(
    __global const float *restrict a, __global const float *restrict b, __global float *restrict c,
    int m, int n, int k)
{
    const int column = get_global_id(0);
    const int row = get_global_id(1);
    if (row >= m || column >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}
