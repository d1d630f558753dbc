// a = b + scalar * c in double precision, one element a thread: the triad of the STREAM benchmark.

extern "C" __global__ void triad(
    double *__restrict__ a, const double *__restrict__ b, const double *__restrict__ c,
    double scalar, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + scalar * c[i];
}
