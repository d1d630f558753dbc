// to[i] = table[indices[i]]: reads whose place only the data know.

extern "C" __global__ void gather(
    float *__restrict__ to, const float *__restrict__ table, const int *__restrict__ indices, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = table[indices[i]];
}
