// a = b + scalar * c in double precision, one element a work-item: the triad of the STREAM
// benchmark.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void triad(
    __global double *restrict a, __global const double *restrict b,
    __global const double *restrict c, double scalar, int n)
{
    const int i = get_global_id(0);
    if (i < n)
        a[i] = b[i] + scalar * c[i];
}
