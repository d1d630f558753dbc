// Number of odd members of the Collatz sequence from first + i down to 1. Neighbouring threads
// run both loops for very different times, so most lanes of a warp wait most of the time.

extern "C" __global__ void collatz(unsigned first, int n, int *odd_members)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long value = first + i;
    int count = 0;
#pragma unroll 1
    for (;;) {
#pragma unroll 1
        while ((value & 1) == 0)
            value >>= 1;
        ++count;
        if (value == 1)
            break;
        value = 3 * value + 1;
    }
    odd_members[i] = count;
}
