// Every thread follows `steps` links from where it stands: each load waits for the one before.
//
// `next` is one cycle through all its elements in random order, so that no load is near another.

extern "C" __global__ void pointer_chase(unsigned *position, const unsigned *next, int steps)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned here = position[thread];
    for (int step = 0; step < steps; ++step)
        here = next[here];
    position[thread] = here;
}
