// y = A x with A in compressed sparse rows, one row a thread: rows differ in length, and
// neighbouring threads gather from far apart.

extern "C" __global__ void spmv(const int *row_start, const int *columns, const float *values,
                                const float *x, float *y, int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const int end = row_start[row + 1];
    float sum = 0.0f;
#pragma unroll 1
    for (int at = row_start[row]; at < end; at++)
        sum += values[at] * x[columns[at]];
    y[row] = sum;
}
