// Two steps of a particle filter: weights to their running sums, and new particles drawn by them.
//
// Neither has much to do: the running sums are one thread's chain of additions, and every particle
// walks through them from the first one until it finds its own.

extern "C" __global__ void normalise_weights(
    const float *weights, float *normalised, float *running, int particles, float total)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles)
        return;
    normalised[i] = weights[i] / total;
    if (i > 0)
        return;
    float sum = 0.0f;
#pragma unroll 1
    for (int x = 0; x < particles; ++x) {
        sum += weights[x] / total;
        running[x] = sum;
    }
}

extern "C" __global__ void draw_particles(
    const float *running, const float *draws, const float *place_x, const float *place_y,
    float *drawn_x, float *drawn_y, int particles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles)
        return;
    const float draw = draws[i];
    int found = particles - 1;
#pragma unroll 1
    for (int x = 0; x < particles; ++x)
        if (running[x] >= draw) {
            found = x;
            break;
        }
    drawn_x[i] = place_x[found];
    drawn_y[i] = place_y[found];
}
