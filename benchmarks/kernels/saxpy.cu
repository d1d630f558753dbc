// y = a x + y, one element a thread: nothing but bandwidth.

extern "C" __global__ void saxpy(const float *x, float *y, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
