// y = A x for a sparse matrix in ELLPACK format, one row a thread.
//
// Every row has `slots` slots. Slot s of all rows lies together, in `pitch` elements of `columns`
// and `values`, so that neighbouring threads read neighbouring elements. Column -1 marks an unused
// slot.

extern "C" __global__ void spmv_ell(
    const int *columns, const double *values, const double *x, double *y, int rows, int slots,
    int pitch)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0.0;
    for (int slot = 0; slot < slots; ++slot) {
        const int position = slot * pitch + row;
        const int column = columns[position];
        if (column >= 0)
            sum += values[position] * x[column];
    }
    y[row] = sum;
}
