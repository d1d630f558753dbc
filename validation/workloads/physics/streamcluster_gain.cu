// What opening one more centre would save: every point compares its weighted squared distance to
// the candidate with what its present centre costs it, and would switch where that is less.
//
// points is [dimensions][n], so that neighbouring threads read neighbouring elements; the candidate
// is one of the points. The candidate's coordinates are staged in dynamic shared memory.

extern "C" __global__ void streamcluster_gain(
    const float *points, const float *weights, const float *costs, float *savings, int *switches,
    int n, int dimensions, int candidate)
{
    extern __shared__ float centre[];
    for (int d = threadIdx.x; d < dimensions; d += blockDim.x)
        centre[d] = points[static_cast<size_t>(d) * n + candidate];
    __syncthreads();

    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float distance = 0.0f;
    for (int d = 0; d < dimensions; ++d) {
        const float difference = points[static_cast<size_t>(d) * n + i] - centre[d];
        distance += difference * difference;
    }
    const float saving = costs[i] - weights[i] * distance;
    savings[i] = fmaxf(saving, 0.0f);
    switches[i] = saving > 0.0f;
}
