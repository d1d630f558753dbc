// y = A x for a sparse matrix in compressed rows (CSR), one row a work-item: the algorithm and the
// data of spmv_csr_scalar.cu.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void spmv_csr_scalar(
    __global const int *row_starts, __global const int *columns, __global const double *values,
    __global const double *x, __global double *y, int rows)
{
    const int row = get_global_id(0);
    if (row >= rows)
        return;
    double sum = 0.0;
    const int end = row_starts[row + 1];
    for (int i = row_starts[row]; i < end; ++i)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}
