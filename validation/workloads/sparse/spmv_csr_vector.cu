// y = A x for a sparse matrix in compressed rows (CSR), one row a warp.
//
// The lanes take a row's nonzeros 32 at a time; shuffles add what they found.

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;

extern "C" __global__ void spmv_csr_vector(
    const int *row_starts, const int *columns, const double *values, const double *x, double *y,
    int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    const int lane = threadIdx.x % kWarpSize;
    if (row >= rows)
        return;
    double sum = 0.0;
    const int end = row_starts[row + 1];
    for (int i = row_starts[row] + lane; i < end; i += kWarpSize)
        sum += values[i] * x[columns[i]];
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(kAllLanes, sum, distance);
    if (lane == 0)
        y[row] = sum;
}
