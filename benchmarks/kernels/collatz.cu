// Steps of the Collatz sequence from i + 1 down to 1: 64-bit integers, and lanes that leave the
// loop at different times.

extern "C" __global__ void collatz(int *steps, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long value = i + 1ull;
    int count = 0;
#pragma unroll 1
    while (value != 1) {
        value = value & 1 ? 3 * value + 1 : value >> 1;
        count++;
    }
    steps[i] = count;
}
