// y = A x for a sparse matrix in compressed rows (CSR), one row a thread.
//
// Row r's nonzeros are elements row_starts[r] to row_starts[r + 1] - 1 of `values` and `columns`.

extern "C" __global__ void spmv_csr_scalar(
    const int *row_starts, const int *columns, const double *values, const double *x, double *y,
    int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0.0;
    const int end = row_starts[row + 1];
    for (int i = row_starts[row]; i < end; ++i)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}
