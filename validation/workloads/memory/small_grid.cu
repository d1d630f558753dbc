// A few thread blocks walk through a table: too few warps to hide what each step waits for.
//
// The top bits of a thread's state say where to read; what it reads is mixed into the state by a
// step of a linear congruential generator. The table has 2^(32 - shift) elements.

extern "C" __global__ void small_grid(
    unsigned *states, const unsigned *__restrict__ table, int shift, int steps)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = states[thread];
    for (int step = 0; step < steps; ++step)
        state = (state ^ table[state >> shift]) * 1664525u + 1013904223u;
    states[thread] = state;
}
